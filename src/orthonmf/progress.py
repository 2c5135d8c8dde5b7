"""Progress: steps are announced where they happen, and heard by whoever listens.

Without a listener that costs one lookup. Listeners belong to the calling thread (or task), so two
fits in two threads do not hear each other. What is heard is shown as a line for every step of a
fit, and of many runs as a bar or lines.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from time import monotonic

SECONDS_BETWEEN_LINES = 10.0
Listener = Callable[[str, float | None], None]

_listener: ContextVar[Listener | None] = ContextVar("orthonmf_progress", default=None)


def announce(step: str, error: float | None = None) -> None:
    """Say that a step is done, and the relative error it left where that is known."""
    listener = _listener.get()
    if listener is not None:
        listener(step, error)


@contextmanager
def listening(listener: Listener) -> Iterator[None]:
    """Pass what is announced inside to ``listener``, and to whoever listened before."""
    outer = _listener.get()

    def both(step: str, error: float | None) -> None:
        listener(step, error)
        if outer is not None:
            outer(step, error)

    token = _listener.set(both)
    try:
        yield
    finally:
        _listener.reset(token)


@contextmanager
def silence() -> Iterator[None]:
    """Let nobody hear what is announced inside: steps of a part, whose errors are not the fit's."""
    token = _listener.set(None)
    try:
        yield
    finally:
        _listener.reset(token)


@contextmanager
def progress_lines() -> Iterator[None]:
    """Print a plain line on stderr for every step inside."""
    with follow("orthonmf", lambda line: print(line, file=sys.stderr, flush=True)):
        yield


@contextmanager
def follow(title: str, show: Callable[[str], None]) -> Iterator[None]:
    """Give ``show`` a line for every step inside: what it is, the how many-th, and its error."""
    counts: dict[str, int] = {}

    def hear(step: str, error: float | None) -> None:
        counts[step] = counts.get(step, 0) + 1
        figure = "" if error is None else f", relative error {error:.6g}"
        show(f"{title}: {step} {counts[step]}{figure}")

    with listening(hear):
        yield


@contextmanager
def count_progress(title: str, total: int, verbose: int) -> Iterator[Callable[[int], object]]:
    """Show on stderr how many of a total are done: a bar on a terminal, elsewhere lines.

    Of the lines one comes at once, then at most one every ten seconds, and one at the end. With
    ``verbose=0`` nothing is shown.
    """
    if not verbose:
        yield lambda done: None
        return
    if sys.stderr.isatty():
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

        columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
        with Progress(*columns, console=Console(stderr=True)) as bar:
            task = bar.add_task(title, total=total)
            yield lambda done: bar.update(task, completed=done)
        return
    last = -SECONDS_BETWEEN_LINES

    def show(done: int) -> None:
        nonlocal last
        if monotonic() - last >= SECONDS_BETWEEN_LINES or done == total:
            last = monotonic()
            print(f"{title}: {done} of {total} runs", file=sys.stderr, flush=True)

    yield show
