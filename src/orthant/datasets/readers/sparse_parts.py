"""Sparse matrices from their parts: every index is checked before anything follows it."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from scipy.sparse import bsr_array, coo_array, csc_array, csr_array, dia_array

from orthant.arrays import Array

Parts = Sequence[Array]
Shape = tuple[int, int]


def checked_csr(parts: Parts, shape: Shape) -> csr_array:
    """CSR array of (data, indices, indptr), or a ValueError if an index leads outside."""
    _check_kinds(parts)
    matrix = csr_array(tuple(parts), shape=shape)
    matrix.check_format(full_check=True)
    return matrix


def checked_csc(parts: Parts, shape: Shape) -> csr_array:
    """The same for parts that are ordered by column; the result is ordered by row."""
    _check_kinds(parts)
    matrix = csc_array(tuple(parts), shape=shape)
    matrix.check_format(full_check=True)
    return matrix.tocsr()


def _check_kinds(parts: Parts) -> None:
    if any(part.ndim != 1 for part in parts):
        raise ValueError("data, indices and indptr must have one dimension each")
    if any(part.dtype.kind not in "iu" for part in parts[1:]):
        raise ValueError("indices and indptr must be integers")


def _checked_bsr(parts: Parts, shape: Shape) -> csr_array:
    matrix = bsr_array(tuple(parts), shape=shape)
    matrix.check_format(full_check=True)
    return matrix.tocsr()


def _checked_coo(parts: Parts, shape: Shape) -> csr_array:
    data, *positions = parts
    for indices, size in zip(positions, shape, strict=True):
        if indices.dtype.kind not in "iu" or indices.shape != data.shape or data.ndim != 1:
            raise ValueError("there must be one whole row and column number per entry")
        if len(indices) and (indices.min() < 0 or indices.max() >= size):
            raise ValueError(f"an index is outside 0 to {size - 1}")
    return coo_array((data, tuple(positions)), shape=shape).tocsr()


def _checked_dia(parts: Parts, shape: Shape) -> csr_array:
    data, offsets = parts
    return dia_array((data, offsets), shape=shape).tocsr()


COMPRESSED = ("data", "indices", "indptr")
BUILDERS: dict[str, tuple[tuple[str, ...], Callable[[Parts, Shape], csr_array]]] = {
    "csr": (COMPRESSED, checked_csr),
    "csc": (COMPRESSED, checked_csc),
    "bsr": (COMPRESSED, _checked_bsr),
    "coo": (("data", "row", "col"), _checked_coo),
    "dia": (("data", "offsets"), _checked_dia),
}
