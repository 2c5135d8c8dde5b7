"""``.npy``: one array, read as a memory map; nothing is ever unpickled."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np
from numpy.lib import format as npy

from orthant.arrays import Array
from orthant.datasets.readers.record import NamedMatrix, Request

NUMBERS = "biuf"
HEADER_READERS: dict[tuple[int, int], Callable[[Any], Any]] = {
    (1, 0): npy.read_array_header_1_0,
    (2, 0): npy.read_array_header_2_0,
}


@dataclass(frozen=True, slots=True)
class Header:
    """What an array claims to be."""

    shape: tuple[int, ...]
    in_columns: bool
    dtype: np.dtype

    @property
    def n_bytes(self) -> int:
        """How long its content must be."""
        return prod(self.shape) * self.dtype.itemsize


def read_npy(request: Request) -> NamedMatrix:
    """Map the array of a ``.npy`` file, or read it when it is small enough to be in memory."""
    with open(request.path, "rb") as file:
        header = read_header(file, request)
        start = file.tell()
        held = file.seek(0, 2) - start
    if header.dtype.kind not in NUMBERS:
        raise request.error(f"it holds {header.dtype} values; a matrix of real numbers is needed")
    request.check_shape(header.shape)
    if held != header.n_bytes:
        raise request.error(
            f"it declares shape {header.shape} of {header.dtype}, {header.n_bytes:,} bytes, "
            f"but {held:,} bytes follow the header"
        )
    order: Any = "F" if header.in_columns else "C"
    mapped: Array = np.memmap(request.path, header.dtype, "r", start, header.shape, order)
    if header.n_bytes > request.map_above:
        return request.matrix(mapped)
    request.check_size(header.n_bytes, "the array")
    return request.matrix(np.array(mapped, order="K", subok=False))


def read_header(file: Any, request: Request, name: str = "") -> Header:
    """The header of an array; pickled objects and shapes that make no sense are refused."""
    where = f"the array {name!r}: " if name else ""
    try:
        version = npy.read_magic(file)
        reader = HEADER_READERS[version]
        shape, in_columns, dtype = reader(file)
    except KeyError as error:
        raise request.error(f"{where}unknown version {error} of the array format") from error
    except (ValueError, EOFError, SyntaxError, TypeError) as error:
        raise request.error(f"{where}this is no NumPy array, or a damaged one") from error
    if dtype.hasobject:
        raise request.error(f"{where}it holds pickled Python objects, which are never loaded")
    if any(type(size) is not int or size < 0 for size in shape):
        raise request.error(f"{where}the declared shape {shape} makes no sense")
    return Header(shape, in_columns, dtype)
