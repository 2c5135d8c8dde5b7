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
CHARACTERS_AT_ONCE, FEWEST_LINES = 2**22, 200
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
    piped = str(path) == STDIN
    shown = "<stdin>" if piped else str(path)
    about = os.fstat(sys.stdin.fileno()) if piped else os.stat(path)
    # A terminal ends, and so does the device that is always empty.
    ends = about.st_rdev == os.stat(os.devnull).st_rdev or (piped and sys.stdin.isatty())
    if stat.S_ISBLK(about.st_mode) or (stat.S_ISCHR(about.st_mode) and not ends):
        raise FileError(f"{shown}: it is a device, which may never end; give a file or a pipe")
    if not piped and not stat.S_ISFIFO(about.st_mode):
        if not stat.S_ISDIR(about.st_mode):
            open(path, "rb").close()  # the usual OSError if it is not readable
        yield Path(path)
        return
    with tempfile.TemporaryDirectory(prefix="orthonmf-") as folder:
        copy, n_bytes = Path(folder) / Path(path).name, 0
        whence: Any = sys.stdin.fileno() if piped else path
        with open(whence, "rb", closefd=not piped) as pipe, open(copy, "wb") as file:
            while piece := pipe.read(PIECE):
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
def open_lines(request: Request, errors: str = "strict") -> Iterator[Iterator[str]]:
    """The lines of a text, none long enough to fill the memory; damage met there is one error."""
    try:
        with open_text(request.path, request.encoding, errors) as file:
            yield _bounded(file, request)
    except LookupError as error:
        if "encoding" not in str(error):
            raise
        raise request.error(f"{error}; name for instance --encoding latin-1") from error
    except csv.Error as error:
        raise request.error(f"it cannot be split into cells: {error}") from error
    except UnicodeError as error:
        if request.encoding is not None:
            raise request.error(f"this is no {request.encoding} text: {error}") from error
        utf16 = first_bytes(request.path).startswith(UTF16)
        guess, name = ("UTF-16", "utf-16") if utf16 else ("maybe Latin-1 (Windows-1252)", "cp1252")
        raise request.error(
            f"this is no UTF-8 text but {guess}: {error}; save it as 'CSV UTF-8', "
            f"or name its encoding: --encoding {name}"
        ) from error
    except DAMAGED_PACKING as error:
        raise request.error(f"the packed file is damaged: {error}") from error


def _bounded(file: Any, request: Request) -> Iterator[str]:
    longest = min(LONGEST_LINE, request.max_bytes)
    for number, line in enumerate(iter(lambda: file.readline(longest), ""), start=1):
        if len(line) == longest:
            raise request.error(f"it is longer than {longest:,} characters", number)
        yield line


def line_blocks(
    lines: Iterator[str], request: Request, start: int = 1
) -> Iterator[tuple[int, list[str]]]:
    """Many lines at a time, with the number of the first; no cell in quotes is cut."""
    block, size, quotes = list[str](), 0, 0
    for line in lines:
        block.append(line)
        size += len(line)
        if '"' in line:
            quotes += line.count('"')
        if size > CHARACTERS_AT_ONCE:
            request.check_size(size, "the text of a block of lines", start)
            if len(block) >= FEWEST_LINES and quotes % 2 == 0:
                yield start, block
                start, block, size, quotes = start + len(block), [], 0, 0
    if block:
        yield start, block
