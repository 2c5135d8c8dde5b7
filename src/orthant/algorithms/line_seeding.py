"""First directions: drawn by what the directions so far fail to capture, then exchanged.

k-means++ on lines. Drawing from all points keeps the guarantee of the draws; drawing from a
weighted sample costs a few sweeps instead of k and keeps none.
"""

from __future__ import annotations

import numpy as np

from orthant.algorithms.descent import descend
from orthant.arrays import Array
from orthant.engine.points import Points, Samples
from orthant.kmeans.geometry import lines
from orthant.kmeans.local_search import Exchange, random_exchanges
from orthant.kmeans.seeding import seed

# A sample this size finds the same directions as all points do.
SAMPLE_SIZE = 1000
SAMPLE_PER_COMPONENT = 40
# Sampling pays when there are this many times more points.
WORTH_SAMPLING = 4
# Exchanges keep the distances of all points to all directions; more than this are too many.
MOST_DISTANCES = 2**21
SAMPLE_SWEEPS = 20
SAMPLE_TOL = 1e-4


def sample_size(k: int) -> int:
    """How many points a sample for k directions holds."""
    return max(SAMPLE_SIZE, SAMPLE_PER_COMPONENT * k)


def may_sample(points: Points, k: int) -> bool:
    """Whether there are so many points, or points times directions, that a sample pays."""
    n, size = len(points.weights), sample_size(k)
    many = n > WORTH_SAMPLING * size or (n > 2 * size and n * k > MOST_DISTANCES)
    return isinstance(points, Samples) and many


def drawn_directions(points: Points, k: int, rng: np.random.Generator, *, exchanges: bool) -> Array:
    """The form of up to k directions drawn from all points, exchanged if asked for."""
    form = points.at(seed(points, k, rng, distance=lines))
    if not exchanges:
        return form
    exchange = Exchange(points, form, lines)
    random_exchanges(exchange, n_exchanges(k), rng)
    return exchange.form


def sampled_directions(
    points: Samples, k: int, rng: np.random.Generator, *, exchanges: bool
) -> Array:
    """The same from a weighted sample, fitted to it."""
    sample = weighted_sample(points, sample_size(k), rng)
    form = drawn_directions(sample, k, rng, exchanges=exchanges)
    return descend(sample, form, max_iter=SAMPLE_SWEEPS, tol=SAMPLE_TOL).form


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


def n_exchanges(k: int) -> int:
    """How many exchanges to try: with many directions each is less likely to help."""
    return max(25, 2 * k)
