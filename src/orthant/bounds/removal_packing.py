"""The lower bound that weight reduction leaves behind: a packing of the pairs it cancelled."""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_array, diags_array

from orthant.arrays import Array
from orthant.bounds.rounding import UNIT_ROUNDOFF, growth

ENTRIES_PER_BLOCK = 1 << 20


def removal_packing_bound(
    rows: Array | csr_array, weights: Array, first: Array, second: Array, removed: Array
) -> float:
    """No factorization with both factors orthogonal has a smaller squared error, for any k.

    Two unit rows x, y cost any solution at least ``min(1 - <x, y>, sum_h min(x_h, y_h)^2)``: the
    second singular value when they share a component, the smaller of the two entries of every
    column when they do not. Weight may be split among pairs as long as no row spends more than
    it has, and that is what weight reduction on the rows themselves (Theorem 9) does.

    Parameters
    ----------
    rows
        (n, m) non-negative, dense or CSR, of any norms.
    weights
        (n,) the squared norm that each row stands for.
    first, second, removed
        (t,) pairs of non-zero rows, and what each pair took from both ends.
    """
    n, m = rows.shape
    step = max(1, ENTRIES_PER_BLOCK // max(1, m))
    costs = np.zeros(len(first))
    for start in range(0, len(first), step):
        part = slice(start, start + step)
        costs[part] = _cost_of_pairs(_unit_rows(rows, first[part]), _unit_rows(rows, second[part]))
    # Sums and norms are rounded: a row that seems to spend a little too much is scaled back.
    spent = np.bincount(first, removed, n) + np.bincount(second, removed, n)
    allowed = weights * (1.0 - growth(2 * m + 2 * n + 8))
    scale = np.ones(n)
    np.divide(allowed, spent, out=scale, where=spent > allowed)
    total = float(np.sum(removed * np.minimum(scale[first], scale[second]) * costs))
    return max(0.0, total * (1.0 - growth(len(first) + 4)))


def _cost_of_pairs(x: Array | csr_array, y: Array | csr_array) -> Array:
    """What every pair of unit rows costs at least, rounded down."""
    m = x.shape[1]
    if isinstance(x, np.ndarray):
        cosines = np.sum(x * y, axis=1)
        common = np.sum(np.minimum(x, y) ** 2, axis=1)
    else:
        cosines = np.asarray(x.multiply(y).sum(axis=1))
        smaller = x.minimum(y)
        common = np.asarray(smaller.multiply(smaller).sum(axis=1))
    # Rows merged as parallel may differ by a rounding, which the 8 beside m pays for.
    together = np.maximum(0.0, 1.0 - cosines - 4.0 * (m + 8) * UNIT_ROUNDOFF)
    return np.minimum(together, common * (1.0 - growth(2 * m + 12)))


def _unit_rows(rows: Array | csr_array, chosen: Array) -> Array | csr_array:
    """Some rows, normalised."""
    part = rows[chosen]
    if isinstance(part, np.ndarray):
        return part / np.linalg.norm(part, axis=1, keepdims=True)
    norms = np.sqrt(np.asarray(part.multiply(part).sum(axis=1), dtype=np.float64))
    return (diags_array(1.0 / norms) @ part).tocsr()
