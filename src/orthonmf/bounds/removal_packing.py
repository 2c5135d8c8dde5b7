"""The lower bound that weight reduction leaves behind: a packing of the pairs it cancelled."""

from __future__ import annotations

import math

import numpy as np
from scipy.sparse import csr_array, diags_array

from orthonmf.bounds.pair_packing import TOO_SMALL, cost_of_pairs, of_unit_length
from orthonmf.numerics.arrays import Array
from orthonmf.numerics.rounding import LIGHT, SMALLEST, WEIGHT_ROUNDINGS, growth

ENTRIES_PER_BLOCK = 1 << 20


def removal_packing_bound(
    rows: Array | csr_array, weights: Array, first: Array, second: Array, removed: Array
) -> float:
    """No factorization with both factors orthogonal has a smaller squared error, for any k.

    Weight may be split among pairs as in `pair_packing` as long as no row spends more than it has,
    and that is what weight reduction on the rows themselves (Theorem 9 of the paper) does. ``rows``
    (n, m), dense or CSR, may have any norms; ``weights`` (n,) are the squared norms that each
    row, and those parallel to it, stand for. Of each pair ``first``, ``second`` (t,) of non-zero
    rows, ``removed`` (t,) is what it took from both ends.
    """
    n, m = rows.shape
    step = max(1, ENTRIES_PER_BLOCK // max(1, m))
    costs = np.zeros(len(first))
    for start in range(0, len(first), step):
        part = slice(start, start + step)
        x, y = _unit_rows(rows[first[part]]), _unit_rows(rows[second[part]])
        # Rounding is that of `pair_packing`, which counts weights and rows merged as parallel.
        costs[part] = np.where(of_unit_length(x) & of_unit_length(y), cost_of_pairs(x, y), 0.0)
    costs[costs <= TOO_SMALL] = 0.0
    # A squared norm takes m products and sums, its entries have been through the roundings of a
    # weight each, and up to n of parallel rows were added up.
    sound = np.where(weights > LIGHT, weights, 0.0)
    allowed = sound * (1.0 - growth(m + n + 2 * WEIGHT_ROUNDINGS))
    # Sums are rounded: a row that may have spent a little too much is scaled back.
    spent = (np.bincount(first, removed, n) + np.bincount(second, removed, n)) * (1.0 + growth(n))
    scale = np.ones(n)
    np.divide(allowed, spent, out=scale, where=spent > allowed)
    paid = removed * np.minimum(scale[first], scale[second]) * costs
    # Each of the two products above may have gained the smallest double by rounding.
    return max(0.0, math.fsum(paid) * (1.0 - growth(6)) - 2.0 * len(paid) * SMALLEST)


def _unit_rows(part: Array | csr_array) -> csr_array:
    """Some rows, normalized; zero where the squared length may have lost digits to underflow."""
    part = csr_array(part)
    squares = np.asarray(part.multiply(part).sum(axis=1), dtype=np.float64)
    inverse = np.zeros(len(squares))
    np.divide(1.0, np.sqrt(squares), out=inverse, where=(squares > LIGHT) & np.isfinite(squares))
    return (diags_array(inverse) @ part).tocsr()
