"""Archives: ``.npz`` files of plain arrays and a JSON header, written whole and read with care.

Nothing read here is executed or unpickled, and nothing is decompressed before its declared size
has been compared with the limit and with the shape it claims to have.
"""

from __future__ import annotations

import errno
import json
import os
import struct
import zipfile
import zlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.lib import format as npy

from orthant.errors import InvalidInputError
from orthant.files.npy_header import read_npy_header
from orthant.files.whole_files import is_special, replacing
from orthant.numerics.arrays import Array

HEADER = "header"
MOST_MEMBERS = 1000
PLAIN_KINDS = "biuf"
PACKED_AS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
# What reading a damaged or hostile zip file may raise.
DAMAGE = (
    zipfile.BadZipFile,
    zlib.error,
    struct.error,
    EOFError,
    IndexError,
    KeyError,
    MemoryError,
    OverflowError,
    RuntimeError,  # also NotImplementedError and RecursionError
    SyntaxError,
    TypeError,
    ValueError,
)


def write_archive(
    path: str | os.PathLike[str],
    header: Mapping[str, Any],
    arrays: Mapping[str, Array],
    *,
    flushed: bool = True,
    compressed: bool = True,
) -> None:
    """Write a file that is either whole or not there; an older file stays intact until then.

    The content goes to a temporary file in the same folder, is flushed to the disk and renamed
    over the old file. What a killed writer left behind is removed. Not ``flushed`` it is as safe
    from killed processes, but not from a power cut.
    """
    text = np.frombuffer(json.dumps(header, allow_nan=False).encode(), dtype=np.uint8)
    with (
        replacing(Path(path), "xb", flushed=flushed) as file,
        zipfile.ZipFile(file, "w") as archive,
    ):
        for name, array in {HEADER: text, **arrays}.items():
            # A fixed date: the same content gives the same bytes.
            entry = zipfile.ZipInfo(f"{name}.npy")
            entry.compress_type = zipfile.ZIP_DEFLATED if compressed else zipfile.ZIP_STORED
            with archive.open(entry, "w", force_zip64=True) as member:
                npy.write_array(member, np.ascontiguousarray(array), allow_pickle=False)


@contextmanager
def refusing_damage(refuse: Callable[[str], InvalidInputError]) -> Iterator[None]:
    """Turn what a damaged zip file leads to into one error; errors of the disk stay as they are."""
    try:
        yield
    except InvalidInputError:
        raise
    except DAMAGE as error:
        raise refuse(str(error)) from error
    except OSError as error:
        if error.errno != errno.EINVAL:  # a damaged offset, before the start of the file
            raise
        raise refuse(str(error)) from error


def _refusing(what: str) -> AbstractContextManager[None]:
    return refusing_damage(lambda why: InvalidInputError(f"{what}: {why}"))


class Archive:
    """An open archive: its header, and its arrays one at a time."""

    def __init__(self, file: Any, path: Any, max_bytes: int) -> None:
        self.path = path
        with _refusing(f"{path} is not an orthant file"):
            self._zip = zipfile.ZipFile(file)
        self._entries = self._checked_entries(max_bytes)
        text = self.array(HEADER).tobytes() if HEADER in self else None
        if text is None:
            raise InvalidInputError(f"{path} is not an orthant file: it has no header")
        try:
            header = json.loads(text)
        except (ValueError, RecursionError) as error:
            raise InvalidInputError(f"the header of {path} is damaged: {error}") from error
        if not isinstance(header, dict):
            raise InvalidInputError(f"the header of {path} is damaged: it is no JSON object")
        self.header: dict[str, Any] = header

    def __contains__(self, name: str) -> bool:
        return name in self._entries

    def _checked_entries(self, max_bytes: int) -> dict[str, zipfile.ZipInfo]:
        """The entries by name, their sizes checked against the limit before any is read."""
        listed = self._zip.infolist()
        if len(listed) > MOST_MEMBERS:
            raise InvalidInputError(f"{self.path} holds {len(listed)} entries: too many")
        declared = sum(entry.file_size for entry in listed)
        if declared > max_bytes:
            raise InvalidInputError(
                f"{self.path} declares {declared:,} bytes, more than the {max_bytes:,} allowed; "
                "if you trust the file, pass a larger max_bytes"
            )
        if any(entry.compress_type not in PACKED_AS for entry in listed):
            raise InvalidInputError(f"{self.path} is packed in a way that orthant never uses")
        entries = {entry.filename.removesuffix(".npy"): entry for entry in listed}
        if len(entries) < len(listed):
            raise InvalidInputError(f"{self.path} holds two entries of one name")
        return entries

    def array(self, name: str) -> Array:
        """One array of plain numbers; its size is checked before memory is taken for it."""
        if name not in self._entries:
            raise InvalidInputError(f"{self.path} lacks the array {name!r}")
        with (
            _refusing(f"the array {name!r} in {self.path} is damaged"),
            self._zip.open(self._entries[name]) as member,
        ):
            return self._read(member, name)

    def _read(self, member: Any, name: str) -> Array:
        where = f"the array {name!r} in {self.path}"
        header = read_npy_header(member)
        shape, dtype, n_bytes = header.shape, header.dtype, header.n_bytes
        if dtype.kind not in PLAIN_KINDS:
            raise InvalidInputError(f"{where} has dtype {dtype}; only plain numbers are read")
        if member.tell() + n_bytes != self._entries[name].file_size:
            raise InvalidInputError(f"{where} is damaged: shape {shape} does not fit its size")
        content = member.read(n_bytes)
        if len(content) != n_bytes or member.read(1):
            raise InvalidInputError(f"{where} is damaged: it ends early")
        order: Any = "F" if header.in_columns else "C"
        array = np.frombuffer(content, dtype=dtype).reshape(shape, order=order)
        return array.astype(dtype.newbyteorder("="), order="C")


@contextmanager
def open_archive(path: str | os.PathLike[str], max_bytes: int) -> Iterator[Archive]:
    """Open an archive for reading; files that cannot be opened raise the usual OSError."""
    if is_special(Path(path)):
        raise InvalidInputError(f"{path} is a device or a pipe, not a file")
    with open(path, "rb") as file:
        yield Archive(file, path, max_bytes)
