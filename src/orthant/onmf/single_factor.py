"""Theorem 3: one orthogonal factor from weighted k-means of the normalized points."""

from __future__ import annotations

from orthant.engine.matrix import Matrix
from orthant.engine.points import Features, Points, Samples
from orthant.kmeans.clustering import Clustering
from orthant.kmeans.solve import weighted_kmeans
from orthant.onmf.as_published import error_as_published
from orthant.onmf.options import Options
from orthant.onmf.outcome import Outcome
from orthant.onmf.promises import single_from_means
from orthant.onmf.publish import Trace, publish
from orthant.onmf.solution import UNUSED


def factorize_single(matrix: Matrix, options: Options) -> Outcome:
    """Give every sample, or every feature, to one component (Theorem 3).

    Points are scaled to length one and weighted by their squared length. If the clustering costs
    at most r times the optimum, the squared error is at most 2r times the smallest possible.
    """
    points: Points = Samples(matrix) if options.orthogonal == "samples" else Features(matrix)
    clusters = clustered(points, options)
    components = points.components(clusters.form)
    total = float(points.weights.sum())
    # A k-means cost is the squared error with lengths for scales; at last the scales are the best.
    costs = tuple(cost / total for cost in clusters.history[:-1])
    trace = Trace(
        history=(*costs, error_as_published(points, clusters.form, clusters.labels)),
        n_sweeps=clusters.n_sweeps,
        steps_run=("weighted k-means",),
    )
    result = publish(matrix, components, options.orthogonal, options.asked, trace, UNUSED)
    return Outcome(result, single_from_means(clusters.claim))


def clustered(points: Points, options: Options) -> Clustering:
    """Weighted k-means of the points by the subroutine asked for."""
    return weighted_kmeans(
        points,
        options.n_components,
        rng=options.rng,
        subroutine=options.kmeans,
        n_init=options.n_init,
        max_iter=options.max_iter,
        tol=options.tol,
        checkpoint=options.checkpoint,
    )
