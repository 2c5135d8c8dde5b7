"""Blocks with missing entries: values with zeros in their place, and sums over what is observed.

A dense block carries the observed positions as ones; a sparse block, where an absent entry is an
observed zero, carries the missing positions, and sums over the observed are differences.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from orthant.engine.kernels.blocks import Rows
from orthant.engine.kernels.dense import CHUNK_ENTRIES
from orthant.engine.units import NO_ENTRIES
from orthant.numerics.arrays import Array, divided

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


def fitted_by_own_scale(
    rows: Array, components: Array, weights: Array, powers: Array
) -> tuple[Array, Array]:
    """Fit rows whose products would underflow, every sum in a power of two of its own.

    Parameters
    ----------
    rows
        (b, m) float64 with NaN for what is missing, as they are stored.
    components
        (k, m) float64, as they are published.
    weights, powers
        (m,) the weight of column h is ``weights[h] * 2**powers[h]``.

    Returns
    -------
    The square root of the energy that every component captures of every row, (b, k), times a
    number for each row, and the loadings (b, k).
    """
    observed = ~np.isnan(rows) & (weights > 0)
    (x, of_x), (c, of_c), (w, of_w) = map(
        np.frexp, (np.where(observed, rows, 0), components, weights)
    )
    of_w = of_w + powers
    counted = observed[:, None, :] & (c > 0)
    product, product_power = _scaled_sum(
        x[:, None, :] * c * w, of_x[:, None, :] + of_c + of_w, counted & (x > 0)[:, None, :]
    )
    square, square_power = _scaled_sum(
        np.broadcast_to(c * c * w, counted.shape), 2 * of_c + of_w, counted
    )
    odd = square_power % 2
    square, square_power = np.ldexp(square, odd), square_power - odd
    loadings, scores = divided(product, square), divided(product, np.sqrt(square))
    score_power = np.where(product > 0, product_power - square_power // 2, NO_ENTRIES)
    score_power = score_power - score_power.max(axis=1, keepdims=True)
    with np.errstate(over="ignore", under="ignore"):
        return np.ldexp(scores, score_power), np.ldexp(loadings, product_power - square_power)


def _scaled_sum(fractions: Array, powers: Array, counted: Array) -> tuple[Array, Array]:
    """Sums over the last axis of ``fractions * 2**powers`` where counted, as fraction and power."""
    powers = np.broadcast_to(powers, counted.shape)
    top = np.max(powers, axis=-1, initial=NO_ENTRIES, where=counted)
    shifts = np.where(counted, powers - top[..., None], 0)
    terms = np.where(counted, np.ldexp(fractions, shifts), 0.0)
    return terms.sum(axis=-1), np.where(top > NO_ENTRIES, top, 0)
