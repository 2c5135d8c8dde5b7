"""Where groups start: rows drawn by divergence, and fits under the squared error as insurance."""

from __future__ import annotations

import numpy as np

from orthonmf.engine.counts import SMALLEST, Counts
from orthonmf.onmf.options import Options
from orthonmf.onmf.search.one_side import search_one_side
from orthonmf.progress import silence
from orthonmf.typing import Array

# Candidates of every draw, and how far a center is mixed with the profile of all rows.
CANDIDATES, MIXED = 3, 0.5


def draw_labels(counts: Counts, k: int, rng: np.random.Generator) -> Array:
    """Labels (n,) by the nearest of k rows that were drawn by what the others miss.

    The best of a few candidates each, in the manner of greedy k-means++. A center is half the row,
    half the profile of all rows: no divergence to it is infinite.
    """
    overall = counts.column_sums / counts.total
    chances = counts.row_sums / counts.total
    missed = np.full(counts.shape[0], np.inf)
    labels = np.zeros(counts.shape[0], dtype=np.int64)
    for group in range(k):
        drawn = rng.choice(len(chances), size=CANDIDATES if group else 1, p=chances)
        centers = MIXED * overall + (1 - MIXED) * counts.profiles(drawn)
        logs = np.log(np.maximum(centers, SMALLEST))
        distances = counts.row_entropies[:, None] - counts.rows @ np.ascontiguousarray(logs.T)
        distances = np.minimum(np.maximum(distances, 0.0), missed[:, None])
        best = int(distances.sum(axis=0).argmin())
        labels[distances[:, best] < missed] = group
        missed = distances[:, best]
        total = missed.sum()
        if not total > 0:
            break
        chances = missed / total
    return labels


def square_roots(counts: Counts) -> Array:
    """Square roots of all entries: between them squared errors are distances of Hellinger."""
    return np.sqrt(counts.rows.data)


def ratios(counts: Counts) -> Array:
    """Entries over the roots of the sums of their row and column: distances of chi-square."""
    row_roots, column_roots = np.sqrt(counts.row_sums), np.sqrt(counts.column_sums)
    return counts.rows.data / row_roots[counts.owners] / column_roots[counts.rows.indices]


SQUARED = (square_roots, ratios)


def label_by_squares(counts: Counts, values: Array, k: int, rng: np.random.Generator) -> Array:
    """Labels (n,) of a fit of other values (one per stored entry) under the squared error."""
    points = counts.points(values)
    options = Options(asked=k, n_components=k, n_init=1, rng=rng)
    with silence():
        solution = search_one_side(points, options)
    return points.sweep_directions(solution.directions).labels.astype(np.int64)
