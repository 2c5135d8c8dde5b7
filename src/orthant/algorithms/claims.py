"""Which ratio a theorem gives for a clustering: what may be promised before the data are seen."""

from __future__ import annotations

import math
from dataclasses import dataclass

from orthant.algorithms.full_rank import FULL_RANK_RATIO
from orthant.kmeans.clustering import Clustering, Ratio

UNIT_ROUNDOFF = 2.0**-53
# Theorem 9's ratio; the last part pays for the angle band being widened by rounding.
BAND_RATIO = FULL_RANK_RATIO * (1.0 + 1e-6)


@dataclass(frozen=True, slots=True)
class APriori:
    """A ratio that an algorithm promises, of its kind; or why it promises none."""

    ratio: float | None = None
    kind: str | None = None  # "always" | "expected"
    reason: str = ""


def single_from_means(clusters: Clustering) -> APriori:
    """Theorem 3: k-means within r gives a squared error within 2r."""
    if clusters.ratio is None:
        return APriori(reason=clusters.reason)
    return APriori(2.0 * clusters.ratio.value, clusters.ratio.kind)


def double_from_means(clusters: Clustering) -> APriori:
    """Theorem 8 on cluster means: k-means within r gives ``2r + 2 c (1 + sqrt r)^2``.

    c is 1 / sin^2(15 degrees). The paper states ``2r + (8r + 8) c`` for the same steps; splitting
    every cluster between its group and zero, and weighting the two triangle inequalities by
    sqrt(r), gives the smaller number.
    """
    if clusters.ratio is None:
        return APriori(reason=clusters.reason)
    r = clusters.ratio.value
    return APriori(_double(2.0 * r, 2.0, r), clusters.ratio.kind)


def double_from_lines(ratio: Ratio) -> APriori:
    """The steps of Theorem 8 on directions whose single-factor error is within r.

    ``(1 + sqrt 3)/2 r + c (1 + sqrt r)^2`` for directions of any kind.
    """
    r = ratio.value
    return APriori(_double((1.0 + math.sqrt(3.0)) / 2.0 * r, 1.0, r), ratio.kind)


def _double(first: float, factor: float, r: float) -> float:
    return first + factor * BAND_RATIO * (1.0 + math.sqrt(r)) ** 2


def in_floating_point(
    promise: APriori, relative_squared_error: float, shape: tuple[int, int], k: int
) -> APriori:
    """The promise with what rounding adds: error <= ratio * optimum + tau |X|^2.

    With tau far below the error that is a slightly larger ratio; otherwise nothing can be said
    but that the error is as small as rounding.
    """
    if promise.ratio is None:
        return promise
    tau = 128.0 * (sum(shape) + k + 16) * UNIT_ROUNDOFF
    if not relative_squared_error > 1e4 * tau:
        return APriori(reason="the error is at the level of rounding")
    ratio = promise.ratio / (1.0 - 2.0 * tau / relative_squared_error)
    return APriori(math.nextafter(ratio * (1 + 1e-12), math.inf), promise.kind, promise.reason)
