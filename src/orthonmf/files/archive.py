"""Archives: ``.npz`` files of plain arrays and a JSON header, written whole and read with care.

Nothing read here is executed or unpickled, and nothing is decompressed before its declared size
has been compared with the limit. NumPy reads the arrays.
"""

from __future__ import annotations

import errno
import json
import os
import zipfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.lib import format as npy

from orthonmf.errors import FileError, InvalidInputError, MissingExtraError
from orthonmf.files.whole_files import is_special, replacing
from orthonmf.typing import REAL, Array

HEADER = "header"
LONGEST_NPY_HEADER = 10_000
PACKED_AS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
PICKLED = "it holds pickled Python objects, which are never loaded"


def write_archive(
    path: str | os.PathLike[str],
    header: Mapping[str, Any],
    arrays: Mapping[str, Array],
    *,
    compressed: bool = True,
) -> None:
    """Write a file that is either whole or not there; an older file stays intact until then.

    The same content gives the same bytes.
    """
    if any(array.dtype.hasobject for array in arrays.values()):
        raise ValueError(PICKLED)
    text = np.frombuffer(json.dumps(header, allow_nan=False).encode(), dtype=np.uint8)
    write: Any = np.savez_compressed if compressed else np.savez
    with replacing(Path(path), "xb") as file:
        write(file, **{HEADER: text, **arrays})


@contextmanager
def refuse_damage(refuse: Callable[[str], InvalidInputError]) -> Iterator[None]:
    """Turn what a damaged file leads to, errors of any type, into one; those of the disk stay."""
    try:
        yield
    except (FileError, MissingExtraError):
        raise
    except Exception as error:
        # Libraries raise OSErrors without a number; EINVAL is an offset before the start of a file.
        if isinstance(error, OSError) and error.errno not in (None, errno.EINVAL):
            raise
        raise refuse(PICKLED if "allow_pickle" in str(error) else str(error)) from error


class Members:
    """The arrays in an open ``.npz`` file by name; each is checked before memory is taken for it.

    ``fail`` makes the error to raise of a sentence about the file, ``kind`` is what a file is not
    that cannot be opened.
    """

    def __init__(self, file: Any, fail: Callable[[str], InvalidInputError], kind: str) -> None:
        self.fail = fail
        with refuse_damage(lambda why: fail(f"{kind}: {why}")):
            self._zip = zipfile.ZipFile(file)
        entries = self._zip.infolist()
        self.entries = {entry.filename.removesuffix(".npy"): entry for entry in entries}

    def __contains__(self, name: object) -> bool:
        return name in self.entries

    def read(
        self, name: str, kinds: str, check_size: Callable[[int, str], None] | None = None
    ) -> Array:
        """An array whose dtype is of one of some kinds; ``check_size`` may refuse its size."""
        what, entry = f"the array {name!r}", self.entries[name]
        if entry.compress_type not in PACKED_AS:  # others unpack to any size at once
            raise self.fail(f"{what} is packed in a way that NumPy never uses")
        if check_size is not None:
            check_size(entry.file_size, what)
        with (
            refuse_damage(lambda why: self.fail(f"{what} is damaged: {why}")),
            self._zip.open(entry) as member,
        ):
            array: Array = npy.read_array(member, max_header_size=LONGEST_NPY_HEADER)
            if member.read(1):  # reading to the end also compares the checksum
                raise ValueError("more follows than its shape tells")
        if array.dtype.kind not in kinds:
            raise self.fail(f"{what} holds {array.dtype} values, not plain numbers")
        return array


class Archive(Members):
    """An open archive: its header, and its arrays of plain numbers one at a time."""

    def __init__(self, file: Any, path: Any, max_bytes: int) -> None:
        super().__init__(
            file, lambda why: InvalidInputError(f"{path}: {why}"), "it is not an orthonmf file"
        )
        declared = sum(entry.file_size for entry in self.entries.values())
        if declared > max_bytes:
            raise self.fail(
                f"it declares {declared:,} bytes, more than the {max_bytes:,} allowed; "
                "if you trust the file, pass a larger max_bytes"
            )
        if HEADER not in self:
            raise self.fail("it is not an orthonmf file: it has no header")
        self.header = parse_object(self[HEADER].tobytes(), f"{path}: its header")

    def __getitem__(self, name: str) -> Array:
        array = self.read(name, REAL)
        return array.astype(array.dtype.newbyteorder("="), order="C", copy=False)


@contextmanager
def open_archive(path: str | os.PathLike[str], max_bytes: int) -> Iterator[Archive]:
    """Open an archive for reading; files that cannot be opened raise the usual OSError."""
    if is_special(Path(path)):
        raise InvalidInputError(f"{path} is a device or a pipe, not a file")
    with open(path, "rb") as file:
        yield Archive(file, path, max_bytes)


def parse_object(text: str | bytes, place: str) -> dict[str, Any]:
    """The JSON object that a text is; what is none is refused with its place in a file."""
    try:
        values = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InvalidInputError(f"{place} is damaged: {error}") from error
    if not isinstance(values, dict):
        raise InvalidInputError(f"{place} is no JSON object")
    return values
