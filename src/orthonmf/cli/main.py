"""The entry point of the command ``orthonmf``, light enough to answer an interrupt from the start.

Everything else is imported within :func:`main`, after the interrupt has been given something to do.
"""

from __future__ import annotations

import io
import os
import signal
import sys
from typing import Any

INTERRUPTED = 130
STDOUT_CLOSED = "orthonmf: error: stdout is closed; point it somewhere, such as >/dev/null\n"


def main() -> None:
    """Load the commands, run the one that was asked for, and leave with its exit code."""
    signal.signal(signal.SIGINT, _leave)
    if sys.stderr is None:  # closed: notes and progress have nowhere to go, the work is done
        sys.stderr = open(os.devnull, "w")  # noqa: SIM115
    if sys.stdout is None:
        sys.stderr.write(STDOUT_CLOSED)
        sys.exit(1)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # names that a terminal cannot show are no error
            stream.reconfigure(errors="backslashreplace")
    from orthonmf.cli.commands import run

    sys.exit(run(sys.argv[1:]))


def _leave(number: int, frame: Any) -> None:
    """End at once: modules that are half imported cannot be left in any other way.

    Nothing has been begun that would have to be cleaned up; a command that begins its work takes
    the interrupt over.
    """
    os.write(2, b"orthonmf: note: interrupted; nothing was half written\n")
    os._exit(INTERRUPTED)
