"""k-means++ seeding by the exact law, over weighted points, and its greedy variant."""

from __future__ import annotations

import math

import numpy as np

from orthant.engine.points import Points
from orthant.kmeans.clustering import Ratio
from orthant.kmeans.geometry import Distance, distance_rounding, plain
from orthant.numerics.arrays import Array


def seed(
    points: Points,
    k: int,
    rng: np.random.Generator,
    *,
    distance: Distance = plain,
    candidates: int = 1,
) -> Array:
    """Draw up to k points, each with probability proportional to weight times squared distance.

    Fewer are drawn when what remains is rounding: then all points coincide with drawn ones.
    With more than one candidate per draw the one that lowers the cost most is kept (greedy),
    which is a different law and carries no guarantee.

    Returns
    -------
    Positions of the drawn points, in the order of drawing.
    """
    weights = points.weights
    # A total below this is rounding and must not be drawn from.
    nothing = distance_rounding(points.dimension) * weights.sum()
    drawn: list[int] = []
    distances = np.ones(len(weights))
    while len(drawn) < k:
        chances = weights * distances
        total = chances.sum()
        if not total > (nothing if drawn else 0.0):
            break
        picks = draw(chances, candidates if drawn else 1, rng)
        nearer = distance(*points.cosines_with(points.at(picks)))
        np.minimum(nearer, distances[:, None] if drawn else np.inf, out=nearer)
        nearer[picks, np.arange(len(picks))] = 0.0
        best = int((weights @ nearer).argmin()) if len(picks) > 1 else 0
        distances = nearer[:, best]
        distances[drawn] = 0.0
        drawn.append(int(picks[best]))
    return np.array(drawn, dtype=np.int64)


def draw(chances: Array, size: int, rng: np.random.Generator) -> Array:
    """Draw positions with probability proportional to their chances, with replacement."""
    cumulated = np.cumsum(chances)
    picks = np.searchsorted(cumulated, rng.random(size) * cumulated[-1], side="right")
    # Rounding may point just past the end, where the last position with a chance is meant.
    return np.minimum(picks, np.flatnonzero(chances)[-1])


def draw_distinct(chances: Array, size: int, rng: np.random.Generator) -> Array:
    """Draw up to ``size`` different positions one after the other, each by the chances left.

    Each position waits an exponential time at the rate of its chance; the first to arrive win.
    """
    rates = np.where(chances > 0, chances, np.nan)  # what has no chance never arrives
    with np.errstate(over="ignore"):
        arrivals = rng.standard_exponential(len(chances)) / rates
    size = min(size, int(np.count_nonzero(chances > 0)))
    return np.sort(np.argpartition(arrivals, max(size - 1, 0))[:size])


def greedy_candidates(k: int) -> int:
    """How many candidates the greedy variant tries for each draw."""
    return 2 + int(math.log(k))


def seeding_ratio(k: int) -> Ratio:
    """What plain draws guarantee: ``5 (1 + H_{k-1})`` times the optimum in expectation.

    Holds in the plain and in the line geometry, for the seeds and whatever only lowers their
    cost. The factor 1.002 pays for drawing by rounded probabilities. With one cluster the mean
    is optimal.
    """
    if k == 1:
        return Ratio(1.0, "always")
    harmonic = sum(1.0 / j for j in range(1, k))
    return Ratio(1.002 * 5.0 * (1.0 + harmonic), "expected")
