"""Ctrl-C during long work that has something to show: one is noted, a second one ends it."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any


@contextmanager
def note_interrupts() -> Iterator[Callable[[], bool]]:
    """Inside, the first Ctrl-C raises nothing; what is yielded tells whether there was one.

    A second one is a KeyboardInterrupt as ever. Only the main thread is ever interrupted; in
    others, and where a program handles the signal itself, nothing is changed here.
    """
    noted = False

    def note(number: int, frame: Any) -> None:
        nonlocal noted
        if noted:
            signal.default_int_handler(number, frame)
        noted = True

    main = threading.current_thread() is threading.main_thread()
    ours = main and signal.getsignal(signal.SIGINT) is signal.default_int_handler
    if ours:
        signal.signal(signal.SIGINT, note)
    try:
        yield lambda: noted
    finally:
        if ours:
            signal.signal(signal.SIGINT, signal.default_int_handler)
