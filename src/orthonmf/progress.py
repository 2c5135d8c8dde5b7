"""Progress, shown: a line for every step of a fit, a bar or lines for many runs."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import monotonic

from orthonmf.numerics.descent import listening

SECONDS_BETWEEN_LINES = 10.0


@contextmanager
def progress_lines(title: str = "orthonmf") -> Iterator[None]:
    """Print a plain line on stderr for every step inside."""
    with follow(title, lambda line: print(line, file=sys.stderr, flush=True)):
        yield


@contextmanager
def follow(title: str, show: Callable[[str], None]) -> Iterator[None]:
    """Give ``show`` a line for every step inside: what it is, the how many-th, and its error."""
    counts: dict[str, int] = {}

    def hear(step: str, error: float | None) -> None:
        counts[step] = counts.get(step, 0) + 1
        figure = "" if error is None else f", relative squared error {error:.6g}"
        show(f"{title}: {step} {counts[step]}{figure}")

    with listening(hear):
        yield


Show = Callable[[int, str, str], None]  # how many are done, what was done last, the time left


@contextmanager
def count_progress(total: int) -> Iterator[Show]:
    """Show on stderr how many of a total are done: a bar on a terminal, elsewhere lines."""
    if not sys.stderr.isatty():
        yield _show_lines(total)
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

    console = Console(stderr=True)
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    with Progress(*columns, TextColumn("{task.fields[left]}"), console=console) as bar:
        task = bar.add_task("starting", total=total, left="")

        def show(done: int, what: str, left: str = "") -> None:
            bar.update(task, description=what, completed=done, left=left)

        yield show


def _show_lines(total: int) -> Show:
    """One line at once, then at most one every ten seconds, and one at the end."""
    last = -SECONDS_BETWEEN_LINES

    def show(done: int, what: str, left: str = "") -> None:
        nonlocal last
        if monotonic() - last >= SECONDS_BETWEEN_LINES or done == total:
            last = monotonic()
            text = f"{done} of {total} runs; {what} {left}"
            print(text.rstrip(), file=sys.stderr, flush=True)

    return show
