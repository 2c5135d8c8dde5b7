"""Weighted k-means||: many candidates in a few reads of the data, then k of the candidates.

Drawing one point at a time reads the data k times. Here every read draws about twice as many
points as centers are wanted, each independently with a chance proportional to what the
candidates so far fail to capture. A last read weighs the candidates, and the k that represent
the others best are chosen from their Gram matrix alone. No ratio is claimed for the outcome.
"""

from __future__ import annotations

import numpy as np

from orthant.engine.points import Points
from orthant.kmeans.geometry import Distance, lines
from orthant.kmeans.local_search import Nearest, best_exchanges
from orthant.kmeans.seeding import draw
from orthant.numerics.arrays import Array

ROUNDS = 3
CANDIDATES_PER_CENTER = 2
# Below this a rate would be infinite, and infinite times a point that misses nothing is no chance.
LEAST_MISSED = 2.0**-900


def seed_in_rounds(
    points: Points, k: int, rng: np.random.Generator, *, distance: Distance = lines
) -> Array:
    """The form of up to k points that stand for all, in ``ROUNDS + 1`` reads of the data.

    Over features one more read gives the Gram matrix of the candidates.

    The distance decides chances and the final choice; points of weight zero are never drawn.
    """
    key = int(rng.integers(2**63))
    form = points.at(draw(points.weights, 1, rng))
    missed = float(points.weights.sum()) * distance(np.zeros((1, 1)), np.ones(1))[0, 0]
    for number in range(ROUNDS):
        # What was missed a read ago is at least what is missed now: no read is spent on counting.
        rate = CANDIDATES_PER_CENTER * k / max(missed, LEAST_MISSED)
        drawn, missed = points.draw_missed(form, rate, distance, (key, number))
        if not missed > 0:
            break
        form = np.concatenate([form, drawn])
    return _best_of(points, form, k, distance)


def _best_of(points: Points, form: Array, k: int, distance: Distance) -> Array:
    """The k candidates that represent all of them best, weighted by what each captures."""
    captured, gram = points.sweep_directions(form, by_point=False).captured, points.gram(form)
    lengths = np.sqrt(np.diag(gram))
    kept = np.flatnonzero((captured > 0) & (lengths > 0))
    cosines = gram[np.ix_(kept, kept)] / np.multiply.outer(lengths[kept], lengths[kept])
    distances = distance(cosines, np.ones(len(kept)))
    np.fill_diagonal(distances, 0.0)
    chosen, _ = chosen_columns(captured[kept], distances, k)
    return form[kept[chosen]]


def chosen_columns(weights: Array, distances: Array, k: int) -> tuple[Array, Nearest]:
    """Up to k of p candidates for N weighted points: one by one the best, then best exchanges.

    Also which of the chosen is nearest to every point.

    Parameters
    ----------
    weights
        (N,) of the points.
    distances
        (N, p) of all points to the candidates.
    """
    chosen = _one_by_one(weights.astype(distances.dtype, copy=False), distances, k)
    state = Nearest(weights, distances[:, chosen])
    for center, number in best_exchanges(state, distances).items():
        chosen[center] = number
    return np.array(chosen, dtype=np.int64), state


def _one_by_one(weights: Array, distances: Array, k: int) -> list[int]:
    """Up to k candidates, each the one that lowers the cost most; none that does not."""
    nearest = np.full(len(weights), np.inf, dtype=distances.dtype)
    costs, cost = weights @ distances, np.inf
    chosen: list[int] = []
    while len(chosen) < k:
        best = int(costs.argmin())
        if not costs[best] < cost:
            break
        cost = costs[best]
        chosen.append(best)
        # Only points that come nearer change what the other candidates would cost.
        nearer = np.flatnonzero(distances[:, best] < nearest)
        some, own = distances[nearer], weights[nearer]
        if len(chosen) > 1:
            costs -= own @ np.minimum(some, nearest[nearer][:, None])
            nearest[nearer] = some[:, best]
            costs += own @ np.minimum(some, nearest[nearer][:, None])
        else:
            nearest = distances[:, best].copy()
            costs = weights @ np.minimum(distances, nearest[:, None])
    return chosen
