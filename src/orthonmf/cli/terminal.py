"""What commands print: plain lines and small tables that fit 80 columns."""

from __future__ import annotations

import json
import math
import shutil
import sys
import textwrap
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from rich.console import Console
from rich.markup import escape

from orthonmf.cli.failures import printable, writing_stdout
from orthonmf.progress import SECONDS_BETWEEN_LINES, follow


def line(text: str = "") -> None:
    """One line on stdout; names in it cannot make the terminal do anything."""
    with writing_stdout():
        sys.stdout.write(printable(text) + "\n")


def prose(text: str) -> None:
    """A sentence, broken where the terminal ends."""
    width = min(100, shutil.get_terminal_size().columns)
    for part in textwrap.wrap(text, width, break_long_words=False, break_on_hyphens=False):
        line(part)


def tell_seed(given: int | None, seed: int | None) -> None:
    """The seed that was drawn, if none was given."""
    if given is None:
        line(f"seed {seed}; the same command with --seed {seed} gives the same answer")


def table(headings: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Columns of numbers, and a last one of text that is cut where the terminal ends."""
    clean = [[printable(cell) for cell in row] for row in (headings, *rows)]
    widths = [max(len(row[place]) for row in clean) for place in range(len(headings) - 1)]
    room = max(20, shutil.get_terminal_size().columns - sum(widths) - 2 * len(widths) - 3)
    for number, row in enumerate(clean):
        numbers = (cell.rjust(width) for cell, width in zip(row, widths, strict=False))
        last = row[-1] if len(row[-1]) <= room else row[-1][: room - 1] + "\N{HORIZONTAL ELLIPSIS}"
        line(("  ".join([" " + "  ".join(numbers), last])).rstrip())
        if number == 0:
            line(" " + "-" * (sum(widths) + 2 * len(widths) + min(room, len(headings[-1]) or 8)))


def as_json(values: Any) -> str:
    """One JSON object, indented."""
    return json.dumps(plain(values), indent=2, allow_nan=False) + "\n"


def object_line(values: Any) -> None:
    """One JSON object on stdout."""
    with writing_stdout():
        sys.stdout.write(as_json(values))


def plain(value: Any) -> Any:
    """Values as JSON has them; what is not finite becomes null."""
    if isinstance(value, dict):
        return {str(key): plain(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [plain(inner) for inner in value]
    if hasattr(value, "item"):
        value = value.item()
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value


@contextmanager
def progress(message: str, quiet: bool) -> Iterator[None]:
    """Say on stderr what goes on: one moving line on a terminal, elsewhere a line now and then."""
    if quiet:
        yield
    elif sys.stderr.isatty():
        with (
            Console(stderr=True).status(escape(printable(message))) as status,
            follow(printable(message), lambda line: status.update(escape(line))),
        ):
            yield
    else:
        with _lines_now_and_then(printable(message)):
            yield


@contextmanager
def _lines_now_and_then(message: str) -> Iterator[None]:
    """A line every ten seconds with the step that was last; none for work that takes less."""
    last, ended = [message], threading.Event()

    def tell() -> None:
        while not ended.wait(SECONDS_BETWEEN_LINES):
            print(last[0], file=sys.stderr, flush=True)

    teller = threading.Thread(target=tell, daemon=True)
    teller.start()
    try:
        with follow(message, lambda line: last.__setitem__(0, line)):
            yield
    finally:
        ended.set()
        teller.join()
