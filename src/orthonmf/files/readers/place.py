"""Where a file lies: pipes are read once into a file of their own, devices are refused."""

from __future__ import annotations

import os
import stat
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from orthonmf.files.readers.record import FileError

STDIN = "-"
PIECE = 2**20


@contextmanager
def readable(path: str | os.PathLike[str], limit: int) -> Iterator[Path]:
    """A regular file or folder that can be opened as often as needed.

    What comes through a pipe or standard input is kept as long as it is needed, and is refused
    beyond ``limit`` bytes. A device, which may never end, is refused at once.
    """
    if str(path) == STDIN:
        _refuse_device(os.fstat(sys.stdin.fileno()), "<stdin>")
        with _kept(sys.stdin.buffer, "stdin", "<stdin>", limit) as place:
            yield place
        return
    about = os.stat(path)
    _refuse_device(about, str(path))
    if stat.S_ISFIFO(about.st_mode):
        with open(path, "rb") as pipe, _kept(pipe, Path(path).name, str(path), limit) as place:
            yield place
        return
    if not stat.S_ISDIR(about.st_mode):
        with open(path, "rb"):  # the usual OSError if it is not readable
            pass
    yield Path(path)


def _refuse_device(about: os.stat_result, shown: str) -> None:
    """Refuse a device that is neither a terminal nor the one that is always empty."""
    if stat.S_ISCHR(about.st_mode):
        empty = os.stat(os.devnull).st_rdev == about.st_rdev
        if empty or (shown == "<stdin>" and sys.stdin.isatty()):
            return
    elif not stat.S_ISBLK(about.st_mode):
        return
    raise FileError(f"{shown}: it is a device, which may never end; give a file or a pipe")


@contextmanager
def _kept(stream: Any, name: str, shown: str, limit: int) -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="orthonmf-") as folder:
        place = Path(folder) / name
        with open(place, "wb") as file:
            held = 0
            while piece := stream.read(PIECE):
                held += len(piece)
                if held > limit:
                    raise FileError(f"{shown}: more than the {limit:,} bytes allowed")
                file.write(piece)
        yield place
