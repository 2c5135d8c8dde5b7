"""Files that are whole or not there: written next to their place, flushed, then renamed."""

from __future__ import annotations

import errno
import os
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from secrets import token_hex
from socket import gethostname
from typing import Any

import psutil

TEMPORARY = ".orthonmf-tmp"


@contextmanager
def writing_together(folder: Path) -> Iterator[Callable[[str], Path]]:
    """Some files of one folder, all of which appear together at the end.

    The block is given a function that says where to write the file of a name: under a temporary
    one in the same folder. When the block ends well they are renamed over the old ones, otherwise
    they are removed, and so is what killed writers left.
    """
    remove_leftovers(folder)
    waiting: dict[Path, Path] = {}

    def place(name: str) -> Path:
        temporary = folder / f".{name}.{gethostname()}.{os.getpid()}.{token_hex(4)}{TEMPORARY}"
        waiting[temporary] = folder / name
        return temporary

    try:
        yield place
        for temporary in waiting:
            with open(temporary, "r+b") as file:
                os.fsync(file.fileno())
        for temporary, final in waiting.items():
            os.replace(temporary, final)
        if os.name == "posix":
            descriptor = os.open(folder, os.O_RDONLY)  # a renaming itself survives a power cut
            try:
                os.fsync(descriptor)
            finally:
                os.close(descriptor)
    finally:
        for temporary in waiting:
            temporary.unlink(missing_ok=True)


@contextmanager
def replacing(path: Path, mode: str = "x", **options: Any) -> Iterator[Any]:
    """A new file that takes the place of ``path`` when the block ends well, or nothing does.

    ``mode`` is "x" for text or "xb" for bytes. Links are followed; devices and pipes, which nothing
    may replace, are written to directly.
    """
    path = Path(os.path.realpath(path))
    if path.is_dir():
        raise IsADirectoryError(errno.EISDIR, "it is a folder; name a file in it", str(path))
    if is_special(path):
        with open(path, mode.replace("x", "w"), **options) as file:
            yield file
        return
    with writing_together(path.parent) as place, open(place(path.name), mode, **options) as file:
        yield file


def is_special(path: Path) -> bool:
    """Whether something is there that is neither a file nor a folder: a device, a pipe."""
    return path.exists() and not path.is_file() and not path.is_dir()


def remove_leftovers(folder: Path) -> None:
    """Remove what killed writers of this machine left in a folder; names tell who was writing."""
    left = re.compile(
        rf"\..*\.{re.escape(gethostname())}\.(\d{{1,9}})\.[0-9a-f]+{re.escape(TEMPORARY)}"
    )
    for entry in folder.iterdir() if folder.is_dir() else ():
        ours = left.fullmatch(entry.name)
        if ours and not psutil.pid_exists(int(ours[1])):
            entry.unlink(missing_ok=True)
