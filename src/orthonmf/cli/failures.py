"""What happens when something goes wrong: one line on stderr and an exit code.

0 all is well, 1 a file cannot be read or written, 2 the input or the command is not acceptable,
130 interrupted, 143 terminated.
"""

from __future__ import annotations

import contextlib
import functools
import os
import signal
import sys
import warnings
from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType
from typing import Any

import typer

from orthonmf.errors import FewerComponentsWarning, FileError, MissingExtraError, OrthoNMFError

IO_FAILED, BAD_INPUT, INTERRUPTED, PIPE_CLOSED, TERMINATED = 1, 2, 130, 141, 143


class About:
    """The file a command is working on, for messages that do not name it themselves."""

    name: str | None = None
    remedies: Mapping[type[OrthoNMFError], str] = MappingProxyType({})


def about(name: object, remedies: Mapping[type[OrthoNMFError], str] | None = None) -> None:
    """Say which file the next errors are about, and what the command has against some kinds.

    These remedies take the place of those that the library gives in Python's words.
    """
    named = None if name is None else str(name)
    if named != About.name or remedies is not None:
        About.remedies = remedies or {}
    About.name = named


def say(message: str, kind: str = "error") -> None:
    """One line on stderr."""
    line = printable(" ".join(message.split()))
    with contextlib.suppress(OSError):  # nobody listens
        print(f"orthonmf: {kind}: {line}", file=sys.stderr, flush=True)


def printable(text: str) -> str:
    """Text without control characters, which could make a terminal do things."""
    return "".join(
        letter if letter.isprintable() else "\N{REPLACEMENT CHARACTER}" for letter in text
    )


def guard(command: Callable[..., None]) -> Callable[..., None]:
    """Wrap a command so that its failures take one line; ``--debug`` shows them whole."""

    @functools.wraps(command)
    def run(*args: Any, **kwargs: Any) -> None:
        about(None)
        signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(TERMINATED))
        earlier = signal.getsignal(signal.SIGINT)
        try:
            signal.signal(signal.SIGINT, signal.default_int_handler)
            with warnings.catch_warnings():
                warnings.showwarning = _show_warning
                warnings.simplefilter("always", FewerComponentsWarning)
                command(*args, **kwargs)
                with writing_stdout():
                    sys.stdout.flush()
        except BrokenPipeError:
            close_stdout()
            raise typer.Exit(PIPE_CLOSED) from None
        except KeyboardInterrupt:
            say("interrupted; nothing was half written", "note")
            raise typer.Exit(INTERRUPTED) from None
        except (OrthoNMFError, OSError, MemoryError) as error:
            try:
                sys.stdout.flush()
            except OSError:  # given up, so that it is not tried again at the end
                close_stdout()
            if Debug.wanted:
                raise
            say(describe(error))
            raise typer.Exit(exit_code(error)) from None
        finally:
            signal.signal(signal.SIGINT, earlier)

    return run


@contextlib.contextmanager
def writing_stdout() -> Iterator[None]:
    """Have what cannot be written blamed on stdout, not on the file a command works on."""
    try:
        yield
    except BrokenPipeError:
        raise
    except OSError as error:
        raise OSError(error.errno, error.strerror, "<stdout>") from error


class Debug:
    """Whether tracebacks are wanted."""

    wanted = False


def exit_code(error: BaseException) -> int:
    """1 for files and memory, 2 for what orthonmf refuses."""
    if isinstance(error, MissingExtraError) or not isinstance(error, OrthoNMFError):
        return IO_FAILED
    return BAD_INPUT


def describe(error: BaseException) -> str:
    """The message of an error, with the file it is about."""
    place, text = About.name, str(error)
    if isinstance(error, OrthoNMFError):
        for kind, remedy in About.remedies.items():
            if isinstance(error, kind):
                text = f"{error.problem}; {remedy}" if remedy else error.problem
        if isinstance(error, FileError) or text.startswith(place or ""):
            return text
    elif isinstance(error, MemoryError):
        text = f"not enough memory: {text or 'an allocation failed'}"
    elif isinstance(error, OSError):
        place = place if error.filename is None else error.filename
        text = error.strerror or text
    return text if place is None else f"{place}: {text}"


def _show_warning(message: Any, category: type[Warning], *args: Any, **kwargs: Any) -> None:
    """Tell users what is meant for them; what dependencies tell programmers, with ``--debug``."""
    if Debug.wanted or issubclass(category, FewerComponentsWarning):
        say(str(message), "note")


def close_stdout() -> None:
    """Point stdout elsewhere, so that the interpreter does not complain at its end."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
