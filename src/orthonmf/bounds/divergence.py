"""Lower bounds on the Kullback-Leibler divergence, from what parts can capture of another matrix.

The entrywise root of a model of the divergence has the shape of a model of the squared error. So,
for *every* Y that is positive where X is, with N the sum of X (docs/theory/bounds.md, Theorem 18),

    divergence >= sum_ij x_ij ln(Y_ij^2 / x_ij) + N ln(N / captured),

where no k parts capture more than ``captured`` of |Y|^2. The best scales of rows are known, for
they are their sums: the roots q of these lie in the span of the parts, which bounds ``captured``
further. `reweighting` chooses Y. What it stores is the data of the proof, and so is q, which costs
a factor; every rounding is on the safe side.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from orthonmf.bounds.allowance import (
    FEW_ITERATIONS,
    LARGEST_SIDE,
    PAIR_BYTES,
    Allowance,
    group_size,
    has_room,
    proof_seconds,
    search_seconds,
)
from orthonmf.bounds.eigenvalues import top_sum_upper_bound
from orthonmf.bounds.relaxation import raise_matrix
from orthonmf.bounds.reweighting import Contingency, reweight, search_jointly
from orthonmf.certificate import LowerBound
from orthonmf.engine.counts import Counts
from orthonmf.engine.kernels.sparse import gram_of_rows
from orthonmf.engine.segments import slices
from orthonmf.rounding import LIGHT, LOGARITHM, growth, norm_from_above, round_up, symmetric
from orthonmf.typing import Array

METHOD = "the singular values of a reweighted matrix"
METHOD_OF_PAIRS = "a dual solution for all pairs of points of a reweighted matrix"
ROWS = 256  # of a matrix that are changed at once


def bound_divergence(
    counts: Counts, labels: Array, k: int, tight: bool, cost: float, allowance: Allowance
) -> LowerBound:
    """The best bound for k groups of rows, in the units of the counts.

    ``labels`` (n,) are the groups of an answer, -1 for none, and ``cost`` is about its divergence:
    they steer a ``tight`` search for a multiplier, which ends where it proves that to be the least,
    and any are legal.
    """
    heavy = np.flatnonzero(counts.row_sums > 0)
    n = len(heavy)
    table = Contingency(counts.part(heavy))
    smallest, total = float(counts.row_sums[heavy].min(initial=1.0)), counts.total
    # Beyond, shares and their roots would lose digits to underflow.
    if k >= n or not LIGHT * max(1.0, total) < smallest <= total < 1.0 / LIGHT:
        return LowerBound(0.0, METHOD)
    if k == 1:
        return LowerBound(
            prove_matrix(table, table.normalized(), 1), "the sums of rows and columns"
        )
    choice = reweight(table, labels[heavy], k)
    best = LowerBound(prove_matrix(table, choice.logs, k), METHOD)
    needed = search_seconds(FEW_ITERATIONS, n) + 2.0 * proof_seconds(n)
    in_time = needed <= allowance.seconds and not allowance.cut
    if tight and in_time and has_room(n, PAIR_BYTES):
        share = cost / counts.total
        logs, multiplier = search_jointly(table, choice, labels[heavy], k, share, allowance)
        Y = table.matrix(logs)
        raised = gram_of_rows(Y)
        raise_matrix(raised, multiplier)
        start = multiplier.vectors.astype(np.float64)
        captured = captured_by_pairs(raised, Y.shape[1], table.roots, k, start)
        value = divergence_from_below(table, Y.data, captured)
        method = METHOD_OF_PAIRS if value > best.value else best.method
        best = LowerBound(max(value, best.value), method)
    return best


def prove_matrix(table: Contingency, logs: Array, k: int) -> float:
    """What Y proves by its singular values, those of groups of rows where both sides are long.

    What is captured of all rows is at most what is captured of every group by itself (Theorem 11).
    """
    Y, n = table.matrix(logs), len(table.roots)
    groups = [np.arange(n)]
    if min(Y.shape) > LARGEST_SIDE and k > 1:
        size = group_size(k, n)
        if not size:
            return 0.0
        groups = np.array_split(np.random.default_rng(0).permutation(n), math.ceil(n / size))
    captured = math.fsum(captured_from_above(Y[rows], table.roots[rows], k) for rows in groups)
    return divergence_from_below(table, Y.data, round_up(captured, 1))


def divergence_from_below(table: Contingency, weights: Array, captured: float) -> float:
    """What a matrix Y proves, ``weights`` (c,) at the entries of X, or 0 where that is nothing.

    ``captured`` is what no k parts exceed on Y, with q as the table stores it.
    """
    x, total = table.counts.rows.data, table.counts.total
    # Up to one scale every stored root is within e of the exact one, relatively. A model <F, Y>
    # with one of them is a model with the other for a Y that is entry by entry within e, and all
    # is non-negative (docs/theory/rounding.md).
    error = growth(sum(table.counts.shape) + 8)
    stretch = ((1.0 + error) / (1.0 - error)) ** 2 * (1.0 + growth(8))
    captured = round_up(captured * stretch, 2)
    if not 0.0 < captured < math.inf:
        return 0.0
    squares, entries = 2.0 * np.log(weights), np.log(x)
    whole = math.log(total) - math.log(captured)
    sizes = float(x @ (np.abs(squares) + np.abs(entries)))
    sizes += total * (1.0 + abs(math.log(total)) + abs(math.log(captured)))
    value = float(x @ (squares - entries)) + total * whole
    value -= round_up(growth(2 * len(x) + LOGARITHM) * sizes, 2 * len(x) + LOGARITHM)
    return value if 0.0 < value < math.inf else 0.0


def captured_from_above(matrix: Any, roots: Array, k: int) -> float:
    """What no k parts of the rows of Y capture, by singular values, the roots in their span.

    ``matrix`` Y (n, m) is exact as it is stored, entries from 2^-300 to 1; ``roots`` (n,) too, all
    positive.
    """
    n, m = matrix.shape
    along = matrix.T @ roots / math.sqrt(float(roots @ roots))
    of_roots = round_up(float(along @ along), m + 4 * n + 24)
    whole = round_up(float(matrix.data @ matrix.data), matrix.data.size)
    if k == 1:
        return of_roots
    if k >= min(n, m):
        return whole
    if n <= m:
        return min(whole, captured_by_pairs(symmetric(gram_of_rows(matrix)), m, roots, k))
    # Beside the roots k - 1 parts capture no more of Y than of what is orthogonal to them.
    gram = symmetric(gram_of_rows(matrix.T.tocsr()))
    error = round_up(growth(4 * n + 32) * (norm_from_above(gram) + of_roots), 4)
    gram -= np.outer(along, along)
    rest = max(0.0, top_sum_upper_bound(gram, k - 1)) + round_up(math.sqrt(k) * error, 4)
    return min(whole, round_up(of_roots + rest, 4))


def captured_by_pairs(
    raised: Array, inner_length: int, roots: Array, k: int, start: Array | None = None
) -> float:
    """The same from a symmetric matrix A (n, n) nowhere below the Gram matrix of the rows.

    1 < k < n. As Z q = q, <A, Z> = <A + q w^T + w q^T, Z> - 2 <w, q> for every w: with this one
    the roots become an eigenvector. ``start`` (n, r) may be near the other leading ones of what is
    orthogonal to them. ``raised`` is used up.
    """
    n = len(raised)
    products = raised @ roots
    dual = float(roots @ products) * roots - products
    for part in slices(n, ROWS):
        raised[part] += np.outer(roots[part], dual) + np.outer(dual[part], roots)
    sizes = float(np.linalg.norm(dual) * np.linalg.norm(roots))
    first = None if start is None else np.column_stack([roots, start])
    top = top_sum_upper_bound(raised, k, start=first)
    lost = math.sqrt(k) * growth(8) * (norm_from_above(raised) + 4.0 * sizes)
    lost += 2.0 * growth(n + 8) * sizes
    captured = top - 2.0 * float(dual @ roots) + round_up(lost, 2 * n + 8)
    captured += growth(8) * (abs(top) + 2.0 * sizes)
    return round_up(max(0.0, captured), inner_length + 8)
