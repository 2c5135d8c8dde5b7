"""Theorem 3: one orthogonal factor from weighted k-means of the normalized points."""

from __future__ import annotations

from orthant.engine.features import StreamedColumns
from orthant.engine.matrix import Matrix
from orthant.engine.points import Points
from orthant.engine.samples import Samples
from orthant.kmeans.clustering import Clustering
from orthant.kmeans.solve import weighted_kmeans
from orthant.onmf.as_published import error_as_published
from orthant.onmf.options import Options
from orthant.onmf.promises import single_from_means
from orthant.onmf.solution import Solution


def factorize_single(matrix: Matrix, options: Options) -> Solution:
    """Give every sample, or every feature, to one component (Theorem 3).

    Points are scaled to length one and weighted by their squared length. If the clustering costs
    at most r times the optimum, the squared error is at most 2r times the smallest possible.
    """
    points: Points = Samples(matrix) if options.orthogonal == "samples" else StreamedColumns(matrix)
    clusters = cluster(points, options)
    # A k-means cost is the squared error with lengths for scales; at last the scales are the best.
    costs = tuple(cost / points.total for cost in clusters.history[:-1])
    error = error_as_published(points, clusters.centers, clusters.labels)
    return Solution(
        clusters.centers,
        history=(*costs, error),
        n_sweeps=clusters.n_sweeps,
        steps=("weighted k-means",),
        promise=single_from_means(clusters.promise),
    ).finish(points)


def cluster(points: Points, options: Options) -> Clustering:
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
