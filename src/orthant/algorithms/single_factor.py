"""Theorem 3: one orthogonal factor from weighted k-means of the normalised points."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from orthant.algorithms.claims import APriori, single_from_means
from orthant.algorithms.publish import Trace, publish
from orthant.engine.matrix import Matrix
from orthant.engine.points import Features, Points, Samples
from orthant.factorization import Factorization
from orthant.kmeans.solve import MAX_ITER, TOL, weighted_kmeans

TOO_FEW = "the data hold no more distinct directions than that"


def factorize_single(
    matrix: Matrix,
    n_components: int,
    *,
    orthogonal: str,
    rng: np.random.Generator,
    kmeans: str | Callable[..., Any] = "k-means++",
    n_init: int = 1,
    max_iter: int = MAX_ITER,
    tol: float = TOL,
) -> tuple[Factorization, APriori]:
    """Give every sample, or every feature, to one component (Theorem 3).

    Points are scaled to length one and weighted by their squared length. If the clustering costs
    at most r times the optimum, the squared error is at most 2r times the smallest possible.
    """
    points: Points = Samples(matrix) if orthogonal == "samples" else Features(matrix)
    if not points.weights.any():
        empty = np.zeros((0, matrix.shape[1]))
        trace = Trace(steps_run=("zero matrix",))
        return publish(matrix, empty, orthogonal, n_components, trace, "X is zero"), APriori()
    clusters = weighted_kmeans(
        points,
        n_components,
        rng=rng,
        subroutine=kmeans,
        n_init=n_init,
        max_iter=max_iter,
        tol=tol,
    )
    components = points.components(clusters.form)
    total = float(points.weights.sum())
    trace = Trace(
        history=tuple(cost / total for cost in clusters.history),
        n_sweeps=clusters.n_sweeps,
        steps_run=("weighted k-means",),
    )
    result = publish(matrix, components, orthogonal, n_components, trace, TOO_FEW)
    return result, single_from_means(clusters)
