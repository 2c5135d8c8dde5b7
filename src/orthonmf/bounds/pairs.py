"""Lower bounds for parts disjoint in rows and columns at once: packings of pairs of rows.

Two rows x_i, x_j of unit length, with cosine c, cost any solution f_ij = min(1 - c, sum_h
min(x_ih, x_jh)^2) at least, for any number of components. Shares d_ij >= 0 of the squared norms l_i
with sum_j d_ij <= l_i then give  squared error >= sum_{i<j} d_ij f_ij  (docs/theory/bounds.md,
Theorem 12). Any selection of pairs and any such shares are valid; since min(x, y)^2 <= x y, also
f <= min(1 - c, c), which tells the promising pairs from one matrix product. The columns may be
packed likewise.

Roundings, for rows of m entries:

* A squared length takes m products and sums; weights add at most `WEIGHT_ROUNDINGS`, and one more.
* An entry is divided by the root of it, which halves that count and adds one. With the division,
  a weight in the entry itself, and the difference of two rows that were merged as parallel, it
  is within  m + 2 WEIGHT_ROUNDINGS  of the exact one.
* A cosine has two entries in each of its products, and m products and sums: three times m and
  twice the rest. It is at most 1, so that is also its absolute error. A squared minimum, likewise.
* Underflow: a row is used if its squared length is above `LIGHT` and its computed entries have
  length 1 but for these roundings, a pair if it costs more than `TOO_SMALL`. Then all that
  underflow can have taken or added is less than the roundings counted in addition.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.sparse import csr_array, diags_array

from orthonmf.certificate import LowerBound
from orthonmf.engine.kernels.sparse import gram_of_rows
from orthonmf.engine.segments import slices
from orthonmf.engine.sources import to_dense
from orthonmf.rounding import LIGHT, SMALLEST, WEIGHT_ROUNDINGS, growth
from orthonmf.typing import Array

METHOD = "a packing of row pairs"

BLOCK_ENTRIES = 2**22  # numbers held at once while pairs are compared: 32 MiB of them
ROWS_AT_ONCE = 4096  # up to so many rows all cosines are computed at once, 64 MiB of them
PART_ENTRIES = 2**20  # the same while their costs are found
FEW_PAIRS = 5000  # up to so many the best shares are sought
TOO_SMALL = 1e-280  # what a pair must cost to be used: below that, squares may have underflowed


def pair_packing_bound(
    rows: Array | csr_array,
    weights: Array,
    *,
    n_partners: int = 32,
) -> LowerBound:
    """The cost of a packing of row pairs, for solutions disjoint in rows and in columns.

    ``rows`` (n, m), dense or CSR, float64, are the rows of a non-negative matrix, each divided by
    its computed norm (a zero row stays zero); ``weights`` (n,) the computed squared norms. Both
    may have been through `WEIGHT_ROUNDINGS` roundings more than the numbers they stand for. Every
    row is paired with its ``n_partners`` most promising partners. Shares go to the pairs greedily
    by decreasing cost, which is at least half as good as the best shares; those are found by a
    linear program when there are few pairs. Memory is a few blocks next to the list of pairs, time
    that of one product of the rows with themselves. The value never exceeds the squared error of
    any such solution, rounding included.
    """
    # One way for both: held by rows, dense data cost half as much again, once.
    rows = csr_array(rows)
    first, second = _promising_pairs(rows, n_partners)
    costs, heavy = _pair_costs(rows, first, second), weights > LIGHT
    useful = (costs > 0.0) & heavy[first] & heavy[second]
    first, second, costs = first[useful], second[useful], costs[useful]
    if not len(costs):
        return LowerBound(0.0, METHOD)
    # The weight of a row is its squared length times its own weight.
    capacities = weights * (1.0 - growth(rows.shape[1] + 2 * WEIGHT_ROUNDINGS))
    packed = [_greedy_shares(first, second, costs, capacities)]
    if len(costs) <= FEW_PAIRS:
        shares = _best_shares(first, second, costs, capacities)
        packed += [] if shares is None else [shares]
    values = [_value(shares, first, second, costs, capacities) for shares in packed]
    return LowerBound(max(values), METHOD)


def _promising_pairs(rows: csr_array, n_partners: int) -> tuple[Array, Array]:
    """For every row the partners of largest min(c, 1 - c), each pair once, as two index arrays.

    The cosines only choose, so they are float32.
    """
    n, m = rows.shape
    count = min(n_partners, n)
    keys = [np.empty(0, dtype=np.int64)]
    short = rows.astype(np.float32)
    products = gram_of_rows(short) if n <= ROWS_AT_ONCE else None
    for some in slices(n, BLOCK_ENTRIES // max(1, n, m)):
        cosines = products[some] if products is not None else (short @ to_dense(short[some]).T).T
        promise = np.minimum(cosines, 1.0 - cosines)
        own = np.arange(some.start, some.stop)
        promise[own - some.start, own] = 0.0
        partners = np.argpartition(-promise, count - 1, axis=1)[:, :count].ravel()
        mates = np.repeat(own, count)
        keep = promise[mates - some.start, partners] > 0.0
        mates, partners = mates[keep], partners[keep]
        keys.append(np.minimum(mates, partners) * n + np.maximum(mates, partners))
    return np.divmod(np.unique(np.concatenate(keys)), max(1, n))


def _pair_costs(
    rows: Array | csr_array,
    first: Array,
    second: Array,
    prepare: Callable[[Any], csr_array] = csr_array,
) -> Array:
    """Lower bounds on f for each pair, less what rounding may have added.

    ``prepare`` makes computed unit rows of some rows. 0 for rows that are not of length 1 then, and
    where squares may have underflowed.
    """
    costs = np.empty(len(first))
    rounding = pair_rounding(rows.shape[1])
    for part in slices(len(first), PART_ENTRIES * rows.shape[0] // max(1, rows.size)):
        left, right = prepare(rows[first[part]]), prepare(rows[second[part]])
        overlap = left.minimum(right).power(2).sum(axis=1)
        cosines = left.multiply(right).sum(axis=1)
        least = np.minimum(1.0 - cosines - rounding, overlap * (1.0 - rounding))
        costs[part] = np.where(of_unit_length(left) & of_unit_length(right), least, 0.0)
    return np.where(costs > TOO_SMALL, costs, 0.0)


def pair_rounding(m: int) -> float:
    """What rounding may do to the cosine of two computed unit rows of m entries, or to the overlap.

    The first absolutely, since it is at most 1, the second relatively.
    """
    return growth(m + 2 * (m + 2 * WEIGHT_ROUNDINGS))


def of_unit_length(rows: csr_array) -> Array:
    """Which computed unit rows (n, m) have length 1 but for rounding: (n,) booleans."""
    squares = np.asarray(rows.multiply(rows).sum(axis=1), dtype=np.float64)
    return np.abs(squares - 1.0) <= pair_rounding(rows.shape[1])


def _greedy_shares(first: Array, second: Array, costs: Array, capacities: Array) -> Array:
    """To each pair, dearest first, all that is left of the lighter of its rows."""
    left = capacities.tolist()
    shares = np.zeros(len(costs))
    for pair in np.argsort(-costs, kind="stable").tolist():
        i, j = int(first[pair]), int(second[pair])
        share = min(left[i], left[j])
        if share > 0.0:
            shares[pair] = share
            left[i] -= share
            left[j] -= share
    return shares


def _best_shares(first: Array, second: Array, costs: Array, capacities: Array) -> Array | None:
    """The shares of largest total cost, feasible up to a tolerance; None if the solver gives up."""
    from scipy.optimize import linprog  # slow to import: only where it is used

    pairs = np.arange(len(costs))
    incidence = csr_array(
        (np.ones(2 * len(pairs)), (np.concatenate([first, second]), np.tile(pairs, 2))),
        shape=(len(capacities), len(pairs)),
    )
    scale = float(capacities.max())
    answer = linprog(-costs, A_ub=incidence, b_ub=capacities / scale, method="highs")
    return None if answer.x is None else answer.x * scale


def _value(shares: Array, first: Array, second: Array, costs: Array, capacities: Array) -> float:
    """The proven value of shares that may overdraw some rows: those rows cut them back."""
    shares = np.maximum(shares, 0.0)
    n = len(capacities)
    spent: Array = np.bincount(first, shares, minlength=n)
    spent = (spent + np.bincount(second, shares, minlength=n)) * (1.0 + growth(2 * n))
    allowed = np.ones(n)
    np.divide(capacities, spent, out=allowed, where=spent > capacities)
    shares = shares * np.minimum(allowed[first], allowed[second]) * (1.0 - growth(6))
    # Each of two products, a share and its cost, may have gained the smallest double by rounding.
    return max(0.0, math.fsum(shares * costs) * (1.0 - growth(4)) - 2.0 * len(costs) * SMALLEST)


def removal_packing_bound(
    rows: Array | csr_array, weights: Array, first: Array, second: Array, removed: Array
) -> float:
    """No factorization with both factors orthogonal has a smaller squared error, for any k.

    Weight may be split among pairs as long as no row spends more than it has,
    and that is what weight reduction on the rows themselves (Theorem 9 of the paper) does. ``rows``
    (n, m), dense or CSR, may have any norms; ``weights`` (n,) are the squared norms that each
    row, and those parallel to it, stand for. Of each pair ``first``, ``second`` (t,) of non-zero
    rows, ``removed`` (t,) is what it took from both ends.
    """
    n, m = rows.shape
    costs = _pair_costs(rows, first, second, _unit_rows)
    # A squared norm takes m products and sums, its entries have been through the roundings of a
    # weight each, and up to n of parallel rows were added up.
    sound = np.where(weights > LIGHT, weights, 0.0)
    allowed = sound * (1.0 - growth(m + n + 2 * WEIGHT_ROUNDINGS))
    # Sums are rounded: a row that may have spent a little too much is scaled back.
    return _value(removed, first, second, costs, allowed)


def _unit_rows(rows: Array | csr_array) -> csr_array:
    """Rows, normalized; zero where the squared length may have lost digits to underflow."""
    rows = csr_array(rows)
    squares = np.asarray(rows.multiply(rows).sum(axis=1), dtype=np.float64)
    inverse = np.zeros(len(squares))
    np.divide(1.0, np.sqrt(squares), out=inverse, where=(squares > LIGHT) & np.isfinite(squares))
    return (diags_array(inverse) @ rows).tocsr()
