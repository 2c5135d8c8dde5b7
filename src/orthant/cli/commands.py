"""The commands of ``orthant`` and how they are run."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from importlib import import_module
from typing import Annotated, Any

import typer

import orthant
from orthant.cli.advice import know_options
from orthant.cli.failures import (
    BAD_INPUT,
    PIPE_CLOSED,
    Debug,
    close_stdout,
    describe,
    exit_code,
    guard,
    say,
)

# In the order of the help: the name of a command, and that of its module and function.
COMMANDS = {
    "demo": "demo",
    "fit": "fit",
    "transform": "transform",
    "select-k": "select_k",
    "report": "report",
    "certify": "certify",
    "bicluster": "bicluster",
    "reproduce": "reproduce",
    "bench": "bench",
    "bench quality": "quality",
}


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"orthant {orthant.__version__}")
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


def make_app(names: Iterable[str]) -> typer.Typer:
    """The program with the commands of these names, which are imported now."""
    app = typer.Typer(
        name="orthant",
        callback=root,
        no_args_is_help=True,
        add_completion=False,
        pretty_exceptions_enable=False,
        help="Split a non-negative matrix into parts that do not overlap, "
        "and prove how good they are.",
    )
    for name in names:
        home = import_module(f"orthant.cli.{COMMANDS[name]}")
        app.command(name)(guard(getattr(home, COMMANDS[name])))
    return app


def _needed(arguments: list[str]) -> Iterable[str]:
    """The commands that must be known: the one named first, all for the help and for mistakes."""
    if arguments[0] == "--version":
        return ()
    return arguments[:1] if arguments[0] in COMMANDS else COMMANDS


def run(given: list[str]) -> int:
    """Run the command that these arguments name; returns the exit code."""
    arguments = _with_whole_name(_without_debug(given)) or ["--help"]
    try:
        program: Any = typer.main.get_command(make_app(_needed(arguments)))
        if arguments[0] in program.commands:
            know_options(program.commands[arguments[0]])
        code = program(args=arguments, prog_name="orthant", standalone_mode=False)
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
        say(f"{message()} (orthant {_command(arguments)}--help tells more)")
        return int(getattr(error, "exit_code", BAD_INPUT))
    return code if isinstance(code, int) else 0


def _without_debug(arguments: list[str]) -> list[str]:
    """Take ``--debug`` out of the arguments, wherever it stands before ``--``."""
    end = arguments.index("--") if "--" in arguments else len(arguments)
    options, rest = arguments[:end], arguments[end:]
    Debug.wanted = "--debug" in options
    return [one for one in options if one != "--debug"] + rest


def _with_whole_name(arguments: list[str]) -> list[str]:
    """Join the words of a command that has two, such as ``bench quality``."""
    name = " ".join(arguments[:2])
    return [name, *arguments[2:]] if name in COMMANDS else arguments


def _command(arguments: list[str]) -> str:
    return f"{arguments[0]} " if arguments[0] in COMMANDS else ""
