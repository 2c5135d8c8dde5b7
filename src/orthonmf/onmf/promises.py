"""From what a clustering promises to what a factorization made of it promises.

The promise of a seeding is in `kmeans/seeding.py`, that of a stable local search in
`kmeans/local_search.py`. Here is also what ratios are worth in floating point.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from orthonmf.certificate import NOTHING_PROMISED, Promise
from orthonmf.engine.losses import FROBENIUS
from orthonmf.engine.matrix import Matrix
from orthonmf.factorization import Factorization
from orthonmf.kmeans.seeding import distance_rounding, seeding_promise
from orthonmf.rounding import UNIT_ROUNDOFF
from orthonmf.steps.weight_reduction import BAND_RATIO

DIVERGENCE = (
    "no ratio is known to us for the draws of a divergence; beta_loss='frobenius' has promises"
)
# What rounding adds, in units of (n + m + k + 16) roundings of the squared norm: to the steps that
# follow a clustering, and to the cost of the clustering itself (docs/theory/rounding.md).
STEPS_SHARE, CLUSTERS_SHARE = 128.0, 8.0
# Draws from a total below KAPPA k roundings of a distance are counted as if they were not made.
KAPPA = 1000


def single_from_means(promise: Promise) -> Promise:
    """Theorem 3: k-means within r gives a squared error within 2r."""
    return promise if promise.ratio is None else replace(promise, ratio=2.0 * promise.ratio)


def single_from_lines(k: int) -> Promise:
    """Plain draws in the geometry of lines, from all points, and whatever only improves them.

    Lines compare with the error itself, so the ratio of the draws is not doubled.
    """
    # With one direction, a drawn point costs twice the optimum on average.
    return seeding_promise(k) if k > 1 else Promise(2.004, "expected")


def double_from_means(promise: Promise) -> Promise:
    """Theorem 8 on cluster means: k-means within r gives ``2r + 2 c (1 + sqrt r)^2``.

    c is 1 / sin^2(15 degrees). The paper states ``2r + (8r + 8) c`` for the same steps; splitting
    every cluster between its group and zero, and weighting the two triangle inequalities by
    sqrt(r), gives the smaller number.
    """
    if promise.ratio is None:
        return promise
    r = promise.ratio
    ratio = 2.0 * r + 2.0 * BAND_RATIO * (1.0 + math.sqrt(r)) ** 2
    return replace(promise, ratio=ratio, amplifies=1.0 + _amplification(r))


def double_from_lines(promise: Promise) -> Promise:
    """Steps 2 and 3 on unit directions that leave at most r times the optimum over one side.

    The error is within ``(1 + sqrt 3) / 2 r + c (1 + sqrt r)^2`` (docs/theory, Theorem 21).
    """
    if promise.ratio is None:
        return promise
    r, share = promise.ratio, (1.0 + math.sqrt(3.0)) / 2.0 * (1.0 + 1e-12)
    ratio = share * r + BAND_RATIO * (1.0 + math.sqrt(r)) ** 2
    return replace(promise, ratio=ratio, amplifies=share + _amplification(r))


def _amplification(r: float) -> float:
    """What one unit more of the cost of clusters may add to the error after steps 2 and 3.

    The slope of ``c (sqrt(cost) + sqrt(best))^2`` where the cost is r times the best.
    """
    return BAND_RATIO * (1.0 + 1.0 / math.sqrt(r))


def in_sequence(first: Promise, second: Promise) -> Promise:
    """One side, then the other as the first sees it: the ratios of the two add up.

    What groups of one side see costs the other no more than all of X does, whatever the groups.
    """
    if first.ratio is None or second.ratio is None:
        return first if first.ratio is None else second
    kind = "expected" if "expected" in (first.kind, second.kind) else "always"
    ratio = math.nextafter(first.ratio + second.ratio, math.inf)
    return Promise(ratio, kind, amplifies=first.amplifies + second.amplifies)


def strongest(promises: Sequence[Promise]) -> Promise:
    """What holds for the best of several answers: what is promised for any one of them.

    Without any promise, why the first that says so promises nothing.
    """
    made = [(promise.ratio, promise) for promise in promises if promise.ratio is not None]
    if made:
        return min(made, key=lambda pair: pair[0])[1]
    return next((promise for promise in promises if promise.reason), NOTHING_PROMISED)


def promise_for(matrix: Matrix, result: Factorization, promise: Promise) -> Promise:
    """What a promise of exact arithmetic is worth for this result; none for a zero matrix."""
    if result.beta_loss != FROBENIUS and not promise.reason:
        return Promise(reason=DIVERGENCE)
    if not matrix.complete or promise.ratio is None:
        return promise
    if not matrix.total > 0:
        return NOTHING_PROMISED
    if matrix.dtype != np.float64:
        return Promise(reason="promises cover float64, and these data are float32")
    if scales_may_vanish(matrix, result):
        return Promise(reason="scales are rounded to subnormal numbers; multiply X by 2.0**600")
    error, asked = result.relative_error, result.n_components
    # With a core two sides are solved in sequence: what rounding adds to each adds up.
    sizes = asked if isinstance(asked, tuple) else (asked,)
    return in_floating_point(promise, error, matrix.shape, max(sizes), len(sizes))


def scales_may_vanish(matrix: Matrix, result: Factorization) -> bool:
    """Whether storing the scales as doubles may have cost more than their own rounding.

    Next to the smallest doubles a scale is off by 2**-1074, not by a share of itself, so that N
    of them are off by sqrt(N) times that: beyond the 53rd digit of a norm above 2**-1000 for every
    N there is memory for. Weights, which span 2**400 at most on either side, may count that more.
    """
    values = result.loadings if result.scales is None else result.scales
    weighted = matrix.row_weights is not None or matrix.column_factors is not None
    return float(values.max(initial=0.0)) < 2.0 ** (-600 if weighted else -1000)


def in_floating_point(
    promise: Promise,
    relative_squared_error: float,
    shape: tuple[int, int],
    k: int,
    n_sides: int = 1,
) -> Promise:
    """The promise with what rounding adds: error <= ratio * optimum + share * |X|^2.

    With that share far below the error it is a slightly larger ratio; otherwise nothing can be
    said but that the error is as small as rounding. Each of ``n_sides`` adds a share of its own,
    and what rounding adds to the cost of clusters, or to draws by rounded probabilities, counts as
    often as the promise says (docs/theory/rounding.md).
    """
    if promise.ratio is None:
        return promise
    roundings = (sum(shape) + k + 16) * UNIT_ROUNDOFF
    share = (STEPS_SHARE * n_sides + CLUSTERS_SHARE * promise.amplifies) * roundings
    least = 1e4 * share
    if promise.kind == "expected":
        rounding = distance_rounding(max(shape))
        drawn = (KAPPA * k + 5 * (1 + math.log(k)) + 7) * rounding + k * max(shape) * 2.0**-52
        share += promise.amplifies * drawn
        least = max(least, 100 * share)
    if not relative_squared_error > least:
        return Promise(reason="the error is at the level of rounding")
    ratio = promise.ratio / (1.0 - 2.0 * share / relative_squared_error)
    # What was amplified is counted now.
    return replace(promise, ratio=math.nextafter(ratio * (1 + 1e-12), math.inf), amplifies=1.0)
