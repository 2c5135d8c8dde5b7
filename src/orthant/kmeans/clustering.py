"""Clustering: what every k-means subroutine returns, with what it may claim."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from orthant.engine.points import Points
from orthant.numerics.arrays import Array, divided

KINDS = ("always", "expected")


@dataclass(frozen=True, slots=True)
class Ratio:
    """Cost at most ``value`` times the optimum, always or in expectation."""

    value: float
    kind: str  # "always" | "expected"


@dataclass(frozen=True, slots=True)
class Claim:
    """What may be said about the cost of a clustering: a ratio, or why there is none."""

    ratio: Ratio | None = None
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Clustering:
    """Points in at most k clusters, each center the weighted mean of its cluster.

    Attributes
    ----------
    labels
        (N,) int32, -1 for points without weight.
    form
        (k, m) form of the means (see ``engine.points``); rows of empty clusters are zero.
    weights
        (k,) sum of the weights in each cluster.
    cost
        Weighted sum of squared distances to the center that each point was given to; the means
        can only be closer.
    claim
        What may be said about the cost, as the subroutine that made the clustering earned it.
    n_sweeps
        Reads of the data that assigned all points.
    history
        Cost after each of them.
    """

    labels: Array
    form: Array
    weights: Array
    cost: float
    claim: Claim = Claim()
    n_sweeps: int = 0
    history: tuple[float, ...] = ()


def means(sums: Array, cluster_weights: Array) -> Array:
    """Forms of the means from forms of the weighted sums."""
    return divided(sums, cluster_weights[:, None])


def cluster_weights(points: Points, labels: Array, k: int) -> Array:
    """Sum of the weights of the points of each label, (k,)."""
    inside = labels >= 0
    return np.bincount(labels[inside], weights=points.weights[inside], minlength=k)
