"""Weighted k-means||: many candidates in a few reads of the data, then k of the candidates.

Drawing one point at a time reads the data k times. Here every read draws about twice as many
points as centers are wanted, each independently with a chance proportional to what the
candidates so far fail to capture. A last read weighs the candidates, and the k that represent
the others best are chosen from their Gram matrix alone. No ratio is claimed for the outcome.
"""

from __future__ import annotations

import numpy as np

from orthonmf.engine.points import Distance, Points
from orthonmf.engine.sampling import draw
from orthonmf.kmeans.exchanges import choose_columns
from orthonmf.kmeans.seeding import lines
from orthonmf.typing import Array

ROUNDS = 4
CANDIDATES_PER_CENTER = 2


def seed_in_rounds(
    points: Points, k: int, rng: np.random.Generator, *, distance: Distance = lines
) -> Array:
    """Up to k points that stand for all, as centers (k, m), in ``ROUNDS + 1`` reads of the data.

    Over features one more read gives the Gram matrix of the candidates. The distance decides
    chances and the final choice; points of weight zero are never drawn.
    """
    candidates = draw_in_rounds(points, CANDIDATES_PER_CENTER * k, rng, distance)
    captured = points.sweep_directions(candidates, by_point=False).captured
    gram = points.gram(candidates)
    lengths = np.sqrt(np.diag(gram))
    used = np.flatnonzero((captured > 0) & (lengths > 0))
    lengths = lengths[used]
    cosines = gram[np.ix_(used, used)] / np.multiply.outer(lengths, lengths)
    distances = distance(cosines, np.ones(len(used)))
    np.fill_diagonal(distances, 0.0)
    chosen, _ = choose_columns(captured[used], distances, k)
    return candidates[used[chosen]] / lengths[chosen, None]


def draw_in_rounds(
    points: Points,
    count: int,
    rng: np.random.Generator,
    distance: Distance = lines,
    *,
    n_rounds: int = ROUNDS,
) -> Array:
    """Centers (c, m): a point by weight, then about ``count`` by what is missed in every read."""
    key = int(rng.integers(2**63))
    centers = points.at(draw(points.weights, 1, rng))
    missed = points.total * distance(np.zeros((1, 1)), np.ones(1))[0, 0]
    for number in range(n_rounds):
        drawn, missed = points.draw_missed(centers, count, missed, distance, (key, number))
        if not missed > 0:
            break
        centers = np.concatenate([centers, drawn])
    return centers
