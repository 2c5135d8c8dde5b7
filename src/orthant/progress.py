"""Progress of a fit: steps are announced where they happen and heard by whoever listens.

Silent unless somebody listens: an announcement without a listener costs one lookup. Listeners
belong to the calling thread (or task), so two fits in two threads do not hear each other.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from rich.console import Console

Listener = Callable[[str, float | None], None]

_listener: ContextVar[Listener | None] = ContextVar("orthant_progress", default=None)


def announce(step: str, error: float | None = None) -> None:
    """Say that a step is done, and the relative squared error it left where that is known."""
    listener = _listener.get()
    if listener is not None:
        listener(step, error)


@contextmanager
def listening(listener: Listener | None) -> Iterator[None]:
    """Pass what is announced inside to ``listener``, and to whoever listened before."""
    if listener is None:
        yield
        return
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
def progress_line(verbose: int, title: str = "orthant") -> Iterator[None]:
    """Show one line on stderr that follows the steps inside; nothing when ``verbose`` is 0."""
    if not verbose:
        yield
        return
    console = Console(stderr=True)
    counts: dict[str, int] = {}
    with console.status(f"{title}: reading the data") as status:

        def show(step: str, error: float | None) -> None:
            counts[step] = counts.get(step, 0) + 1
            figure = "" if error is None else f", relative squared error {error:.6g}"
            line = f"{title}: {step} {counts[step]}{figure}"
            status.update(line)
            if verbose > 1:
                console.log(line)

        with listening(show):
            yield
