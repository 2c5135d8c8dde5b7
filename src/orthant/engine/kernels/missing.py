"""Blocks with missing entries: values with zeros in their place, and sums over what is observed.

A dense block carries the observed positions as ones; a sparse block, where an absent entry is an
observed zero, carries the missing positions, and sums over the observed are differences.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from orthant.arrays import Array
from orthant.engine.kernels.blocks import Rows
from orthant.engine.kernels.dense import CHUNK_ENTRIES

# A difference below this share of what it was taken from is rounding, and stands for nothing.
ROUNDING = 1e-13


@dataclass(frozen=True, slots=True)
class MaskedBlock:
    """Rows in float64 with zeros for what is missing, and where that is."""

    values: Any  # (b, m) array or csr_array
    mask: Any  # dense: (b, m) ones where observed; sparse: csr_array of ones where missing

    def products(self, directions: Array) -> Array:
        """``values @ directions.T``, (b, k)."""
        return self.values @ np.ascontiguousarray(directions.T)

    def column_products(self, loadings: Array) -> Array:
        """``loadings.T @ values``, (k, m), for loadings (b, k)."""
        return (self.values.T @ loadings).T

    def observed_sums(self, squares: Array) -> Array:
        """For every row the sums of ``squares`` (k, m) over its observed columns, (b, k)."""
        right = np.ascontiguousarray(squares.T)
        if isinstance(self.mask, np.ndarray):
            return self.mask @ right
        return _less(right.sum(axis=0)[None, :], self.mask @ right)

    def observed_column_sums(self, squares: Array) -> Array:
        """For every column the sums of ``squares`` (b, k) over its observed rows, (k, m)."""
        if isinstance(self.mask, np.ndarray):
            return squares.T @ self.mask
        return _less(squares.sum(axis=0)[:, None], (self.mask.T @ squares).T)


def _less(total: Array, part: Array) -> Array:
    rest = total - part
    return np.where(rest > ROUNDING * total, rest, 0.0)


def masked(rows: Rows) -> MaskedBlock:
    """Split a block with NaN in place of missing entries."""
    if isinstance(rows, np.ndarray):
        observed = ~np.isnan(rows)
        values = np.where(observed, rows, 0.0).astype(np.float64, copy=False)
        return MaskedBlock(values, observed.astype(np.float64))
    missing = np.isnan(rows.data)
    values = csr_array(
        (np.where(missing, 0.0, rows.data).astype(np.float64), rows.indices, rows.indptr),
        shape=rows.shape,
    )
    ends = np.concatenate(([0], np.cumsum(missing)))[rows.indptr]
    ones = np.ones(int(ends[-1]))
    mask = csr_array((ones, rows.indices[missing], ends), shape=rows.shape)
    return MaskedBlock(values, mask)


def filled(rows: Rows) -> Rows:
    """The same rows with zeros in place of missing entries."""
    if isinstance(rows, np.ndarray):
        return np.where(np.isnan(rows), rows.dtype.type(0), rows)
    values = np.where(np.isnan(rows.data), rows.dtype.type(0), rows.data)
    return csr_array((values, rows.indices, rows.indptr), shape=rows.shape)


def any_missing(rows: Rows) -> bool:
    """Whether a block has missing entries."""
    return bool(np.isnan(rows if isinstance(rows, np.ndarray) else rows.data).any())


def observed_residual(
    rows: Rows, loadings: Any, components: Array, column_weights: Array | None
) -> Array:
    """Squared distance of every row to ``loadings @ components`` over its observed entries."""
    squares = np.empty(rows.shape[0])
    size = max(1, CHUNK_ENTRIES // max(1, rows.shape[1]))
    for start in range(0, rows.shape[0], size):
        part = slice(start, min(start + size, rows.shape[0]))
        chunk = rows[part] if isinstance(rows, np.ndarray) else rows[part].toarray()
        difference = chunk.astype(np.float64) - loadings[part] @ components
        difference = np.square(np.where(np.isnan(difference), 0.0, difference))
        squares[part] = (
            difference.sum(axis=1) if column_weights is None else difference @ column_weights
        )
    return squares
