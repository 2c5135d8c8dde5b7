"""k-means++ by the exact law over weighted points, and the ratio that it promises.

Two ways to say how far normalized points are apart, both from their cosine. *Plain*: squared
Euclidean distance, the geometry of the paper. *Lines*: squared sine of the angle, which is the
error of the factorization itself (half the squared distance of the lifted points ``x x^T``). Both
are squared metrics, so seeding and exchanges have the same guarantees in each: `seeding_promise` is
the expected ratio of the draws.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np

from orthonmf.certificate import Promise
from orthonmf.engine.placement import on_host
from orthonmf.engine.points import Distance, Points
from orthonmf.engine.sampling import draw
from orthonmf.rounding import UNIT_ROUNDOFF
from orthonmf.typing import Array

# Points that are proposed at once are half as many as are drawn, or so many.
LEAST_AT_ONCE = 16


def plain(products: Array, squares: Array) -> Array:
    """Squared distance of unit points to centers: ``1 - 2 <x, c> + |c|^2``, (N, c)."""
    return np.maximum(1.0 - 2.0 * products + squares, 0.0)


def lines(products: Array, squares: Array) -> Array:
    """Squared sine of the angle between unit points and centers, (N, c)."""
    cosines_squared = np.divide(
        np.square(products), squares, out=np.zeros_like(products), where=squares > 0
    )
    return np.clip(1.0 - cosines_squared, 0.0, 1.0)


def distance_rounding(dimension: int) -> float:
    """A bound on the rounding error of either distance between points of this dimension."""
    return 10.0 * (dimension + 4) * UNIT_ROUNDOFF


@dataclass(frozen=True, slots=True)
class Drawn:
    """Points that were drawn, and how far all are from the nearest of them."""

    picks: Array  # (c,) positions, in the order of drawing
    labels: Array  # (N,) which of the picks is nearest to every point
    distances: Array  # (N,)


def draw_by_law(
    points: Points, k: int, rng: np.random.Generator, *, distance: Distance = plain
) -> Drawn:
    """Draw up to k points by weight times distance to the nearest one drawn before, in few reads.

    Fewer are drawn when what remains is rounding: then all points coincide with drawn ones.
    Several points are proposed at once, by the distances of the last read, and one after the other
    is taken with the chance by which its distance has shrunk since. A proposal that is taken then
    has the law of a draw by the distances of that moment, so the k points have the law of k draws
    one by one, each in a read of its own.
    """
    weights, n = points.weights, len(points.weights)
    least = distance_rounding(points.dimension) * float(weights.sum())
    distances, labels = np.ones(n), np.zeros(n, dtype=np.intp)
    drawn: list[int] = []
    while len(drawn) < k:
        chances = weights * distances
        if not chances.sum() > (least if drawn else 0.0):
            break
        wanted = min(max(LEAST_AT_ONCE, len(drawn) // 2), 2 * (k - len(drawn)))
        picks = draw(chances, wanted if drawn else 1, rng)
        before, most = on_host(distances[picks]), k - len(drawn)
        choose = partial(_take, picks=picks, before=before, most=most, distance=distance, rng=rng)
        # The points are of length one, to rounding: the nearest has the largest product.
        taken, closest, cosines = points.nearest(points.at(picks), choose)
        smallest = distance(cosines[:, None], np.ones(1))[:, 0]
        smallest[picks[taken]] = 0.0
        if drawn:
            labels = np.where(smallest < distances, closest + len(drawn), labels)
            smallest = np.minimum(smallest, distances)
        distances = smallest
        drawn += [int(pick) for pick in picks[taken]]
    return Drawn(np.array(drawn, dtype=np.int64), labels, distances)


def _take(
    cosines: Array,
    picks: Array,
    before: Array,
    most: int,
    distance: Distance,
    rng: np.random.Generator,
) -> list[int]:
    """Which proposals are taken, by their products (c, c) and distances to what was drawn (c,)."""
    between = distance(cosines, np.diag(cosines))
    between[picks[:, None] == picks] = 0.0
    taken: list[int] = []
    now = before
    for number, chance in enumerate(rng.random(len(before))):
        if chance * before[number] < now[number] and len(taken) < most:
            taken.append(number)
            now = np.minimum(now, between[:, number])
    return taken


def seeding_promise(k: int) -> Promise:
    """What plain draws guarantee: ``5 (1 + H_{k-1})`` times the optimum in expectation.

    Holds in the plain and in the line geometry, for the seeds and whatever only lowers their
    cost. The factor 1.002 pays for drawing by rounded probabilities. With one cluster the mean
    is optimal.
    """
    if k == 1:
        return Promise(1.0, "always")
    harmonic = sum(1.0 / j for j in range(1, k))
    return Promise(1.002 * 5.0 * (1.0 + harmonic), "expected")
