"""The k-means subroutines by name, restarts, and the door for those of the user."""

from __future__ import annotations

import math
import numbers
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from orthant.certificate import KINDS, Promise
from orthant.engine.points import Points
from orthant.errors import InvalidInputError
from orthant.files.checkpoint import Checkpoint
from orthant.kmeans.clustering import Clustering, cluster_weights, means
from orthant.kmeans.lloyd import lloyd, point_costs
from orthant.kmeans.local_search import (
    Exchange,
    best_exchange,
    cost_rounding,
    random_exchanges,
    stability_promise,
)
from orthant.kmeans.seeding import greedy_candidates, plain, seed, seeding_promise
from orthant.kmeans.seeding_in_rounds import seed_in_rounds
from orthant.numerics.arrays import Array

MAX_ITER = 300
TOL = 1e-6


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
            start = call_subroutine(subroutine, points, k, rng)
        n_sweeps += start.n_sweeps
        if best is None or start.cost < best.cost:
            best = start
    assert best is not None
    return replace(best, n_sweeps=n_sweeps)


def call_subroutine(
    subroutine: Callable[..., Any], points: Points, k: int, rng: np.random.Generator
) -> Clustering:
    """Call a k-means of the user's with (normalized non-zero points, weights, k, rng).

    It returns labels, or something with ``labels`` (or scikit-learn's ``labels_``) that may also
    carry ``ratio``, or else the function itself does: that number is trusted as the subroutine's
    guarantee, of the ``kind`` "always" (if it names none) or "expected". A number that cannot be
    one is refused.
    """
    heavy = np.flatnonzero(points.weights > 0)
    answer = subroutine(points.coordinates()[heavy], points.weights[heavy], k, rng)
    given = getattr(answer, "labels", getattr(answer, "labels_", answer))
    found = np.asarray(given)
    if found.shape != heavy.shape or found.dtype.kind not in "iu":
        raise InvalidInputError(
            f"kmeans must return one integer label for each of the {len(heavy)} points; got "
            f"shape {found.shape} of dtype {found.dtype}"
        )
    if len(found) and (found.min() < 0 or found.max() >= k):
        place = int(np.flatnonzero((found < 0) | (found >= k))[0])
        raise InvalidInputError(
            f"kmeans must return labels from 0 to {k - 1}; label {place} is {found[place]}"
        )
    labels = np.full(len(points.weights), -1, dtype=np.int32)
    labels[heavy] = found
    claims = subroutine if getattr(answer, "ratio", None) is None else answer
    return cluster_by_labels(points, labels, k, read_promise(claims))


def read_promise(answer: Any) -> Promise:
    """What a subroutine of the user claims of its clustering, if that can be a claim at all."""
    ratio, kind = getattr(answer, "ratio", None), getattr(answer, "kind", "always")
    if ratio is None:
        return Promise(reason="the k-means subroutine claims no ratio")
    number = isinstance(ratio, numbers.Real) and not isinstance(ratio, bool | np.bool_)
    if not number or not 1.0 <= float(ratio) < math.inf:
        raise InvalidInputError(
            f"the ratio that kmeans claims is {ratio!r}; it must be a finite number of at least 1 "
            "(the cost divided by the smallest possible), or None to claim nothing"
        )
    if kind not in KINDS:
        raise InvalidInputError(
            f"the kind of the ratio that kmeans claims is {kind!r}; it must be 'always' or "
            "'expected'"
        )
    return Promise(float(ratio), kind)


def cluster_by_labels(points: Points, labels: Array, k: int, promise: Promise) -> Clustering:
    """The clustering of given labels (N,): means, weights and cost."""
    weights = cluster_weights(points, labels, k)
    centers = means(points.sums(labels, k), weights)
    products, squares = points.cosines_with(centers)
    inside = np.flatnonzero(labels >= 0)
    distances = 1.0 - 2.0 * products[inside, labels[inside]] + squares[labels[inside]]
    cost = float(points.weights[inside] @ np.maximum(distances, 0.0))
    return Clustering(labels, centers, weights, cost, promise, n_sweeps=1, history=(cost,))
