"""``.npy`` and ``.npz``: arrays and SciPy's sparse matrices; nothing is ever unpickled."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.lib import format as npy
from scipy.sparse import load_npz

from orthonmf.files.archive import LONGEST_NPY_HEADER, Members
from orthonmf.files.readers.request import NamedMatrix, Request
from orthonmf.inputs.sparse import as_checked_csr
from orthonmf.typing import REAL

SPARSE = {"format", "shape", "data"}


def read_npy(request: Request) -> NamedMatrix:
    """Map the array of a ``.npy`` file, or read it when it is small enough to be in memory."""
    with request.decoding("this is no NumPy array of numbers, or a damaged one"):
        mapped = npy.open_memmap(request.path, mode="r", max_header_size=LONGEST_NPY_HEADER)
    if mapped.dtype.kind not in REAL:
        raise request.error(f"it holds {mapped.dtype} values; a matrix of real numbers is needed")
    request.check_shape(mapped.shape)
    more = request.path.stat().st_size - mapped.offset - mapped.nbytes
    if more:
        raise request.error(f"{more:,} bytes follow the array of shape {mapped.shape}")
    if mapped.nbytes > request.map_above:
        return request.matrix(mapped)
    request.check_size(mapped.nbytes, "the array")
    return request.matrix(np.array(mapped, order="K", subok=False))


def read_npz(request: Request) -> NamedMatrix:
    """The matrix of an archive: SciPy's sparse form, or its one two-dimensional array."""
    with open(request.path, "rb") as file:
        members = Members(file, request.error, "this is no .npz archive, or a damaged one")
        if set(members.entries) >= SPARSE and request.key is None:
            declared = sum(entry.file_size for entry in members.entries.values())
            request.check_size(declared, "the sparse matrix")
            with request.decoding("this is no sparse matrix, or a damaged one"):
                matrix = load_npz(request.path)
                request.check_shape(matrix.shape)
                X: Any = as_checked_csr(matrix)  # nothing follows indices blindly
        else:
            X = members.read(_choose(members, request), REAL, request.check_size)
        names = (
            tuple(members.read(name, "U", request.check_size).ravel().tolist())
            if name in members
            else None
            for name in ("row_names", "column_names")
        )
        return request.matrix(X, *names)


def _choose(members: Members, request: Request) -> str:
    """The array to read: the one that was named, the only one, or the one called X."""
    listed = sorted(members.entries)
    if request.key is None:
        return "X" if "X" in members else request.only_one(listed, "array")
    if request.key not in members:
        raise request.error(f"it has no array {request.key!r}; it has {', '.join(listed[:10])}")
    return request.key
