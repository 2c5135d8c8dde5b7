"""Arithmetic of few vectors (k, m): centers or directions, which always lie on the host."""

from __future__ import annotations

import numpy as np

from orthonmf.typing import Array


def divide(values: Array | float, by: Array) -> Array:
    """``values / by`` in float64, zero where ``by`` is zero; ``by`` is never negative."""
    if (by > 0).all():
        return np.divide(values, by, dtype=np.float64)
    positive = by > 0
    quotients = np.divide(values, np.where(positive, by, 1.0), dtype=np.float64)
    return np.where(positive, quotients, 0.0)


def square_lengths(vectors: Array) -> Array:
    """Squared lengths (..., k) of rows (..., k, m)."""
    return np.einsum("...h,...h->...", vectors, vectors)


def unit_lengths(vectors: Array) -> Array:
    """Rows (..., k, m) at length one; zero rows stay zero."""
    return divide(vectors, np.sqrt(square_lengths(vectors))[..., None])


def unit_sums(vectors: Array) -> Array:
    """Non-negative rows (k, m) at sum one; zero rows stay zero."""
    return divide(vectors, vectors.sum(axis=1)[:, None])


def winners_only(values: Array) -> Array:
    """A (k, m) array with only the largest entry of every column kept, the first of equals."""
    kept = np.zeros_like(values)
    if len(values) == 0:
        return kept
    labels, columns = values.argmax(axis=0), np.arange(values.shape[1])
    kept[labels, columns] = values[labels, columns]
    return kept


def by_value(vectors: Array) -> Array:
    """The order (k,) int32 of the rows of an array by what is in them, wherever they stand.

    In what order directions are multiplied decides how their products round. In this one the bits
    of a product depend on the directions alone, so components may be put in another order
    without another read.
    """
    rows = np.ascontiguousarray(vectors) + 0.0  # 0.0 and -0.0 are one value of two bit patterns
    if rows.size == 0:
        return np.arange(len(rows), dtype=np.int32)
    texts = rows.view(f"S{rows.shape[1] * rows.itemsize}")[:, 0]
    return np.argsort(texts, kind="stable").astype(np.int32)
