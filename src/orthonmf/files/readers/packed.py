"""Text that may be packed with gzip, whatever its name says."""

from __future__ import annotations

import csv
import gzip
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from orthonmf.files.readers.record import Request

MAGIC = b"\x1f\x8b"
LONGEST_LINE = 2**28
# What reading text raises that is not UTF-8, or packed and damaged.
DAMAGED_TEXT = (UnicodeDecodeError, EOFError, zlib.error, gzip.BadGzipFile)


def is_packed(path: Path) -> bool:
    """Whether a file begins like a gzip file."""
    with open(path, "rb") as file:
        return file.read(2) == MAGIC


def open_text(path: Path, errors: str = "strict") -> Any:
    """A UTF-8 file for reading, unpacked if need be, without a byte order mark."""
    if is_packed(path):
        return gzip.open(path, "rt", encoding="utf-8-sig", errors=errors, newline="")
    return open(path, encoding="utf-8-sig", errors=errors, newline="")


@contextmanager
def open_lines(request: Request) -> Iterator[Iterator[str]]:
    """The lines of a UTF-8 file; what damage leads to while they are read is one error."""
    try:
        with open_text(request.path) as file:
            yield bound_lines(file, request)
    except csv.Error as error:
        raise request.error(f"it cannot be split into cells: {error}") from error
    except DAMAGED_TEXT as error:
        raise request.error(f"this is no UTF-8 text: {error}") from error


def bound_lines(file: Any, request: Request) -> Iterator[str]:
    """The lines of a text, none of them long enough to fill the memory."""
    longest = min(LONGEST_LINE, request.max_bytes)
    for number, line in enumerate(iter(lambda: file.readline(longest), ""), start=1):
        if len(line) == longest:
            raise request.error(f"it is longer than {longest:,} characters", number)
        yield line


def first_bytes(path: Path) -> bytes:
    """How a file begins, unpacked if it is packed."""
    with open(path, "rb") as file:
        beginning = file.read(64)
    if not beginning.startswith(MAGIC):
        return beginning
    try:
        with gzip.open(path) as unpacked:
            return unpacked.read(64)
    except (OSError, EOFError, zlib.error):
        return beginning
