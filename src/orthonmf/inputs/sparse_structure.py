"""Sparse matrices of any kind become CSR; every index is checked before anything follows it.

A corrupt index makes SciPy read or write foreign memory, in conversions too. So nothing is asked of
a matrix but its parts: they are checked, and the CSR array is built from them alone.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import chain
from typing import Any

import numpy as np
from scipy.sparse import bsr_array, coo_array, csc_array, csr_array, dia_array

from orthonmf.errors import InvalidInputError
from orthonmf.numerics.arrays import Array

Parts = Sequence[Array]
Shape = tuple[int, int]
COMPRESSED = ("data", "indices", "indptr")


def as_checked_csr(X: Any) -> csr_array:
    """The (n, m) CSR array of a SciPy sparse matrix or array; X is never modified.

    Parts are shared where X is CSR. Entries stored twice are left as they are.
    """
    try:
        shape = _check_shape(X.shape)
        return csr_from_parts(STORED_AS.get(X.format, X.format), _PARTS[X.format](X), shape)
    except (ValueError, IndexError, TypeError, ArithmeticError, AttributeError) as error:
        raise InvalidInputError(f"the sparse structure of X is corrupt: {error}") from error


def csr_from_parts(kind: str, parts: Parts, shape: Shape) -> csr_array:
    """CSR array of the parts that :data:`PARTS` names, or a ValueError if they do not fit."""
    return _BUILDERS[kind](parts, shape)


def _check_shape(shape: Any) -> Shape:
    n, m = (int(size) for size in shape)
    if min(n, m) < 0:
        raise ValueError(f"the shape is {n} x {m}")
    return n, m


def _whole(name: str, numbers: Array) -> Array:
    """Numbers of rows or columns: one dimension, integers; an empty list may be of any type."""
    if numbers.ndim != 1:
        raise ValueError(f"{name} must have one dimension, it has {numbers.ndim}")
    if not numbers.size:
        return numbers.astype(np.int64)
    if numbers.dtype.kind not in "iu":
        raise ValueError(f"{name} must hold integers, it holds {numbers.dtype}")
    return numbers


def _cut_compressed(parts: Parts, extents: Shape) -> Parts:
    """Parts of so many lists of numbers below so many, cut to what they use.

    SciPy's own check looks no further when the last entry of ``indptr`` is 0, whatever stands
    before it.
    """
    n_lists, size = extents
    data, indices, indptr = parts
    indices, indptr = _whole("indices", indices), _whole("indptr", indptr)
    if len(indptr) != n_lists + 1:
        raise ValueError(f"indptr must hold {n_lists + 1} numbers, it holds {len(indptr)}")
    if indptr[0] != 0 or np.any(indptr[1:] < indptr[:-1]):
        raise ValueError("indptr must begin with 0 and never decrease")
    used = int(indptr[-1])
    if used > min(len(indices), len(data)):
        raise ValueError(f"indptr speaks of {used} entries, there are fewer")
    indices = indices[:used]
    if used and (indices.min() < 0 or indices.max() >= size):
        raise ValueError(f"indices must lie within 0 to {size - 1}")
    return data[:used], indices, indptr


def _csr(parts: Parts, shape: Shape) -> csr_array:
    _check_one_dimension(parts[0])
    return csr_array(tuple(_cut_compressed(parts, shape)), shape=shape)


def _csc(parts: Parts, shape: Shape) -> csr_array:
    _check_one_dimension(parts[0])
    return csc_array(tuple(_cut_compressed(parts, shape[::-1])), shape=shape).tocsr()


def _check_one_dimension(data: Array) -> None:
    if data.ndim != 1:
        raise ValueError(f"data must have one dimension, it has {data.ndim}")


def _bsr(parts: Parts, shape: Shape) -> csr_array:
    data = parts[0]
    if data.ndim != 3 or 0 in data.shape[1:]:
        raise ValueError(f"data must hold blocks, its shape is {data.shape}")
    height, width = data.shape[1:]
    if shape[0] % height or shape[1] % width:
        raise ValueError(f"blocks of {height} x {width} do not fill {shape[0]} x {shape[1]}")
    blocks = (shape[0] // height, shape[1] // width)
    return bsr_array(tuple(_cut_compressed(parts, blocks)), shape=shape).tocsr()


def _coo(parts: Parts, shape: Shape) -> csr_array:
    data, *positions = parts
    if data.ndim != 1 or len(positions) != 2:
        raise ValueError("there must be one row and one column number per entry")
    checked = []
    for name, numbers, size in zip(("row", "column"), positions, shape, strict=True):
        whole = _whole(f"the {name} numbers", numbers)
        if len(whole) != len(data):
            raise ValueError(f"there are {len(whole)} {name} numbers for {len(data)} entries")
        if len(whole) and (whole.min() < 0 or whole.max() >= size):
            raise ValueError(f"a {name} number is outside 0 to {size - 1}")
        checked.append(whole)
    return coo_array((data, tuple(checked)), shape=shape).tocsr()


def _dia(parts: Parts, shape: Shape) -> csr_array:
    data, offsets = parts
    whole = _whole("offsets", offsets)
    if data.ndim != 2 or len(data) != len(whole):
        raise ValueError(f"there are {len(whole)} offsets for data of shape {data.shape}")
    # Diagonals that lie outside hold nothing, and their numbers might not fit SciPy's type.
    inside = (whole > -shape[0]) & (whole < shape[1])
    return dia_array((data[inside], whole[inside].astype(np.int64)), shape=shape).tocsr()


_BUILDERS: dict[str, Callable[[Parts, Shape], csr_array]] = {
    "csr": _csr,
    "csc": _csc,
    "bsr": _bsr,
    "coo": _coo,
    "dia": _dia,
}
# What SciPy calls the parts in the files that it writes.
PARTS = dict.fromkeys(("csr", "csc", "bsr"), COMPRESSED) | {
    "coo": ("data", "row", "col"),
    "dia": ("data", "offsets"),
}
# Formats of Python objects are laid out as one of plain arrays first.
STORED_AS = {"lil": "csr", "dok": "coo"}


def _compressed_parts(X: Any) -> Parts:
    return X.data, X.indices, X.indptr


def _lil_parts(X: Any) -> Parts:
    """Lists of column numbers and of values, one of each per row."""
    n = X.shape[0]
    if np.shape(X.rows) != (n,) or np.shape(X.data) != (n,):
        raise ValueError(f"there must be {n} lists of column numbers and of values")
    lengths = np.fromiter(map(len, X.rows), dtype=np.int64, count=n)
    if not np.array_equal(lengths, np.fromiter(map(len, X.data), dtype=np.int64, count=n)):
        raise ValueError("a row has more column numbers than values, or fewer")
    indices = np.array(list(chain.from_iterable(X.rows)))
    values = _values(list(chain.from_iterable(X.data)), X.dtype)
    return values, indices, np.concatenate(([0], np.cumsum(lengths)))


def _dok_parts(X: Any) -> Parts:
    """A dictionary from (row, column) to the value."""
    keys = list(X.keys())
    places = np.array(keys) if keys else np.zeros((0, 2), dtype=np.int64)
    if places.shape != (len(keys), 2):
        raise ValueError("every key must be a pair of numbers")
    return _values(list(X.values()), X.dtype), places[:, 0], places[:, 1]


def _values(listed: list[Any], dtype: np.dtype) -> Array:
    """Python objects as numbers of the type that the matrix says it has."""
    found = np.array(listed, dtype=None if listed else dtype)
    if found.ndim != 1 or found.dtype.kind not in "biufc":
        raise ValueError("it holds values that are no numbers")
    return found.astype(dtype)


_PARTS: dict[str, Callable[[Any], Parts]] = {
    "csr": _compressed_parts,
    "csc": _compressed_parts,
    "bsr": _compressed_parts,
    "coo": lambda X: (X.data, *X.coords),
    "dia": lambda X: (X.data, X.offsets),
    "lil": _lil_parts,
    "dok": _dok_parts,
}
