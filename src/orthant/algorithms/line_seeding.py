"""First directions: drawn by what the directions so far fail to capture, then exchanged.

k-means++ on lines. Drawing from all points keeps the guarantee of the draws; drawing from a
weighted sample costs a few sweeps instead of k and keeps none.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from orthant.algorithms.descent import descend
from orthant.algorithms.single_moves import single_points_matter
from orthant.algorithms.solution import Solution
from orthant.arrays import Array
from orthant.engine.points import Points, Samples
from orthant.kmeans.geometry import lines
from orthant.kmeans.local_search import Nearest, best_exchanges
from orthant.kmeans.seeding import seed
from orthant.kmeans.seeding_in_rounds import chosen_columns

# A sample this size finds the same directions as all points do.
SAMPLE_SIZE = 500
SAMPLE_PER_COMPONENT = 20
# So many points are tried as directions.
POOL_SIZE = 40
WIDE_POOL = 100
POOL_PER_COMPONENT = 4
# Exchanges keep the distances of all points to the pool; more than this are too many.
MOST_DISTANCES = 2**24
TRIAL_SWEEPS = 20
TRIAL_TOL = 1e-3
MOST_TRIALS = 3
# Errors that differ by less than this share of themselves count as equal.
AGREEMENT = 1e-3


def sample_size(points: Points, k: int) -> int:
    """How many points a sample for k directions holds: more where few points matter."""
    size = max(SAMPLE_SIZE, SAMPLE_PER_COMPONENT * k)
    return 4 * size if single_points_matter(points.weights, k) else size


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


def fitted_to_all(points: Samples, k: int, rng: np.random.Generator) -> Array:
    """Directions drawn from all points, exchanged and fitted: the best of a few trials.

    Exchanges and sweeps only lower what the draws cost, so the promise of the draws holds.
    """
    size = pool_size(points, k)

    def trial() -> Solution:
        form = Pool(points, size, rng).exchanged(drawn_directions(points, k, rng))
        return descend(points, form, max_iter=TRIAL_SWEEPS, tol=TRIAL_TOL)

    # A pool of all points leaves little to chance.
    return trial().form if len(points.weights) <= WIDE_POOL else agreed(trial, points).form


def fitted_to_sample(
    points: Samples, k: int, rng: np.random.Generator, *, exchanges: bool
) -> Array:
    """Directions from a weighted sample and fitted to it: the best of a few trials.

    Without exchanges it is one trial, and plain draws.
    """
    sample = weighted_sample(points, sample_size(points, k), rng)
    size = pool_size(points, k)

    def trial() -> Solution:
        pool = Pool(sample, size, rng) if exchanges else None
        form = drawn_directions(sample, k, rng) if pool is None else pool.chosen(k, rng)
        return descend(sample, form, max_iter=TRIAL_SWEEPS, tol=TRIAL_TOL)

    return agreed(trial, sample).form if exchanges else trial().form


def agreed(trial: Callable[[], Solution], points: Samples) -> Solution:
    """The best of a few trials: of two that come out equally good, of more where they differ."""
    found = [trial(), trial()]
    total = float(points.weights.sum())
    while len(found) < MOST_TRIALS:
        best = max(solution.captured for solution in found)
        near = sum(best - one.captured <= AGREEMENT * (total - best) for one in found)
        if near >= 2:
            break
        found.append(trial())
    return max(found, key=lambda solution: solution.captured)


class Pool:
    """Some points that may become directions, judged by their distances to some of all points."""

    def __init__(self, points: Samples, size: int, rng: np.random.Generator) -> None:
        self.points = points
        present = np.flatnonzero(points.weights > 0)
        size = min(len(present), size)
        self.members = np.sort(rng.choice(present, size, replace=False))
        self.distances = self._distances(points.at(self.members))
        self.distances[self.members, np.arange(size)] = 0.0

    def _distances(self, form: Array) -> Array:
        return lines(*self.points.cosines_with(form))

    def chosen(self, k: int, rng: np.random.Generator) -> Array:
        """The form of up to k members, exchanged for others until none helps."""
        columns = chosen_columns(self.points.weights, self.distances, self.members, k, rng)
        return self.points.at(self.members[columns])

    def exchanged(self, form: Array) -> Array:
        """Directions of which some are exchanged for members, until none helps."""
        state = Nearest(self.points.weights, self._distances(form))
        for center, number in best_exchanges(state, self.distances).items():
            form[center] = self.points.at(self.members[[number]])[0]
        return form


def weighted_sample(points: Samples, size: int, rng: np.random.Generator) -> Samples:
    """About ``size`` normalised points, each as often as its share of the weight says.

    Systematic sampling: one random offset, equal steps along the cumulated weights. Normalised
    copies of weight one then stand for the weighted points without counting weight twice.
    """
    cumulated = np.cumsum(points.weights)
    places = (np.arange(size) + rng.random()) * (cumulated[-1] / size)
    picks = np.searchsorted(cumulated, places, side="right")
    last = int(np.flatnonzero(points.weights)[-1])
    indices, counts = np.unique(np.minimum(picks, last), return_counts=True)
    return points.sample(indices, counts)
