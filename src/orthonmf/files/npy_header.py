"""The header of a NumPy array in a file: read without unpickling, evaluating or trusting it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np

MAGIC = b"\x93NUMPY"
LENGTH_BYTES = {(1, 0): 2, (2, 0): 4}  # of the number that says how long the header is
LONGEST = 10_000
KEYS = {"descr", "fortran_order", "shape"}
ITEM = re.compile(
    r"""\s*['"](\w{1,20})['"]\s*:\s*"""
    r"""(\([^()]*\)|\[.*\]|'[^']*'|"[^"]*"|True|False)\s*(?:,|(?=\}))""",
    re.DOTALL,
)


class NpyHeaderError(ValueError):
    """A header is damaged or claims what cannot be; the message says why."""


@dataclass(frozen=True, slots=True)
class NpyHeader:
    """What an array claims to be; nothing of it has been compared with the file."""

    shape: tuple[int, ...]
    in_columns: bool
    dtype: np.dtype

    @property
    def n_bytes(self) -> int:
        """How long its content must be."""
        return prod(self.shape) * self.dtype.itemsize


def read_npy_header(file: Any) -> NpyHeader:
    """Read up to the first byte of the content; no more than the header is taken from the file."""
    beginning = file.read(len(MAGIC) + 2)
    if len(beginning) < len(MAGIC) + 2 or not beginning.startswith(MAGIC):
        raise NpyHeaderError("this is no NumPy array")
    version = (beginning[-2], beginning[-1])
    if version not in LENGTH_BYTES:
        raise NpyHeaderError(f"it has the unknown version {version} of the array format")
    length = int.from_bytes(_read_exactly(file, LENGTH_BYTES[version]), "little")
    if length > LONGEST:
        raise NpyHeaderError(f"its header of {length:,} bytes is longer than any fair one")
    return _parse(_read_exactly(file, length).decode("latin-1"))


def _read_exactly(file: Any, count: int) -> bytes:
    content: bytes = file.read(count)
    if len(content) < count:
        raise NpyHeaderError("it ends within its header")
    return content


def _parse(text: str) -> NpyHeader:
    """What ``{'descr': '<f8', 'fortran_order': False, 'shape': (3, 4), }`` says, in any order."""
    held = dict(_parse_items(text.strip()))
    if set(held) != KEYS:
        raise NpyHeaderError("its header does not name descr, fortran_order and shape")
    if held["fortran_order"] not in ("True", "False"):
        raise NpyHeaderError(f"its fortran_order is {held['fortran_order'][:80]}")
    in_columns = held["fortran_order"] == "True"
    return NpyHeader(_parse_shape(held["shape"]), in_columns, _parse_dtype(held["descr"]))


def _parse_items(text: str) -> Iterator[tuple[str, str]]:
    if not (text.startswith("{") and text.endswith("}")):
        raise NpyHeaderError("its header is not closed")
    place = 1
    while text[place:].strip() != "}":
        found = ITEM.match(text, place)
        if found is None:
            raise NpyHeaderError(f"its header is damaged at {text[place : place + 20]!r}")
        yield found[1], found[2]
        place = found.end()


def _parse_shape(text: str) -> tuple[int, ...]:
    if not re.fullmatch(r"\(\s*(\d{1,19}L?\s*(,\s*|(?=\))))*\)", text):  # Python 2 wrote 10L
        raise NpyHeaderError(f"the declared shape {text[:80]} makes no sense")
    return tuple(int(size) for size in re.findall(r"\d+", text))


def _parse_dtype(described: str) -> np.dtype:
    """A dtype of one value per entry; records are refused, as are names NumPy would look up."""
    name = described.strip("'\"")
    try:
        if not re.fullmatch(r"[<>=|]?[a-zA-Z?]\d{0,9}(\[\w{1,9}\])?", name):
            raise TypeError
        dtype = np.dtype(name)
    except (TypeError, ValueError) as error:
        raise NpyHeaderError(f"its entries are {described[:80]}, no plain numbers") from error
    if dtype.hasobject:
        raise NpyHeaderError("it holds pickled Python objects, which are never loaded")
    return dtype
