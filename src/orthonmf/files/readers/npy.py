"""``.npy``: one array, read as a memory map; nothing is ever unpickled."""

from __future__ import annotations

from typing import Any

import numpy as np

from orthonmf.files.npy_header import NpyHeaderError, read_npy_header
from orthonmf.files.readers.record import NUMBERS, NamedMatrix, Request
from orthonmf.numerics.arrays import Array


def read_npy(request: Request) -> NamedMatrix:
    """Map the array of a ``.npy`` file, or read it when it is small enough to be in memory."""
    with open(request.path, "rb") as file:
        try:
            header = read_npy_header(file)
        except NpyHeaderError as error:
            raise request.error(str(error)) from error
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
