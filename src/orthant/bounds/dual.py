"""Lower bounds from the dual of the doubly non-negative relaxation: tight, for a few hundred rows.

Let G be the Gram matrix of the rows of X and W the loadings of a solution over samples, scaled
so that its k columns are orthonormal. The solution leaves |X|^2 - <G, Z> with Z = W W^T, which is
non-negative entry by entry, has trace k and lies between 0 and I. A partition into fewer blocks
can be split without loss, so exactly k columns may be assumed when there are at least k rows.
Adding to G any symmetric N >= 0 entry by entry can only raise <G, Z>, and <G + N, Z> is at most the
sum of the k largest eigenvalues of G + N (Ky Fan). So every such N proves

    squared error >= |X|^2 - (sum of the k largest eigenvalues of G + N),

which for N = 0 is the tail of the singular values. The best N is sought by ADMM on the relaxed
problem max <G, Z>; its multiplier of Z >= 0 is an admissible N after every iteration.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterable

import numpy as np

from orthant.bounds.eigenvalue_sums import top_sum_upper_bound
from orthant.bounds.lower_bound import LowerBound
from orthant.numerics.arrays import Array
from orthant.numerics.rounding import (
    growth,
    round_down,
    safe_exponent,
    scaled_back,
    symmetric,
)

METHOD = "a dual solution"
METHOD_IN_BATCHES = "dual solutions for batches of rows"

OVER_RELAXATION = 1.6
CHECK_EVERY = 20
FIRST_PENALTY = 100.0
"""In units of the k-th eigenvalue, the scale on which the multipliers live."""

IMBALANCE = 2.0
"""The penalty follows when one of the two residuals exceeds the other by this factor."""

PATIENCE = 10
NO_PROGRESS = 1e-5
"""Stop when this many checks together have raised the bound by no more than this part."""


def dual_bound(
    gram: Array,
    n_components: int,
    inner_length: int,
    *,
    upper: float | None = None,
    gap: float = 1e-3,
    time_limit: float = math.inf,
    max_iter: int = 1000,
) -> LowerBound:
    """The best dual bound found for a solution with disjoint parts over the rows of X.

    ``gram`` (n, n), float64, is the computed Gram matrix of these rows: not of the other side.
    ``inner_length`` is the length of its inner products (see `tail_from_gram`). The search ends
    once the bound is within ``gap`` of ``upper`` (the squared error in hand, if known), after
    ``max_iter`` iterations or ``time_limit`` seconds, or when it makes no more progress. Only the
    best N is proven with rounding accounted for; never below the tail of the singular values
    by more than that rounding. While n is a few hundred, one BLAS thread is the fastest.
    """
    n = len(gram)
    largest = float(np.diagonal(gram).max(initial=0.0))
    if n_components >= n or not 0.0 < largest < math.inf:
        return LowerBound(0.0, METHOD)
    exponent = safe_exponent(largest)
    matrix = symmetric(gram if exponent == 0 else np.ldexp(gram, -exponent))
    if upper is not None:
        upper = math.ldexp(upper, -exponent)
    raised = _best_raised_gram(
        matrix, n_components, upper, gap, time.perf_counter() + time_limit, max_iter
    )
    value = max(
        _proven_value(matrix, candidate, n_components, inner_length)
        for candidate in (raised, matrix)
    )
    return LowerBound(scaled_back(value, exponent, n * n * inner_length), METHOD)


def dual_bound_in_batches(
    grams: Iterable[Array],
    n_components: int,
    inner_length: int,
    *,
    n_batches: int,
    gap: float = 1e-3,
    time_limit: float = math.inf,
    max_iter: int = 1000,
) -> LowerBound:
    """The sum of the dual bounds of batches of rows that share no row.

    A solution restricted to a batch is a solution for the batch with no more components, and
    squared errors add up over rows; so the sum bounds the squared error of the whole. ``grams``
    yields the Gram matrix of one batch after the other, so that only one is in memory. What is
    left of ``time_limit`` is shared equally by the ``n_batches - done`` batches to come; a
    batch that gets no time still contributes the tail of its singular values.
    """
    deadline = time.perf_counter() + time_limit
    values = [0.0]
    for done, gram in enumerate(grams):
        share = max(0.0, deadline - time.perf_counter()) / max(1, n_batches - done)
        bound = dual_bound(
            gram, n_components, inner_length, gap=gap, time_limit=share, max_iter=max_iter
        )
        values.append(bound.value)
    return LowerBound(round_down(math.fsum(values), 1), METHOD_IN_BATCHES)


def _proven_value(gram: Array, raised: Array, k: int, inner_length: int) -> float:
    """What ``raised >= gram`` proves, with every rounding on the safe side.

    Entry by entry the exact Gram matrix is at most 1 + g(q) times the computed one, which is at
    most ``raised``; and Z is non-negative. So the error of forming the Gram matrix is a factor,
    and ``raised - gram`` is an exact N however ``raised`` was computed.
    """
    n = len(gram)
    top = top_sum_upper_bound(raised, k)
    if top is None:
        return 0.0
    trace = float(np.trace(gram))
    # <G, Z> is never negative, so neither is the bound that is needed here.
    captured = max(0.0, top) * (1.0 + growth(inner_length)) * (1.0 + growth(4))
    return round_down(trace, inner_length + n) - captured - growth(2) * trace


def _best_raised_gram(
    gram: Array, k: int, upper: float | None, gap: float, deadline: float, max_iter: int
) -> Array:
    """G + N with the smallest sum of k largest eigenvalues that ADMM comes across.

    Minimizes -<G, Z> with Z in the Fantope (0 <= Z <= I, trace k) and its copy Y >= 0; ``dual``
    is the scaled multiplier, at most 0 after every step, so N = -penalty * dual is admissible.
    """
    n = len(gram)
    trace = float(np.trace(gram))
    values = np.linalg.eigvalsh(gram)
    best, best_value = gram, trace - float(values[n - k :].sum())
    target = math.inf if upper is None else upper / (1.0 + gap)
    penalty = FIRST_PENALTY * max(float(values[n - k]), 1e-12 * float(values[-1]))
    positive, dual = np.eye(n) * (k / n), np.zeros((n, n))
    progress = [best_value]
    for iteration in range(1, max_iter + 1):
        if best_value >= target or time.perf_counter() >= deadline:
            break
        point = gram / penalty
        point += positive
        point -= dual
        bounded = _project_to_fantope(point, k)
        moved = OVER_RELAXATION * bounded + (1.0 - OVER_RELAXATION) * positive + dual
        clipped = np.maximum(moved, 0.0)
        dual = moved - clipped
        primal_residual = float(np.linalg.norm(bounded - clipped))
        dual_residual = float(np.linalg.norm(clipped - positive))
        positive = clipped
        if iteration % CHECK_EVERY and iteration != max_iter:
            continue
        raised = symmetric(np.maximum(gram - penalty * dual, gram))
        top = np.linalg.eigvalsh(raised)[n - k :]
        if (value := trace - float(top.sum())) > best_value:
            best, best_value = raised, value
        progress.append(best_value)
        if len(progress) > PATIENCE and (
            best_value - progress[-PATIENCE - 1] <= NO_PROGRESS * max(best_value, 0.0)
        ):
            break
        if primal_residual > IMBALANCE * dual_residual:
            penalty, dual = penalty * 2.0, dual / 2.0
        elif dual_residual > IMBALANCE * primal_residual:
            penalty, dual = penalty / 2.0, dual * 2.0
    return best


def _project_to_fantope(point: Array, k: int) -> Array:
    """The nearest matrix to ``point`` (n, n) with eigenvalues in [0, 1] that sum to k.

    Its eigenvalues are those of ``point`` less a common shift, clipped.
    """
    values, vectors = np.linalg.eigh(point)
    shift = _fantope_shift(values[::-1], k)
    clipped = np.clip(values - shift, 0.0, 1.0)
    active = clipped > 0.0
    scaled = vectors[:, active] * np.sqrt(clipped[active])
    return scaled @ scaled.T


def _fantope_shift(values: Array, k: int) -> float:
    """The s for which clip(values - s, 0, 1) sums to k; ``values`` descending, k or more of them.

    The sum falls piecewise linearly in s with kinks at every value and value - 1: the kink
    before the crossing is found by bisection over the sorted kinks, the rest is one division.
    """
    kinks = np.sort(np.concatenate([values, values - 1.0]))
    low, high = (
        0,
        len(kinks) - 1,
    )  # the sum is the number of values at the first kink, 0 at the last
    while high - low > 1:
        middle = (low + high) // 2
        if np.clip(values - kinks[middle], 0.0, 1.0).sum() >= k:
            low = middle
        else:
            high = middle
    at_low = float(np.clip(values - kinks[low], 0.0, 1.0).sum())
    at_high = float(np.clip(values - kinks[high], 0.0, 1.0).sum())
    if at_low <= at_high:
        return float(kinks[low])
    share = (at_low - k) / (at_low - at_high)
    return float(kinks[low] + share * (kinks[high] - kinks[low]))
