"""Blocks with missing entries: values with zeros in their place, and sums over what is observed."""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_array

from orthonmf.engine.kernels.interface import ObservedBlock
from orthonmf.engine.units import NO_ENTRIES
from orthonmf.numerics.arrays import Array
from orthonmf.numerics.segments import slices
from orthonmf.numerics.vectors import divide

# A difference below this share of what it was taken from has lost digits: it is summed instead.
CANCELLED = 1e-2
# Entries of an indicator that are made dense at once.
ENTRIES_AT_ONCE = 2**20


class ObservedArray(ObservedBlock):
    """A dense block, which carries the observed positions as ones."""

    def __init__(self, rows: Array) -> None:
        observed = ~np.isnan(rows)
        self._values = np.where(observed, rows, 0.0).astype(np.float64, copy=False)
        self._observed = observed.astype(np.float64)

    def multiply_directions(self, directions: Array) -> Array:
        return self._values @ np.ascontiguousarray(directions.T)

    def multiply_columns(self, loadings: Array) -> Array:
        return (self._values.T @ loadings).T

    def sum_observed(self, squares: Array) -> Array:
        return self._observed @ np.ascontiguousarray(squares.T)

    def sum_observed_rows(self, squares: Array) -> Array:
        return squares.T @ self._observed


class ObservedCsr(ObservedBlock):
    """A sparse block, where an absent entry is an observed zero: it carries what is missing.

    Sums over the observed are differences.
    """

    def __init__(self, rows: csr_array) -> None:
        missing = np.isnan(rows.data)
        values = np.where(missing, 0.0, rows.data).astype(np.float64)
        self._values = csr_array((values, rows.indices, rows.indptr), shape=rows.shape)
        ends = np.concatenate(([0], np.cumsum(missing)))[rows.indptr]
        ones = np.ones(int(ends[-1]))
        self._missing = csr_array((ones, rows.indices[missing], ends), shape=rows.shape)

    def multiply_directions(self, directions: Array) -> Array:
        return self._values @ np.ascontiguousarray(directions.T)

    def multiply_columns(self, loadings: Array) -> Array:
        return (self._values.T @ loadings).T

    def sum_observed(self, squares: Array) -> Array:
        return _sum_others(self._missing, np.ascontiguousarray(squares.T))

    def sum_observed_rows(self, squares: Array) -> Array:
        return _sum_others(self._missing.T.tocsr(), squares).T


def _sum_others(missing: csr_array, values: Array) -> Array:
    """(b, k) for every row of an indicator (b, m) the sums of values (m, k) where it has no one.

    Differences, and where little is left of them, so that digits are lost, the sums themselves.
    """
    total = values.sum(axis=0)
    rest = total - missing @ values
    lost = np.flatnonzero((rest < CANCELLED * total).any(axis=1))
    for some in slices(len(lost), ENTRIES_AT_ONCE // max(1, missing.shape[1])):
        rest[lost[some]] = (1.0 - missing[lost[some]].toarray()) @ values
    return rest


def fit_by_own_scale(
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
    loadings, scores = divide(product, square), divide(product, np.sqrt(square))
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
