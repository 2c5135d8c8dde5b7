"""What commands print: plain lines and small tables that fit 80 columns."""

from __future__ import annotations

import json
import shutil
import sys
import textwrap
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from time import monotonic
from typing import Any

from rich.console import Console
from rich.markup import escape

from orthonmf.cli.failures import printable, writing_stdout
from orthonmf.files.saving.content import plain
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


def table(headings: Sequence[str], rows: Sequence[Sequence[str]], most: int | None = None) -> None:
    """Columns of numbers, and a last one of text that is cut where the terminal ends.

    Of more than ``most`` rows the first are shown.
    """
    clean = [[printable(cell) for cell in row] for row in (headings, *rows[:most])]
    widths = [max(len(row[place]) for row in clean) for place in range(len(headings) - 1)]
    room = max(20, shutil.get_terminal_size().columns - sum(widths) - 2 * len(widths) - 3)
    for number, row in enumerate(clean):
        numbers = (cell.rjust(width) for cell, width in zip(row, widths, strict=False))
        last = row[-1] if len(row[-1]) <= room else row[-1][: room - 1] + "\N{HORIZONTAL ELLIPSIS}"
        line(("  ".join([" " + "  ".join(numbers), last])).rstrip())
        if number == 0:
            line(" " + "-" * (sum(widths) + 2 * len(widths) + min(room, len(headings[-1]) or 8)))
    if most is not None and len(rows) > most:
        line(f" and {len(rows) - most:,} more")


def as_json(values: Any) -> str:
    """One JSON object, indented."""
    return json.dumps(plain(values), indent=2, allow_nan=False) + "\n"


def object_line(values: Any) -> None:
    """One JSON object on stdout."""
    with writing_stdout():
        sys.stdout.write(as_json(values))


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
        last = monotonic()

        def show(line: str) -> None:
            nonlocal last
            if monotonic() - last >= SECONDS_BETWEEN_LINES:
                last = monotonic()
                print(line, file=sys.stderr, flush=True)

        with follow(printable(message), show):
            yield
