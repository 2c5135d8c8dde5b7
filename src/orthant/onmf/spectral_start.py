"""A spectral start for blocks: singular vectors of the matrix with rows and columns balanced."""

from __future__ import annotations

import warnings

import numpy as np
from scipy.cluster.vq import kmeans2
from scipy.sparse.linalg import ArpackError, svds

from orthant.engine.points import Samples
from orthant.numerics.arrays import Array, divided

# The balanced matrix is a copy; beyond this many entries it is not worth one.
MOST_ENTRIES = 2**27
LLOYD_ITERATIONS = 30


def spectral_components(points: Samples, k: int, rng: np.random.Generator) -> Array:
    """Components (k, m) with disjoint supports from co-clustering rows and columns (Dhillon).

    Zero rows and columns are left out and belong to no component.
    """
    matrix = points.matrix
    n, m = matrix.shape
    row_sums = matrix.products(np.ones((1, m)))[:, 0]
    column_sums = matrix.row_sums(np.zeros(n, dtype=np.int32), np.ones(n), 1)[0]
    row_scales = divided(np.ones(n), np.sqrt(row_sums))
    column_scales = divided(np.ones(m), np.sqrt(column_sums))
    balanced = matrix.whole(row_scales=row_scales, column_scales=column_scales)
    wanted = min(k, min(n, m) - 1)
    if wanted < 1:
        return np.zeros((k, m))
    try:
        left, _, right = svds(balanced, k=wanted, v0=rng.random(min(n, m)))
    except ArpackError:  # one start among many: without it the others do
        return np.zeros((k, m))
    rows, columns = np.flatnonzero(row_sums > 0), np.flatnonzero(column_sums > 0)
    both = np.concatenate(
        [row_scales[rows, None] * left[rows], column_scales[columns, None] * right.T[columns]]
    )
    both = divided(both, np.linalg.norm(both, axis=1, keepdims=True))
    if len(both) < k:
        return np.zeros((k, m))
    labels = _clustered(both, k, rng)
    of_rows = np.full(n, -1, dtype=np.int32)
    of_rows[rows] = labels[: len(rows)]
    sums = points.sums(of_rows, k)
    mine = np.zeros((k, m), dtype=bool)
    mine[labels[len(rows) :], columns] = True
    return np.where(mine, sums, 0.0)


def _clustered(vectors: Array, k: int, rng: np.random.Generator) -> Array:
    """Labels of vectors of any sign: Lloyd from k vectors that are far from each other."""
    first = int(rng.integers(len(vectors)))
    chosen, distances = [first], np.full(len(vectors), np.inf)
    while len(chosen) < k:
        latest = np.square(vectors - vectors[chosen[-1]]).sum(axis=1)
        distances = np.minimum(distances, latest)
        chosen.append(int(distances.argmax()))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # fewer blocks than asked for are fine
        _, labels = kmeans2(vectors, vectors[chosen], minit="matrix", iter=LLOYD_ITERATIONS)
    return labels
