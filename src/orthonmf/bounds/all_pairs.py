"""Lower bounds over one side from a multiplier for all pairs of points.

With G the Gram matrix of the rows of X, every symmetric N >= 0, entry by entry, proves

    squared error >= |X|^2 - (sum of the k largest eigenvalues of G + N)

(docs/theory/bounds.md, Theorem 8), which for N = 0 is the tail of the singular values. `relaxation`
seeks a good N, and `prove_raised` says what a stored one proves, whatever it is.
"""

from __future__ import annotations

import math

import numpy as np

from orthonmf.bounds.allowance import Allowance, pairs_proof_seconds
from orthonmf.bounds.eigenvalues import top_sum_upper_bound
from orthonmf.bounds.relaxation import DOUBLE_SIDE, Aim, raise_matrix, search
from orthonmf.certificate import LowerBound
from orthonmf.rounding import growth, round_down, safe_exponent, scale_back, symmetric
from orthonmf.typing import Array

METHOD = "a dual solution for all pairs of points"

# The search ends when 20 iterations gain no more than this part of the bound, or after so many.
PRECISION, MAX_ITER = 1e-4, 200
# The same up to `DOUBLE_SIDE`, where iterations cost next to nothing.
SMALL_PRECISION, SMALL_MAX_ITER = 2e-8, 1000
GAP = 5e-4  # it ends also when the bound is within this part of the error in hand


def all_pairs_bound(
    gram: Array,
    n_components: int,
    inner_length: int,
    allowance: Allowance,
    *,
    upper: float = math.inf,
    max_iter: int | None = None,
) -> LowerBound:
    """The best bound found for a solution with disjoint parts over the rows of X.

    ``gram`` (n, n), float64, is the computed Gram matrix of these rows: not of the other side.
    ``inner_length`` is the length of its inner products (see `tail_from_gram`). The search ends
    once the bound is near ``upper`` (the squared error in hand, if known), when it gains no more,
    and after ``max_iter`` iterations. ``gram`` itself is changed.
    """
    n = len(gram)
    largest = float(np.diagonal(gram).max(initial=0.0))
    if n_components >= n or not 0.0 < largest < math.inf:
        return LowerBound(0.0, METHOD)
    exponent = safe_exponent(largest)
    if exponent:
        np.ldexp(gram, -exponent, out=gram)
    trace = float(np.trace(gram))
    if n_components > 1:  # one part is exact without
        upper = math.ldexp(upper, -exponent) if upper < math.inf else trace
        precision, most = PRECISION, MAX_ITER
        if n <= DOUBLE_SIDE:
            precision, most = SMALL_PRECISION, SMALL_MAX_ITER
        aim = Aim(trace, precision, target_captured(trace, upper), max_iter or most)
        reserve = pairs_proof_seconds(n)
        multiplier = search(gram, n_components, aim, allowance, reserve=reserve)
        raise_matrix(gram, multiplier)
        start = multiplier.vectors
        del multiplier  # the proof needs the room
    else:
        gram, start = symmetric(gram), None
    value = prove_raised(gram, trace, n_components, inner_length, start)
    return LowerBound(scale_back(value, exponent, n * n * inner_length), METHOD)


def target_captured(trace: float, upper: float) -> float:
    """What a solution within `GAP` of the squared error in hand captures: where a search ends."""
    return trace - min(upper, trace) * (1.0 - GAP)


def prove_raised(
    raised: Array, trace: float, k: int, inner_length: int, start: Array | None = None
) -> float:
    """What a symmetric ``raised >= gram`` proves, with every rounding on the safe side.

    ``start`` (n, r) may be near its leading eigenvectors.
    ``trace`` is the computed one of the Gram matrix G. Entry by entry the exact G is at most
    1 + g(q) times the computed one, which is at most ``raised``; and what a solution captures is
    <G, Z> with Z >= 0. So the error of forming G is a factor, and ``raised - gram`` is an exact N
    however ``raised`` was computed.
    """
    top = top_sum_upper_bound(raised, k, start=start)
    # <G, Z> is never negative, so neither is the bound that is needed here.
    captured = max(0.0, top) * (1.0 + growth(inner_length)) * (1.0 + growth(4))
    return round_down(trace, inner_length + len(raised)) - captured - growth(2) * trace
