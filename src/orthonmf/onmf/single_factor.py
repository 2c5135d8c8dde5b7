"""Theorem 3: one orthogonal factor from weighted k-means of the normalized points.

The paper ends with the labels that its steps found. Here one more assignment follows, by the
published components, so that `transform` gives new rows what the fit gave the old ones. It is not
in the paper; the error before it is the last but one of the history, and it can only be lowered.
"""

from __future__ import annotations

from orthonmf.engine.matrix import Matrix
from orthonmf.engine.points import Points, Samples, StreamedColumns
from orthonmf.kmeans.lloyd import Clustering
from orthonmf.kmeans.subroutines import weighted_kmeans
from orthonmf.onmf.options import Options
from orthonmf.onmf.promises import single_from_means
from orthonmf.onmf.solution import Solution
from orthonmf.typing import Array


def factorize_single(matrix: Matrix, options: Options) -> Solution:
    """Give every sample, or every feature, to one component (Theorem 3).

    Points are scaled to length one and weighted by their squared length. If the clustering costs
    at most r times the optimum, the squared error is at most 2r times the smallest possible.
    """
    # No step asks for single columns, so none is copied: they are streamed.
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
        components=points.components(clusters.centers),
    )


def cluster(points: Points, options: Options) -> Clustering:
    """Weighted k-means of the points by the subroutine asked for."""
    return weighted_kmeans(
        points,
        options.n_components,
        rng=options.rng,
        subroutine=options.kmeans or "k-means++",
        n_init=options.n_init,
        max_iter=options.max_iter,
        tol=options.tol,
        checkpoint=options.steps,
    )


def error_as_published(points: Points, directions: Array, labels: Array) -> float:
    """The relative squared error when every point keeps the label (N,) that the paper gives it.

    Scales are the best for these labels (the paper's theta); label -1 takes the scale 0. Costs
    one read of the data.
    """
    captured = float(points.update(labels, directions).captured.sum())
    return max(0.0, 1.0 - captured / points.total)
