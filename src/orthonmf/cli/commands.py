"""The commands of ``orthonmf`` and how they are run.

A command is a module of this folder with a function of the same name, and a line in `COMMANDS`; it
is imported when it is run or completed.
"""

from __future__ import annotations

import inspect
import sys
from importlib import import_module
from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup

import orthonmf
from orthonmf.cli.failures import (
    BAD_INPUT,
    PIPE_CLOSED,
    Debug,
    close_stdout,
    describe,
    exit_code,
    guard,
    say,
)

# What the help of the program says of each, in this order; the rest is said by its function.
COMMANDS = {
    "demo": "Factorize 1,797 images of handwritten digits in every setting, and write the pages.",
    "select-k": "Try several numbers of components on FILE and suggest one.",
    "fit": "Factorize FILE, write a folder, and say how far from optimal the answer can be.",
    "transform": "Give the rows of FILE to the components of MODEL and write a table of them.",
    "report": "Make the page of DIR again, with the curve over k if select-k wrote into it.",
    "certify": "Say how far the labels of FILE, or the answer in DIR, can be from the best ones.",
    "bicluster": "Cluster a bipartite graph with the fewest disagreements (correlation "
    "clustering).",
}
SETTINGS: dict[str, Any] = {"help_option_names": ["-h", "--help"]}


class _PlainFlags:
    """Help in which an option that takes no value shows no type."""

    def get_params(self, ctx: Any) -> list[Any]:
        """All parameters, the option for the help among them."""
        params: list[Any] = super().get_params(ctx)  # type: ignore[misc]
        for parameter in params:
            if getattr(parameter, "is_flag", False) and parameter.metavar is None:
                parameter.metavar = ""
        return params


class Command(_PlainFlags, TyperCommand):
    """One command."""


class Commands(_PlainFlags, TyperGroup):
    """All of them, each imported no sooner than it is run."""

    def list_commands(self, ctx: Any) -> list[str]:
        """The names, in the order of the help."""
        return list(COMMANDS)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """What the help shows of a command."""
        return Command(cmd_name, help=COMMANDS[cmd_name]) if cmd_name in COMMANDS else None

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """The command that is run or completed, with its options."""
        name, _, others = super().resolve_command(ctx, args)
        return name, load_command(str(name)), others


def load_command(name: str) -> Any:
    """Import a command."""
    home = name.replace("-", "_")
    function = getattr(import_module(f"orthonmf.cli.{home}"), home)
    app = typer.Typer(add_completion=False, context_settings=SETTINGS)
    # typer would break the lines of all paragraphs but the first where they are broken here.
    paragraphs = inspect.cleandoc(function.__doc__ or "").split("\n\n")
    told = "\n\n".join(" ".join(paragraph.split()) for paragraph in paragraphs)
    app.command(name, cls=Command, help=told)(guard(function))
    return typer.main.get_command(app)


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"orthonmf {orthonmf.__version__}")
        raise typer.Exit


def root(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_show_version, is_eager=True, help="Print the version."),
    ] = False,
    debug: Annotated[
        bool, typer.Option("--debug", help="Show where an error comes from; stands anywhere.")
    ] = False,
) -> None:
    """Options that stand before a command."""


def make_program() -> Any:
    """The program with all its commands."""
    app = typer.Typer(
        name="orthonmf",
        callback=root,
        no_args_is_help=True,
        cls=Commands,
        context_settings=SETTINGS,
        pretty_exceptions_enable=False,
        help="Split a non-negative matrix into parts that do not overlap, "
        "and prove how good they are.",
    )
    return typer.main.get_command(app)


def run(given: list[str]) -> int:
    """Run the command that these arguments name; returns the exit code."""
    end = given.index("--") if "--" in given else len(given)  # what follows it is no option
    Debug.wanted = "--debug" in given[:end]
    arguments = [word for word in given[:end] if word != "--debug"] + given[end:] or ["--help"]
    try:
        code = make_program()(args=arguments, prog_name="orthonmf", standalone_mode=False)
        sys.stdout.flush()
    except BrokenPipeError:  # whoever read the help has gone
        close_stdout()
        return PIPE_CLOSED
    except OSError as error:  # of --help and --version; commands tell their own
        close_stdout()
        say(describe(error))
        return exit_code(error)
    except Exception as error:
        message = getattr(error, "format_message", None)  # what typer raises for wrong usage
        if message is None or Debug.wanted:
            raise
        command = f"{arguments[0]} " if arguments[0] in COMMANDS else ""
        say(f"{message()} (orthonmf {command}--help tells more)")
        return int(getattr(error, "exit_code", BAD_INPUT))
    return code if isinstance(code, int) else 0
