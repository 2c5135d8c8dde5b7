"""Lloyd: every point to its nearest center, every center to the mean of its points.

One iteration is here; `alternation.py` repeats it until it gains next to nothing.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import partial

import numpy as np

from orthonmf.alternation import Update, alternate
from orthonmf.certificate import NOTHING_PROMISED, Promise
from orthonmf.checkpoint import Checkpoint, Step
from orthonmf.engine.placement import take
from orthonmf.engine.points import Points, move_idle
from orthonmf.typing import Array
from orthonmf.vectors import divide


@dataclass(frozen=True, slots=True)
class Clustering:
    """Points in at most k clusters, each center the weighted mean of its cluster."""

    labels: Array  # (N,) int32, -1 for points without weight
    centers: Array  # (k, m) as the points hold them; those of empty clusters are zero
    weights: Array  # (k,) sum of the weights in each cluster
    cost: float  # weighted squared distances to the centers that points were given to, or more
    promise: Promise = NOTHING_PROMISED  # what may be said about the cost, as it was earned
    n_sweeps: int = 0  # reads of the data that assigned all points
    history: tuple[float, ...] = ()  # cost after each of them


def lloyd(
    points: Points, centers: Array, *, max_iter: int, tol: float, step: Step | None = None
) -> Clustering:
    """Improve centers (k, m) until no label changes or the cost drops by less than ``tol`` of it.

    The cost never rises. The centers returned are the means of the labels returned: what is
    proved about the double-factor algorithm needs exactly that. ``step`` may know how far an
    earlier attempt came; all but its last sweep are not repeated.
    """
    alternated = alternate(
        partial(_average, points),
        centers,
        total=0.0,
        max_iter=max_iter,
        tol=tol,
        step=step or Checkpoint().next_step(),
        name="k-means sweep",
    )
    last = alternated.last
    return Clustering(
        labels=np.where(points.weights > 0, last.sweep.labels, np.int32(-1)),
        centers=last.vectors,
        weights=cluster_weights(points, last.sweep.labels, len(centers)),
        cost=-last.captured,
        n_sweeps=len(alternated.history),
        history=tuple(-captured for captured in alternated.history),
    )


def _average(points: Points, centers: Array) -> Update:
    """One sweep by centers (k, m), and the means of what each has won."""
    sweep = points.sweep_centers(centers)
    cosines = divide(sweep.products, points.lengths)
    distances = 1.0 - 2.0 * cosines + take(sweep.squares, sweep.labels)
    costs = points.weights * np.maximum(distances, 0.0)
    weights = cluster_weights(points, sweep.labels, len(centers))
    means = divide(sweep.sums, weights[:, None])

    def reuse_idle() -> bool:
        """A further center can only lower the cost."""
        empty = np.flatnonzero(weights == 0)
        # What costs no more than rounding is at its center already.
        least = 1e-12 * points.weights
        return len(empty) > 0 and move_idle(means, empty, costs, least, points.at)

    return Update(
        captured=-float(costs.sum()),
        vectors=means,
        # Labels of the sweep before have the same means, to the bit.
        next_gain=0.0 if np.array_equal(means, centers) else math.inf,
        sweep=sweep,
        reuse_idle=reuse_idle,
    )


def cluster_weights(points: Points, labels: Array, k: int) -> Array:
    """Sum of the weights of the points of each label, (k,)."""
    inside = labels >= 0
    return np.bincount(labels[inside], weights=points.weights[inside], minlength=k)
