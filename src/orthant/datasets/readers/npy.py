"""``.npy``: one array, read as a memory map; nothing is ever unpickled."""

from __future__ import annotations

from typing import Any

import numpy as np

from orthant.datasets.readers.record import NamedMatrix, Request
from orthant.files.npy_header import NpyHeader, NpyHeaderError, read_npy_header
from orthant.numerics.arrays import Array

NUMBERS = "biuf"


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


def read_header(file: Any, request: Request, name: str = "") -> NpyHeader:
    """The header of an array; pickled objects and shapes that make no sense are refused."""
    try:
        return read_npy_header(file)
    except NpyHeaderError as error:
        where = f"the array {name!r}: " if name else ""
        raise request.error(f"{where}{error}") from error
