"""Files that are whole or not there: written next to their place, flushed, then renamed."""

from __future__ import annotations

import errno
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from secrets import token_hex
from socket import gethostname
from typing import Any

import psutil

TEMPORARY = ".orthonmf-tmp"


@contextmanager
def replacing(
    path: Path, mode: str = "x", *, flushed: bool = True, **options: Any
) -> Iterator[Any]:
    """A new file that takes the place of ``path`` when the block ends well.

    Until then an older file stays intact, and what a killed writer left behind is removed.
    ``mode`` is "x" for text or "xb" for bytes. Not ``flushed`` it survives any process, but a
    power cut may take it. Links are followed; devices and pipes, which nothing may replace, are
    written to directly.
    """
    path = Path(os.path.realpath(path))
    if path.is_dir():
        raise IsADirectoryError(errno.EISDIR, "it is a folder; name a file in it", str(path))
    if is_special(path):
        with open(path, mode.replace("x", "w"), **options) as file:
            yield file
        return
    remove_leftovers(path.parent)
    temporary = path.with_name(temporary_name(path.name))
    try:
        with open(temporary, mode, **options) as file:
            yield file
            file.flush()
            if flushed:
                os.fsync(file.fileno())
        os.replace(temporary, path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    if flushed:
        flush_folder(path.parent)


def is_special(path: Path) -> bool:
    """Whether something is there that is neither a file nor a folder: a device, a pipe."""
    return path.exists() and not path.is_file() and not path.is_dir()


def temporary_name(name: str) -> str:
    """A name that tells who is writing: machine and process."""
    return f".{name}.{gethostname()}.{os.getpid()}.{token_hex(4)}{TEMPORARY}"


def remove_leftovers(folder: Path) -> None:
    """Remove what killed writers of this machine left in a folder."""
    left = re.compile(
        rf"\..*\.{re.escape(gethostname())}\.(\d{{1,9}})\.[0-9a-f]+{re.escape(TEMPORARY)}"
    )
    for entry in folder.iterdir() if folder.is_dir() else ():
        ours = left.fullmatch(entry.name)
        if ours and not psutil.pid_exists(int(ours[1])):
            entry.unlink(missing_ok=True)


def flush_folder(folder: Path) -> None:
    """Make a renaming itself survive a power cut, where the system can do that."""
    if os.name == "posix":
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
