"""Clustering: what every k-means subroutine returns, with what it promises."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from orthant.certificate import NOTHING_PROMISED, Promise
from orthant.engine.points import Points
from orthant.numerics.arrays import Array, divide


@dataclass(frozen=True, slots=True)
class Clustering:
    """Points in at most k clusters, each center the weighted mean of its cluster.

    Attributes
    ----------
    labels
        (N,) int32, -1 for points without weight.
    centers
        (k, m) the means, as the points hold them; those of empty clusters are zero.
    weights
        (k,) sum of the weights in each cluster.
    cost
        Weighted sum of squared distances to the center that each point was given to; the means
        can only be closer.
    promise
        What may be said about the cost, as the subroutine that made the clustering earned it.
    n_sweeps
        Reads of the data that assigned all points.
    history
        Cost after each of them.
    """

    labels: Array
    centers: Array
    weights: Array
    cost: float
    promise: Promise = NOTHING_PROMISED
    n_sweeps: int = 0
    history: tuple[float, ...] = ()


def means(sums: Array, cluster_weights: Array) -> Array:
    """Means (k, m) from weighted sums (k, m) and the weights (k,) of clusters."""
    return divide(sums, cluster_weights[:, None])


def cluster_weights(points: Points, labels: Array, k: int) -> Array:
    """Sum of the weights of the points of each label, (k,)."""
    inside = labels >= 0
    return np.bincount(labels[inside], weights=points.weights[inside], minlength=k)
