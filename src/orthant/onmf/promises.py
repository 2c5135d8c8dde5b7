"""Which ratio a theorem gives for a clustering: what may be promised before the data are seen."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from orthant.certificate import NOTHING_PROMISED, Promise
from orthant.engine.matrix import Matrix
from orthant.factorization import Factorization
from orthant.kmeans.seeding import distance_rounding, seeding_promise
from orthant.numerics.rounding import UNIT_ROUNDOFF

# 1 / sin^2(15 degrees) = 8 + 4 sqrt 3, rounded up.
FULL_RANK_RATIO = math.nextafter(8.0 + 4.0 * math.sqrt(3.0), math.inf)
# The ratio of Theorem 9 in floating point: the rest pays for a wider band of angles.
BAND_RATIO = FULL_RANK_RATIO * (1.0 + 1e-6)


def single_from_lines(k: int) -> Promise:
    """Plain draws in the geometry of lines, from all points, and whatever only improves them.

    Lines compare with the error itself, so the ratio of the draws is not doubled.
    """
    # With one direction, a drawn point costs twice the optimum on average.
    return seeding_promise(k) if k > 1 else Promise(2.004, "expected")


def single_from_means(promise: Promise) -> Promise:
    """Theorem 3: k-means within r gives a squared error within 2r."""
    return promise if promise.ratio is None else replace(promise, ratio=2.0 * promise.ratio)


def double_from_means(promise: Promise) -> Promise:
    """Theorem 8 on cluster means: k-means within r gives ``2r + 2 c (1 + sqrt r)^2``.

    c is 1 / sin^2(15 degrees). The paper states ``2r + (8r + 8) c`` for the same steps; splitting
    every cluster between its group and zero, and weighting the two triangle inequalities by
    sqrt(r), gives the smaller number.
    """
    if promise.ratio is None:
        return promise
    r = promise.ratio
    return replace(promise, ratio=2.0 * r + 2.0 * BAND_RATIO * (1.0 + math.sqrt(r)) ** 2)


def in_sequence(first: Promise, second: Promise) -> Promise:
    """One side, then the other as the first sees it: the ratios of the two add up.

    What groups of one side see costs the other no more than all of X does, whatever the groups.
    """
    if first.ratio is None or second.ratio is None:
        return first if first.ratio is None else second
    kind = "expected" if "expected" in (first.kind, second.kind) else "always"
    return Promise(math.nextafter(first.ratio + second.ratio, math.inf), kind)


def promise_for(matrix: Matrix, result: Factorization, promise: Promise) -> Promise:
    """What a promise of exact arithmetic is worth for this result; none for a zero matrix."""
    if not matrix.complete or promise.ratio is None:
        return promise
    if not matrix.total > 0:
        return NOTHING_PROMISED
    if matrix.dtype != np.float64:
        return Promise(reason="the promise covers float64 data; these are float32")
    error, asked = result.relative_squared_error, result.n_components
    # With a core two sides are solved in sequence: what rounding adds to each adds up.
    sizes = asked if isinstance(asked, tuple) else (asked,)
    return in_floating_point(promise, error, matrix.shape, max(sizes), len(sizes))


def in_floating_point(
    promise: Promise,
    relative_squared_error: float,
    shape: tuple[int, int],
    k: int,
    n_sides: int = 1,
) -> Promise:
    """The promise with what rounding adds: error <= ratio * optimum + share * |X|^2.

    With that share far below the error it is a slightly larger ratio; otherwise nothing can be
    said but that the error is as small as rounding. Each of ``n_sides`` adds that share. Draws by
    rounded probabilities need every total they were drawn from to be a thousand k times the
    rounding of a distance.
    """
    if promise.ratio is None:
        return promise
    share = n_sides * 128.0 * (sum(shape) + k + 16) * UNIT_ROUNDOFF
    least = 1e4 * share
    if promise.kind == "expected":
        rounding = distance_rounding(max(shape))
        drawn = (1000 * k + 5 * (1 + math.log(k)) + 7) * rounding + k * max(shape) * 2.0**-52
        share += n_sides * drawn
        least = max(least, 100 * share)
    if not relative_squared_error > least:
        return Promise(reason="the error is at the level of rounding")
    ratio = promise.ratio / (1.0 - 2.0 * share / relative_squared_error)
    return Promise(math.nextafter(ratio * (1 + 1e-12), math.inf), promise.kind, promise.reason)
