"""Weighted k-means: the subroutines by name, Lloyd sweeps, and several starts."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from orthonmf.certificate import NOTHING_PROMISED, Promise
from orthonmf.engine.points import Points, Sweep
from orthonmf.engine.vectors import divide, look_up, move_idle
from orthonmf.kmeans.local_search import (
    Exchange,
    best_exchange,
    cost_rounding,
    random_exchanges,
    stability_promise,
)
from orthonmf.kmeans.seeding import greedy_candidates, plain, seed, seeding_promise
from orthonmf.kmeans.seeding_in_rounds import seed_in_rounds
from orthonmf.numerics.arrays import Array
from orthonmf.numerics.descent import Checkpoint, Step, Update, alternate
from orthonmf.numerics.digest import digest

MAX_ITER = 300
TOL = 1e-6


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


@dataclass(frozen=True, slots=True)
class Subroutine:
    """A recipe for one start: how to draw, whether and how to exchange, then Lloyd."""

    greedy: bool = False
    in_rounds: bool = False
    random_exchanges: int = 0
    exhaustive: bool = False

    def run(
        self,
        points: Points,
        k: int,
        rng: np.random.Generator,
        max_iter: int,
        tol: float,
        checkpoint: Checkpoint,
    ) -> Clustering:
        """One start."""
        step = checkpoint.next_step()
        if not step.finished:
            step.finish(vectors=self.first_centers(points, k, rng))
        centers = step.arrays["vectors"]
        step = checkpoint.next_step()
        clustering = lloyd(points, centers, max_iter=max_iter, tol=tol, step=step)
        if self.exhaustive:
            return exchange_until_stable(points, clustering, max_iter=max_iter, tol=tol)
        return replace(clustering, promise=self.promise_of_draws(k))

    def promise_of_draws(self, k: int) -> Promise:
        """What the draws of k centers promise for all that only lowers their cost."""
        if self.greedy or self.in_rounds:
            how = "greedy seeding" if self.greedy else "drawing in rounds"
            return Promise(reason=f"{how} carries no known constant")
        return seeding_promise(k)

    def first_centers(self, points: Points, k: int, rng: np.random.Generator) -> Array:
        """The centers (k, m) that Lloyd starts from."""
        if self.in_rounds:
            return seed_in_rounds(points, k, rng, distance=plain)
        picks = seed(points, k, rng, candidates=greedy_candidates(k) if self.greedy else 1)
        centers = points.at(picks)
        if not self.random_exchanges:
            return centers
        exchange = Exchange(points, centers)
        random_exchanges(exchange, self.random_exchanges, rng)
        return exchange.centers


SUBROUTINES = {
    "k-means++": Subroutine(),
    "greedy-k-means++": Subroutine(greedy=True),
    "k-means||": Subroutine(in_rounds=True),
    "ls++": Subroutine(random_exchanges=25),
    "local-search": Subroutine(random_exchanges=25, exhaustive=True),
}


def exchange_until_stable(
    points: Points, clustering: Clustering, *, max_iter: int, tol: float
) -> Clustering:
    """Exchange centers for points, Lloyd after each, until no exchange helps; then claim it.

    The test reads all pairs of points, so the time grows with their number squared.
    """
    lowest = np.inf
    while True:
        exchange = Exchange(points, clustering.centers)
        best = best_exchange(exchange)
        # Gains below this are not worth a round, and the claim accounts for what is left. At the
        # level of rounding, or in float32, Lloyd may undo an exchange: then this is the end too.
        enough = max(1e-7 * exchange.cost / len(exchange.centers), 2 * cost_rounding(exchange))
        if best.gain <= enough or exchange.cost >= lowest:
            return _stable(points, clustering, stability_promise(exchange, best.gain))
        lowest = exchange.cost
        new = exchange.to_points(np.array([best.point]))
        exchange.apply(best.center, best.point, new[:, 0])
        improved = lloyd(points, exchange.centers, max_iter=max_iter, tol=tol)
        clustering = replace(
            improved,
            n_sweeps=clustering.n_sweeps + improved.n_sweeps,
            history=clustering.history + improved.history,
        )


def _stable(points: Points, clustering: Clustering, promise: Promise) -> Clustering:
    """The clustering by centers that no exchange improves, with the ratio that they have.

    Stability bounds what the points pay to their nearest of these centers. Labels on which
    Lloyd was stopped may cost more than that, so they are made again: means and weights of the
    new ones cost no more, and the ratio is theirs.
    """
    sweep = points.sweep_centers(clustering.centers)
    weights = cluster_weights(points, sweep.labels, len(clustering.centers))
    cost = min(float(point_costs(points, sweep).sum()), clustering.cost)
    return replace(
        clustering,
        labels=np.where(points.weights > 0, sweep.labels, np.int32(-1)),
        centers=means(sweep.sums, weights),
        weights=weights,
        cost=cost,
        promise=promise,
        n_sweeps=clustering.n_sweeps + 1,
        history=(*clustering.history, cost),
    )


def weighted_kmeans(
    points: Points,
    k: int,
    *,
    rng: np.random.Generator,
    subroutine: str | Callable[..., Any] = "k-means++",
    n_init: int = 1,
    max_iter: int = MAX_ITER,
    tol: float = TOL,
    checkpoint: Checkpoint | None = None,
) -> Clustering:
    """Cluster normalized points by their weights: the cheapest of ``n_init`` independent starts.

    The expected ratio of one start holds for the best of several, and "always" stays "always".
    """
    best: Clustering | None = None
    n_sweeps, kept = 0, checkpoint or Checkpoint()
    for _ in range(n_init):
        if isinstance(subroutine, str):
            start = SUBROUTINES[subroutine].run(points, k, rng, max_iter, tol, kept)
        else:
            from orthonmf.kmeans.user_subroutine import call_subroutine  # it makes a Clustering

            start = call_subroutine(subroutine, points, k, rng)
        n_sweeps += start.n_sweeps
        if best is None or start.cost < best.cost:
            best = start
    assert best is not None
    return replace(best, n_sweeps=n_sweeps)


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
    cosines = divide(sweep.products, sweep.lengths)
    distances = 1.0 - 2.0 * cosines + look_up(sweep.squares, sweep.labels)
    return points.weights * np.maximum(distances, 0.0)


def means(sums: Array, cluster_weights: Array) -> Array:
    """Means (k, m) from weighted sums (k, m) and the weights (k,) of clusters."""
    return divide(sums, cluster_weights[:, None])


def cluster_weights(points: Points, labels: Array, k: int) -> Array:
    """Sum of the weights of the points of each label, (k,)."""
    inside = labels >= 0
    return np.bincount(labels[inside], weights=points.weights[inside], minlength=k)
