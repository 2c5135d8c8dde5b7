"""First directions: drawn by what the directions so far fail to capture, then exchanged.

k-means++ on lines. Drawing from all points keeps the guarantee of the draws; drawing from a
weighted sample costs a few sweeps instead of k and keeps none.
"""

from __future__ import annotations

import numpy as np

from orthant.engine.points import Points, Samples, unit_lengths
from orthant.kmeans.geometry import lines
from orthant.kmeans.local_search import Nearest, best_exchanges
from orthant.kmeans.seeding import draw_distinct, seed
from orthant.kmeans.seeding_in_rounds import chosen_columns
from orthant.numerics.arrays import Array
from orthant.onmf.descent import descend
from orthant.onmf.moves import single_points_matter

# A sample this size finds the same directions as all points do.
SMALL_SAMPLE = 500
LARGE_SAMPLE = 1000
SAMPLE_PER_COMPONENT = 20
# So many groups of points are tried as components.
POOL_ROUNDS = 3
POOL_SIZE = 40
WIDE_POOL = 100
POOL_PER_COMPONENT = 4
# Exchanges keep the distances of all points to the pool; more than this are too many.
MOST_DISTANCES = 2**24
SAMPLE_SWEEPS = 20
SAMPLE_TOL = 1e-3


def sample_size(points: Points, k: int) -> int:
    """How many points a sample for k directions holds: more where few points matter."""
    sixth = min(len(points.weights) // 6, LARGE_SAMPLE)
    size = max(SMALL_SAMPLE, sixth, SAMPLE_PER_COMPONENT * k)
    return 2 * size if single_points_matter(points.weights, k) else size


def pool_size(points: Points, k: int) -> int:
    """How many points may become one of k directions: more where few points matter."""
    least = WIDE_POOL if single_points_matter(points.weights, k) else POOL_SIZE
    return max(least, POOL_PER_COMPONENT * k)


def may_sample(points: Samples, k: int) -> bool:
    """Whether there are more points than a sample holds."""
    return len(points.weights) > sample_size(points, k)


def may_exchange(points: Samples, k: int) -> bool:
    """Whether the distances of all points to a pool fit into memory."""
    return points.at_hand and len(points.weights) * pool_size(points, k) <= MOST_DISTANCES


def drawn_directions(points: Points, k: int, rng: np.random.Generator) -> Array:
    """The form of up to k directions drawn from all points, one by one."""
    return points.at(seed(points, k, rng, distance=lines))


def drawn_and_exchanged(points: Samples, k: int, rng: np.random.Generator) -> Array:
    """Directions drawn from all points and exchanged for those of groups.

    Exchanges only lower what the draws cost, so the promise of the draws holds.
    """
    drawn = drawn_directions(points, k, rng)
    return Pool(points, pool_size(points, k), rng).exchanged(drawn)


def chosen_for_sample(points: Samples, k: int, rng: np.random.Generator) -> Array:
    """Directions of groups of points, chosen for a weighted sample.

    Where the sample holds fewer different ones than that, they are drawn from all points.
    """
    sample = weighted_sample(points, sample_size(points, k), rng)
    form = Pool(sample, pool_size(points, k), rng).chosen(k)
    return form if len(form) == k else drawn_directions(points, k, rng)


def drawn_from_sample(points: Samples, k: int, rng: np.random.Generator) -> Array:
    """Directions drawn from a weighted sample and fitted to it."""
    sample = weighted_sample(points, sample_size(points, k), rng)
    drawn = drawn_directions(sample, k, rng)
    return descend(sample, drawn, max_iter=SAMPLE_SWEEPS, tol=SAMPLE_TOL).form


class Pool:
    """Directions of small groups of points, any of which may become a component's.

    The groups are the points nearest to each of a few that were drawn, in rounds, by what those
    drawn before fail to capture. A group stands for a component much better than one point does:
    noise of its points cancels.
    """

    def __init__(self, points: Samples, size: int, rng: np.random.Generator) -> None:
        self.points = points
        n, n_seeds = len(points.weights), 0
        labels, cosines, missed = np.zeros(n, dtype=np.int32), np.zeros(n), points.weights
        for _ in range(POOL_ROUNDS):
            drawn = draw_distinct(missed, -(-size // POOL_ROUNDS), rng)
            if len(drawn) == 0:
                break
            products = points.rough_cosines_with(points.at(drawn))
            nearest = products.argmax(axis=1)
            largest = products[np.arange(n), nearest]
            largest[drawn] = 1.0
            labels = np.where(largest > cosines, nearest + n_seeds, labels)
            cosines = np.maximum(largest, cosines)
            missed = points.weights * np.maximum(1.0 - np.square(cosines), 0.0)
            n_seeds += len(drawn)
        self.form = unit_lengths(points.power_step(labels, cosines, n_seeds))
        self.distances = self._distances(self.form)

    def _distances(self, form: Array) -> Array:
        cosines = self.points.rough_cosines_with(form)
        return lines(cosines, np.ones(len(form), dtype=cosines.dtype))

    def chosen(self, k: int) -> Array:
        """The form of up to k directions: groups that stand for all points, and who joins them."""
        columns, nearest = chosen_columns(self.points.weights, self.distances, k)
        cosines = np.sqrt(1.0 - nearest.nearest)
        return self.points.power_step(nearest.labels, cosines, len(columns))

    def exchanged(self, form: Array) -> Array:
        """Directions of which some are exchanged for those of the pool, until none helps."""
        state = Nearest(self.points.weights, self._distances(form))
        for center, number in best_exchanges(state, self.distances).items():
            form[center] = self.form[number]
        return form


def weighted_sample(points: Samples, size: int, rng: np.random.Generator) -> Samples:
    """About ``size`` normalized points, each as often as its share of the weight says.

    Systematic sampling: one random offset, equal steps along the cumulated weights. Normalized
    copies of weight one then stand for the weighted points without counting weight twice.
    """
    cumulated = np.cumsum(points.weights)
    places = (np.arange(size) + rng.random()) * (cumulated[-1] / size)
    picks = np.searchsorted(cumulated, places, side="right")
    last = int(np.flatnonzero(points.weights)[-1])
    indices, counts = np.unique(np.minimum(picks, last), return_counts=True)
    return points.sample(indices, counts)
