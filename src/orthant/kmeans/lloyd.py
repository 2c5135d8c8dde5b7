"""Lloyd iterations: assign, average, repeat; empty clusters are put to use."""

from __future__ import annotations

import numpy as np

from orthant.engine.points import Points, Sweep
from orthant.files.checkpoint import Checkpoint, Step
from orthant.kmeans.clustering import Clustering, cluster_weights, means
from orthant.numerics.arrays import Array
from orthant.numerics.digest import digest
from orthant.progress import announce


def lloyd(
    points: Points, form: Array, *, max_iter: int, tol: float, step: Step | None = None
) -> Clustering:
    """Improve centers until no label changes or the cost drops by less than ``tol`` of itself.

    The cost never rises. The centers returned are the means of the labels returned: what is
    proved about the double-factor algorithm needs exactly that.

    Parameters
    ----------
    form
        (k, m) form of the first centers.
    step
        May know how far an earlier attempt came; all but its last sweep are not repeated.
    """
    step = step or Checkpoint().next_step()
    k = len(form)
    history = list(step.history)
    form = step.arrays["form"] if step.begun else form
    labels: Array | None = None
    while True:
        sweep = points.sweep_centers(form)
        costs = point_costs(points, sweep)
        history.append(float(costs.sum()))
        announce("k-means sweep")
        if labels is None:
            settled = bool(step.text) and step.text == digest(sweep.labels)
        else:
            settled = np.array_equal(labels, sweep.labels)
        labels = sweep.labels
        weights = cluster_weights(points, labels, k)
        form = means(sweep.form, weights)
        if (
            not weights.all()
            and len(history) < max_iter
            and fill_empty(points, form, weights, costs)
        ):
            step.keep(tuple(history), digest(labels) if step.lasting else "", form=form)
            continue
        gained = history[-2] - history[-1] if len(history) > 1 else np.inf
        if settled or len(history) >= max_iter or gained <= tol * history[-1]:
            break
        step.keep(tuple(history), digest(labels) if step.lasting else "", form=form)
    labels = np.where(points.weights > 0, labels, np.int32(-1))
    return Clustering(
        labels, form, weights, history[-1], n_sweeps=len(history), history=tuple(history)
    )


def point_costs(points: Points, sweep: Sweep) -> Array:
    """Weighted squared distance of every point to the center it was given to, (N,)."""
    distances = 1.0 - 2.0 * sweep.cosines + sweep.squares[sweep.labels]
    return points.weights * np.maximum(distances, 0.0)


def fill_empty(points: Points, form: Array, weights: Array, costs: Array) -> bool:
    """Move the centers of empty clusters, in place, to the points that cost most.

    A further center can only lower the cost. Returns whether any point was worth moving to.
    """
    empty = np.flatnonzero(weights == 0)
    # What costs no more than rounding is at its center already.
    costly = np.flatnonzero(costs > 1e-12 * points.weights)
    chosen = costly[np.argsort(-costs[costly], kind="stable")][: len(empty)]
    form[empty[: len(chosen)]] = points.at(chosen)
    return len(chosen) > 0
