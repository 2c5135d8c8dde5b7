"""Do something in a process of its own, and say in a few words how it ended."""

from __future__ import annotations

import os
import resource
import signal
import warnings
from collections.abc import Callable
from contextlib import suppress
from multiprocessing import get_context
from typing import NamedTuple

import numpy as np

SECONDS = 60
MEMORY = 3 * 2**30  # bytes that a try may take on top of what this process has already
LONGEST = 110  # characters of a message that are shown


class Try(NamedTuple):
    """Something hard, and what either library makes of it, in an empty folder."""

    name: str
    orthonmf: Callable[[], str]
    scikit_learn: Callable[[], str]


def try_it(work: Callable[[], str]) -> str:
    """What ``work`` says, or how it failed: an exception, a signal, no memory, no end."""
    context = get_context("fork")
    receiver, sender = context.Pipe(duplex=False)
    process = context.Process(target=_work, args=(work, sender))
    process.start()
    sender.close()
    told = None
    if receiver.poll(SECONDS):
        with suppress(EOFError):
            told = receiver.recv()
    else:
        process.kill()
    process.join()
    if told is not None:
        return told
    code = process.exitcode or 0
    if code == -signal.SIGKILL:
        return f"**no end** in {SECONDS} s"
    return f"**the process dies**: {signal.Signals(-code).name}" if code < 0 else "**no answer**"


def _work(work: Callable[[], str], sender) -> None:
    """In the child: limited memory, quiet, and one sentence to the parent."""
    silence = os.open(os.devnull, os.O_WRONLY)
    os.dup2(silence, 1)
    os.dup2(silence, 2)
    with open("/proc/self/statm") as file:
        used = int(file.read().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (used + MEMORY, used + MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    with warnings.catch_warnings(record=True) as caught, np.errstate(all="ignore"):
        warnings.simplefilter("always")
        try:
            said = work()
        except Exception as error:
            said = refusal(error)
    kinds = sorted({warning.category.__name__ for warning in caught})
    sender.send(f"{said}; {', '.join(kinds)}" if kinds else said)
    sender.close()
    os._exit(0)


def refusal(error: BaseException) -> str:
    """An exception in one line that a cell of a table can hold."""
    return f"refused: {type(error).__name__}: {shorten(str(error))}"


def shorten(text: str) -> str:
    """The beginning of a message, safe inside a cell."""
    line = " ".join(text.split())
    line = line if len(line) <= LONGEST else line[: LONGEST - 3].rstrip() + "..."
    return "`" + line.replace("`", "'").replace("|", "\\|") + "`" if line else "no message"
