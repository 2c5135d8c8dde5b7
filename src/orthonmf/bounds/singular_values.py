"""Lower bounds from the singular values: no matrix of rank k comes closer than their tail.

The squared error is at least the sum of all squared singular values but the k largest
(docs/theory/bounds.md, Theorem 7): the trace of the Gram matrix of either side less its k largest
eigenvalues, whichever side the parts are disjoint in.

The Gram matrix G is itself computed. Its entries are sums of non-negative products, each within
g(q) of the truth, q their length, relatively. The projection that would let a one-sided error pass
need not be non-negative on the side whose Gram matrix this is, so the error D of forming G enters
through its norm: the k largest eigenvalues move by at most sqrt(k) |D| <= sqrt(k) g(q) |G| in total
(Ky Fan, Cauchy-Schwarz).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable

import numpy as np

from orthonmf.bounds.eigenvalues import (
    eigenvalues_from_below,
    pairs_for_sum,
    stretch_of,
    top_sum_upper_bound,
)
from orthonmf.bounds.semidefinite import SINGLE_UNDERFLOW, Cover, how_far_below
from orthonmf.certificate import LowerBound
from orthonmf.rounding import (
    SINGLE_ROUNDOFF,
    growth,
    norm_from_above,
    round_down,
    round_up,
    safe_exponent,
    scale_back,
    symmetric,
)
from orthonmf.typing import Array

METHOD = "its singular values"
METHOD_IN_GROUPS = "the singular values of groups of points"
NEGLIGIBLE_LOSS = 2e-4  # what the error of a rough matrix may cost, as a part of the bound
MORE_VECTORS = 10  # how many vectors are used in addition to k: they widen the gap


def tail_from_gram(gram: Array, n_components: int, inner_length: int) -> LowerBound:
    """The tail of the singular values from the Gram matrix of one side, usually tight to 1e-4.

    ``gram`` (p, p), float64, is the computed Gram matrix of a non-negative matrix, the cheaper
    side of it; ``inner_length`` is the length of its inner products, that is the other side of
    the matrix, plus any roundings that the entries went through before (two for a weight).
    However the products were blocked, the value never exceeds the squared error of any
    factorization with ``n_components`` components, rounding included. Costs one Cholesky
    factorization of side p and as much again to check it, both in float32 where that is enough.
    """
    p = len(gram)
    # No entry of a Gram matrix exceeds the largest on its diagonal.
    largest = float(np.diagonal(gram).max(initial=0.0))
    if n_components >= p or not 0.0 < largest < math.inf:
        return LowerBound(0.0, METHOD)
    exponent = safe_exponent(largest)
    matrix = symmetric(gram if exponent == 0 else np.ldexp(gram, -exponent))
    top = top_sum_upper_bound(matrix, n_components)
    if top is None:
        return LowerBound(0.0, METHOD)
    formed = math.sqrt(n_components) * growth(inner_length) * norm_from_above(matrix)
    trace = float(np.trace(matrix))
    value = round_down(trace, inner_length + p) - top - round_up(formed, 4)
    value -= growth(4) * (trace + abs(top) + formed)
    return LowerBound(scale_back(value, exponent, p * p * inner_length), METHOD)


def tail_from_groups(grams: Iterable[Array], n_components: int, inner_length: int) -> LowerBound:
    """The sum of the tails of groups of rows, or of columns, that share none.

    It bounds the squared error of the whole (Theorem 11). ``grams`` yields the Gram matrix of one
    group after the other, so that only one is in memory.
    """
    values = [tail_from_gram(gram, n_components, inner_length).value for gram in grams]
    return LowerBound(round_down(math.fsum(values), 1), METHOD_IN_GROUPS)


def tail_from_rough_gram(
    gram: Array,
    n_components: int,
    inner_length: int,
    *,
    summands: int,
    total: float,
    capture: Callable[[Array], Array],
) -> LowerBound | None:
    """The tail from a Gram matrix in float32, at half the price; None where that is too far off.

    Sums of its eigenvalues would move by its whole error. But its leading eigenvectors W (m, l),
    l >= k, are nearly those of G, and what they capture of Y, T = W^T G W, can be computed in
    float64 for little more than one sweep. The rough matrix only has to prove that nothing large
    lies beyond them, and its error enters squared: with R the rest of G W, orthogonal to W,
    G <= h I on vectors orthogonal to W, and e = (k-th eigenvalue of T) - h > 0, the k largest
    eigenvalues of G sum up to no more than those of T + R^T R / e (docs/theory/bounds.md, a rough
    matrix).

    ``gram`` B (m, m), float64, holds sums of products of non-negative numbers that were rounded
    to float32, ``summands`` of them added up in float32 at a time, ``inner_length`` or fewer in
    all, with the roundings of weights; ``total`` is |Y|^2 in float64, and ``capture`` gives
    V^T Y^T Y V (l, l) in float64 for vectors V^T (l, m). Entries of Y are at most about 1.

    With V for W, about orthonormal, |V^T V - I| <= s, all of this holds for the matrices
    V^T G V and M = G V - V diag(values) in place of T and R, when the result is divided by
    1 - s. An entry of B is within g = g32(summands + 3) + g(inner_length) of the true one, so that
    |G - B| <= d := g / (1 - g) |B|, underflow added, and M differs from the computed one by no
    more than d (1 + s) and its own rounding, c together: with P the product of the computed one
    with itself,  M^T M <= 4 P + (4/3) C  for some C >= 0 of trace c^2 at most. What rounding does
    to V^T G V is at most 4 g(inner_length) |Y|^2 |V|^2, to P no more than g(p + 1) of its trace.
    """
    k, p = n_components, len(gram)
    share = growth(summands + 3, SINGLE_ROUNDOFF) + growth(inner_length)
    size = norm_from_above(gram)
    if k >= p or not (share < 0.5 and size < math.inf):
        return None
    distance = round_up(share / (1.0 - share) * size, 4) + p * inner_length * SINGLE_UNDERFLOW
    pairs = pairs_for_sum(gram, k)
    values = pairs.values[: k + MORE_VECTORS]
    vectors = np.ascontiguousarray(pairs.vectors[:, : len(values)])
    stretch = stretch_of(vectors) - 1.0
    gap = _gap(gram, k, values, vectors, distance)
    if not (gap > 0.0 and stretch < 0.5):
        return None
    length = norm_from_above(vectors)
    residuals = gram @ vectors - vectors * values
    unseen = (1.0 + stretch) * distance + growth(p + 4) * (size + float(values[0])) * length
    captured = capture(vectors.T)
    small = symmetric(captured + residuals.T @ residuals * (4.0 / gap))
    top = top_sum_upper_bound(small, k) if k < len(small) else round_up(float(np.trace(small)), k)
    if top is None:
        return None
    whole = round_up(total, 2 * inner_length)
    terms = whole * length**2 + 4.0 * norm_from_above(residuals) ** 2 / gap
    rounding = 4.0 * growth(inner_length + p + 8) * terms
    loss = round_up(4.0 / 3.0 * unseen**2 / gap, 8) + round_up(math.sqrt(k) * rounding, 8)
    top = round_up((top + loss) / (1.0 - stretch), 8)
    value = round_down(total, 2 * inner_length) - top - growth(4) * (whole + top)
    from_below = float(np.diagonal(captured)[:k].sum())
    if total - from_below - value > NEGLIGIBLE_LOSS * value:
        return None
    return LowerBound(value, METHOD)


def _gap(gram: Array, k: int, values: Array, vectors: Array, distance: float) -> float:
    """A lower bound on the k-th eigenvalue of G within the vectors less all of those beyond.

    The cover of B has more than enough along V, which does not count on vectors orthogonal to V.
    """
    level = float(values[k - 1] + values[-1]) / 2.0
    excess = np.maximum(values + float(values[0]), 0.0)
    below = how_far_below(gram, Cover(level, excess, vectors))
    if below is None:
        return 0.0
    kth = float(eigenvalues_from_below(gram, vectors)[k - 1])
    slack = growth(8) * (abs(kth) + abs(level) + below + distance)
    return kth - level - below - 2.0 * distance - slack
