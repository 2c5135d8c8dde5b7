"""Opening: pipes are kept, devices are refused, text is unpacked, decoded and cut into lines."""

from __future__ import annotations

import codecs
import csv
import gzip
import os
import stat
import sys
import tempfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from orthonmf.files.readers.request import FileError, Request

STDIN = "-"
PIECE = 2**20
MAGIC = b"\x1f\x8b"
LONGEST_LINE = 2**28
# What reading packed text raises that is damaged.
DAMAGED_PACKING = (EOFError, zlib.error, gzip.BadGzipFile)
DAMAGED_TEXT = (UnicodeDecodeError, *DAMAGED_PACKING)
UTF16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)


@contextmanager
def readable(path: str | os.PathLike[str], limit: int) -> Iterator[Path]:
    """A regular file or folder that can be opened as often as needed.

    What comes through a pipe or standard input is kept as long as it is needed, and is refused
    beyond ``limit`` bytes. A device, which may never end, is refused at once.
    """
    if str(path) == STDIN:
        _refuse_device(os.fstat(sys.stdin.fileno()), "<stdin>")
        with _copied(sys.stdin.buffer, "stdin", "<stdin>", limit) as copy:
            yield copy
        return
    about = os.stat(path)
    _refuse_device(about, str(path))
    if stat.S_ISFIFO(about.st_mode):
        with open(path, "rb") as pipe, _copied(pipe, Path(path).name, str(path), limit) as copy:
            yield copy
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
def _copied(stream: Any, name: str, shown: str, limit: int) -> Iterator[Path]:
    """A file with all that a stream gives, there as long as the block lasts."""
    with tempfile.TemporaryDirectory(prefix="orthonmf-") as folder:
        copy = Path(folder) / name
        with open(copy, "wb") as file:
            n_bytes = 0
            while piece := stream.read(PIECE):
                n_bytes += len(piece)
                if n_bytes > limit:
                    raise FileError(f"{shown}: more than the {limit:,} bytes allowed")
                file.write(piece)
        yield copy


def is_packed(path: Path) -> bool:
    """Whether a file begins like a gzip file."""
    with open(path, "rb") as file:
        return file.read(2) == MAGIC


def first_bytes(path: Path) -> bytes:
    """How a file begins, unpacked if it is packed."""
    try:
        with gzip.open(path) if is_packed(path) else open(path, "rb") as file:
            return bytes(file.read(64))
    except (OSError, EOFError, zlib.error):
        return MAGIC


def open_text(path: Path, encoding: str | None = None, errors: str = "strict") -> Any:
    """A text for reading, unpacked if need be; UTF-8 with or without its mark by default."""
    open_file: Any = gzip.open if is_packed(path) else open
    return open_file(path, "rt", encoding=encoding or "utf-8-sig", errors=errors, newline="")


@contextmanager
def open_lines(request: Request) -> Iterator[Iterator[str]]:
    """The lines of a text; what damage leads to while they are read is one error."""
    try:
        with open_text(request.path, request.encoding) as file:
            yield bound_lines(file, request)
    except LookupError as error:
        if "encoding" not in str(error):
            raise
        raise request.error(f"{error}; name for instance --encoding latin-1") from error
    except csv.Error as error:
        raise request.error(f"it cannot be split into cells: {error}") from error
    except UnicodeError as error:
        raise request.error(why_undecodable(request.path, request.encoding, error)) from error
    except DAMAGED_PACKING as error:
        raise request.error(f"the packed file is damaged: {error}") from error


def why_undecodable(path: Path, encoding: str | None, error: UnicodeError) -> str:
    """What a text is written in that is not what it was taken for, and what to do."""
    if encoding is not None:
        return f"this is no {encoding} text: {error}"
    if first_bytes(path).startswith(UTF16):
        guess, name = "UTF-16", "utf-16"
    else:
        guess, name = "maybe Latin-1 (Windows-1252)", "cp1252"
    return (
        f"this is no UTF-8 text but {guess}: {error}; save it as 'CSV UTF-8', "
        f"or name its encoding: --encoding {name}"
    )


def bound_lines(file: Any, request: Request) -> Iterator[str]:
    """The lines of a text, none of them long enough to fill the memory."""
    longest = min(LONGEST_LINE, request.max_bytes)
    for number, line in enumerate(iter(lambda: file.readline(longest), ""), start=1):
        if len(line) == longest:
            raise request.error(f"it is longer than {longest:,} characters", number)
        yield line
