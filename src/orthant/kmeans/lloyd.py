"""Lloyd iterations: assign, average, repeat; empty clusters are put to use."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from orthant.engine.points import Points, Sweep
from orthant.engine.vectors import look_up
from orthant.files.checkpoint import Checkpoint, Step
from orthant.kmeans.alternation import Update, alternate, move_idle
from orthant.kmeans.clustering import Clustering, cluster_weights, means
from orthant.numerics.arrays import Array
from orthant.numerics.digest import digest


def lloyd(
    points: Points, centers: Array, *, max_iter: int, tol: float, step: Step | None = None
) -> Clustering:
    """Improve centers (k, m) until no label changes or the cost drops by less than ``tol`` of it.

    The cost never rises. The centers returned are the means of the labels returned: what is
    proved about the double-factor algorithm needs exactly that. ``step`` may know how far an
    earlier attempt came; all but its last sweep are not repeated.
    """
    step = step or Checkpoint().next_step()
    averages = _Averages(points, step)
    found = alternate(averages, centers, max_iter=max_iter, tol=tol, step=step)
    last = found.last
    return Clustering(
        labels=np.where(points.weights > 0, last.sweep.labels, np.int32(-1)),
        centers=last.vectors,
        weights=last.weights,
        cost=-last.captured,
        n_sweeps=len(found.history),
        history=tuple(-captured for captured in found.history),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Averaged(Update):
    """One sweep by centers, and the means of what each has won."""

    sweep: Sweep
    costs: Array  # (N,)
    weights: Array  # (k,) of the clusters


class _Averages:
    """Nearest centers and their means."""

    name = "k-means sweep"
    total = 0.0

    def __init__(self, points: Points, step: Step) -> None:
        self._points, self._keeps_labels = points, step.lasting
        self._labels: Array | None = None
        self._digest = step.text

    def update(self, vectors: Array) -> _Averaged:
        points = self._points
        sweep = points.sweep_centers(vectors)
        costs = point_costs(points, sweep)
        if self._labels is None:
            unchanged = bool(self._digest) and self._digest == digest(sweep.labels)
        else:
            unchanged = np.array_equal(self._labels, sweep.labels)
        self._labels = sweep.labels
        weights = cluster_weights(points, sweep.labels, len(vectors))
        return _Averaged(
            captured=-float(costs.sum()),
            vectors=means(sweep.sums, weights),
            unchanged=unchanged,
            sweep=sweep,
            costs=costs,
            weights=weights,
        )

    def reuse_idle(self, swept: Array, update: _Averaged) -> bool:
        """A further center can only lower the cost."""
        empty = np.flatnonzero(update.weights == 0)
        if len(empty) == 0:
            return False
        # What costs no more than rounding is at its center already.
        least = 1e-12 * self._points.weights
        return move_idle(update.vectors, empty, update.costs, least, self._points.at)

    def mark(self, update: _Averaged) -> str:
        return digest(update.sweep.labels) if self._keeps_labels else ""


def point_costs(points: Points, sweep: Sweep) -> Array:
    """Weighted squared distance of every point to the center it was given to, (N,)."""
    distances = 1.0 - 2.0 * sweep.cosines + look_up(sweep.squares, sweep.labels)
    return points.weights * np.maximum(distances, 0.0)
