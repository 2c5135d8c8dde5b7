"""Where groups start: rows drawn by divergence, and fits under the squared error as insurance."""

from __future__ import annotations

import numpy as np

from orthonmf.engine.counts import SMALLEST, Counts
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
