"""The commands of ``orthonmf`` and how they are run."""

from __future__ import annotations

import ast
import os
import sys
from collections.abc import Iterable
from importlib import import_module
from importlib.util import find_spec
from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup

import orthonmf
from orthonmf.cli.advice import know_options
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

# In the order of the help: the name of a command, and that of its module and function.
NAMES = ("demo", "fit", "transform", "select-k", "report", "certify", "bicluster")
COMMANDS = {name: name.replace("-", "_") for name in NAMES}
COMPLETION = "_ORTHONMF_COMPLETE"  # set by the scripts that shells complete with


class _PlainFlags:
    """Help in which an option that takes no value shows no type."""

    def get_params(self, ctx: Any) -> list[Any]:
        """All parameters, the option for the help among them."""
        params: list[Any] = super().get_params(ctx)  # type: ignore[misc]
        for one in params:
            if getattr(one, "is_flag", False) and one.metavar is None:
                one.metavar = ""
        return params


class Command(_PlainFlags, TyperCommand):
    """One command."""


class Group(_PlainFlags, TyperGroup):
    """All of them."""


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


def make_app(names: Iterable[str]) -> typer.Typer:
    """The program with the commands of these names, which are imported now."""
    app = typer.Typer(
        name="orthonmf",
        callback=root,
        no_args_is_help=True,
        cls=Group,
        context_settings={"help_option_names": ["-h", "--help"]},
        pretty_exceptions_enable=False,
        help="Split a non-negative matrix into parts that do not overlap, "
        "and prove how good they are.",
    )
    for name in names:
        home = import_module(f"orthonmf.cli.{COMMANDS[name]}")
        app.command(name, cls=Command)(guard(getattr(home, COMMANDS[name])))
    return app


def _make_program(arguments: list[str]) -> Any:
    """The program as these arguments need it: only the command that is named is imported.

    For the help, for mistakes and for completion of its name a command is no more than what its
    docstring says.
    """
    named = [name for name in (arguments[0], _complete()) if name in COMMANDS]
    app = make_app(named)
    if arguments[0] not in COMMANDS and arguments[0] != "--version":
        for name in COMMANDS:
            if name not in named:
                app.command(name, help=help_of(name))(lambda: None)
    return typer.main.get_command(app)


def _complete() -> str:
    """The command whose options a shell asks for, if it does; as typer's scripts pass it."""
    words = os.environ.get("COMP_WORDS") or os.environ.get("_TYPER_COMPLETE_ARGS") or ""
    return words.split()[1] if COMPLETION in os.environ and len(words.split()) > 1 else ""


def help_of(name: str) -> str:
    """What the function of a command says about itself, read without importing its module."""
    module = find_spec(f"orthonmf.cli.{COMMANDS[name]}")
    if module is None or module.loader is None:
        return ""
    tree = ast.parse(module.loader.get_source(module.name))  # type: ignore[attr-defined]
    found = (one for one in tree.body if isinstance(one, ast.FunctionDef))
    own = next(one for one in found if one.name == COMMANDS[name])
    return ast.get_docstring(own) or ""


def run(given: list[str]) -> int:
    """Run the command that these arguments name; returns the exit code."""
    arguments = _without_debug(given) or ["--help"]
    try:
        program = _make_program(arguments)
        if arguments[0] in program.commands:
            know_options(program.commands[arguments[0]])
        code = program(args=arguments, prog_name="orthonmf", standalone_mode=False)
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


def _without_debug(arguments: list[str]) -> list[str]:
    """Take ``--debug`` out of the arguments, wherever it stands before ``--``."""
    end = arguments.index("--") if "--" in arguments else len(arguments)
    options, rest = arguments[:end], arguments[end:]
    Debug.wanted = "--debug" in options
    return [one for one in options if one != "--debug"] + rest
