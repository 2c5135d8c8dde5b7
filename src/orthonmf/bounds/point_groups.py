"""Groups of points that lie close to one line each: coordinates in which a search is small.

B (n, p) has one positive entry in every row that takes part, and columns of length 1 as nearly as
rounding allows. Groups decide how tight a bound is, never whether it is true.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from orthonmf.bounds.eigenpairs import leading_eigenpairs
from orthonmf.numerics.arrays import Array
from orthonmf.numerics.rounding import growth
from orthonmf.numerics.vectors import divide

DIRECTIONS = 30  # leading singular directions in which points are compared
EXTRA = 20  # of these, how many a search keeps next to the groups: what groups cannot see
SWEEPS = 15
PICKED_AT_ONCE = 16


@dataclass(frozen=True, slots=True)
class Directions:
    """Leading singular values and right singular vectors of X (n, m), about."""

    values: Array  # (r,)
    right: Array  # (m, r)


def leading_directions(inner_gram: Array, count: int = DIRECTIONS) -> Directions:
    """From X^T X (m, m); as many as there are, at most ``count``."""
    m = len(inner_gram)
    if m <= count:
        values, vectors = np.linalg.eigh(inner_gram)
        values, vectors = values[::-1], vectors[:, ::-1]
    else:
        pairs = leading_eigenpairs(inner_gram, count - 1, max_cycles=1)
        values, vectors = pairs.values[:count], pairs.vectors[:, :count]
    used = values > 1e-12 * max(float(values[0]), 0.0)
    return Directions(np.sqrt(values[used]), vectors[:, used])


def group_points(X: Any, directions: Directions, n_groups: int) -> Array:
    """B (n, p) for the rows of X, p at most ``n_groups``.

    Weighted k-means of the rows at length 1, in the coordinates of the leading directions; inside
    a group a row counts by its product with the mean. Rows that have none take no part. Where rows
    are no more than groups every row is one of its own.
    """
    n = X.shape[0]
    if n <= n_groups:
        return np.eye(n)
    points = np.asarray(X @ directions.right)
    weights = np.einsum("ij,ij->i", points, points)
    labels, centers = _cluster(divide(points, np.sqrt(weights)[:, None]), weights, n_groups)
    shares = np.maximum(np.einsum("ij,ij->i", points, centers[labels]), 0.0)
    lengths = np.sqrt(np.bincount(labels, shares**2, minlength=n_groups))
    used = np.flatnonzero(lengths > 0.0)
    groups = np.zeros((n, n_groups))
    groups[np.arange(n), labels] = divide(shares, lengths[labels])
    return groups[:, used]


def _cluster(points: Array, weights: Array, k: int) -> tuple[Array, Array]:
    """Labels (n,) and centers (k, r) of weighted k-means, from points drawn by what is missed."""
    rng = np.random.default_rng(0)
    nearest = np.full(len(points), -1.0)  # the largest cosine with a center
    centers = np.empty((0, points.shape[1]))
    while len(centers) < k:
        missed = weights * np.maximum(1.0 - nearest, 0.0) + 1e-300 * (weights > 0.0)
        count = min(PICKED_AT_ONCE if len(centers) else 1, k - len(centers))
        picked = rng.choice(len(points), count, p=missed / missed.sum())
        centers = np.vstack([centers, points[picked]])
        nearest = np.maximum(nearest, (points @ points[picked].T).max(axis=1))
    for _ in range(SWEEPS):
        labels = _nearest(points, centers)
        members = np.zeros((len(points), k))
        members[np.arange(len(points)), labels] = weights
        sums = members.T @ points
        centers = divide(sums, np.sqrt(np.einsum("ij,ij->i", sums, sums))[:, None])
    return _nearest(points, centers), centers


def _nearest(points: Array, centers: Array) -> Array:
    return np.asarray((points @ centers.T).argmax(axis=1))


def length_error(groups: Array) -> float:
    """How far the lengths of the columns of B can be from 1."""
    squares = np.einsum("ij,ij->j", groups, groups)
    off = float(np.abs(squares - 1.0).max(initial=0.0))
    return (off + growth(len(groups) + 2) * float(squares.max(initial=0.0))) * (1.0 + growth(4))
