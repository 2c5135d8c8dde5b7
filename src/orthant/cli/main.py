"""The command ``orthant``: its commands, its version, its exit."""

from __future__ import annotations

from typing import Annotated

import typer

import orthant
from orthant.cli.demo import demo

app = typer.Typer(
    name="orthant",
    no_args_is_help=True,
    add_completion=False,
    help="Split a non-negative matrix into parts that do not overlap, and prove how good they are.",
)
app.command()(demo)


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"orthant {orthant.__version__}")
        raise typer.Exit


@app.callback()
def root(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_show_version, is_eager=True, help="Print the version."),
    ] = False,
) -> None:
    """Options that stand before a command."""


def main() -> None:
    """Entry point of the command."""
    app()
