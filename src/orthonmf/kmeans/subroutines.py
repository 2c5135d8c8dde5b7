"""Weighted k-means: the subroutines by name, and several starts of one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from orthonmf.certificate import Promise
from orthonmf.checkpoint import Checkpoint
from orthonmf.engine.points import Points
from orthonmf.kmeans.exchanges import Exchange, random_exchanges
from orthonmf.kmeans.lloyd import Clustering, lloyd
from orthonmf.kmeans.local_search import cluster_until_stable
from orthonmf.kmeans.rounds import seed_in_rounds
from orthonmf.kmeans.seeding import draw_by_law, plain, seeding_promise
from orthonmf.kmeans.user_subroutine import call_subroutine
from orthonmf.typing import Array

MAX_ITER = 300
TOL = 1e-6
NO_CONSTANT = Promise(
    reason="drawing in rounds carries no known constant; algorithm='paper', kmeans='k-means++' "
    "promises a ratio on average, kmeans='local-search' one that always holds"
)


@dataclass(frozen=True, slots=True)
class Subroutine:
    """A recipe for one start: how to draw, whether and how to exchange, then Lloyd."""

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
            return cluster_until_stable(points, clustering, max_iter=max_iter, tol=tol)
        # Lloyd and exchanges only lower the cost of the draws.
        return replace(clustering, promise=NO_CONSTANT if self.in_rounds else seeding_promise(k))

    def first_centers(self, points: Points, k: int, rng: np.random.Generator) -> Array:
        """The centers (k, m) that Lloyd starts from."""
        if self.in_rounds:
            return seed_in_rounds(points, k, rng, distance=plain)
        centers = points.at(draw_by_law(points, k, rng).picks)
        if not self.random_exchanges:
            return centers
        exchange = Exchange(points, centers)
        random_exchanges(exchange, self.random_exchanges, rng)
        return exchange.centers


SUBROUTINES = {
    "k-means++": Subroutine(),
    "k-means||": Subroutine(in_rounds=True),
    "ls++": Subroutine(random_exchanges=25),
    "local-search": Subroutine(random_exchanges=25, exhaustive=True),
}


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
    n_sweeps, steps = 0, checkpoint or Checkpoint()
    for _ in range(n_init):
        if isinstance(subroutine, str):
            start = SUBROUTINES[subroutine].run(points, k, rng, max_iter, tol, steps)
        else:
            start = call_subroutine(subroutine, points, k, rng)
        n_sweeps += start.n_sweeps
        if best is None or start.cost < best.cost:
            best = start
    assert best is not None
    return replace(best, n_sweeps=n_sweeps)
