"""Theorem 8: both factors orthogonal, from the clusters of the samples."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from orthant.engine.matrix import Matrix
from orthant.engine.samples import Samples
from orthant.numerics.arrays import Array
from orthant.onmf.as_published import error_as_published
from orthant.onmf.options import Options
from orthant.onmf.promises import double_from_means
from orthant.onmf.single_factor import cluster
from orthant.onmf.solution import MERGED, SEPARATION, Solution
from orthant.steps.coordinate_split import split_coordinates
from orthant.steps.grouping import group_by_angle
from orthant.steps.weight_reduction import (
    cosine_slack,
    pairs_above_band,
    pairs_in_band,
    pairwise_cosines,
    reduce_weights,
)


def factorize_double(matrix: Matrix, options: Options) -> Solution:
    """Give every sample and every feature to one component (Theorem 8)."""
    points = Samples(matrix)
    clusters = cluster(points, options)
    separate = separate_centers(clusters.centers, clusters.weights)
    labels = np.append(separate.groups, -1)[clusters.labels]
    # The final assignment gives every sample to the component that captures most of it: also
    # those whose center lost all its weight, for which the proof allows any choice.
    return Solution(
        separate.directions,
        history=(error_as_published(points, separate.directions, labels),),
        n_sweeps=clusters.n_sweeps,
        steps=("weighted k-means", *SEPARATION),
        promise=double_from_means(clusters.promise),
        unused=MERGED,
    ).finish(points)


@dataclass(frozen=True, slots=True)
class SeparateCenters:
    """What steps 2 and 3 make of centers."""

    directions: Array  # (g, m), disjoint supports
    groups: Array  # (k,) the direction of every center, -1 where it lost all its weight


def separate_centers(
    centers: Array, weights: Array, order: Callable[[Array], Array] | None = None
) -> SeparateCenters:
    """Steps 2 and 3: directions (g, m) with disjoint supports from centers (k, m) and weights.

    ``order`` may rearrange the pairs that give up weight: the proof allows any order.
    """
    cosines = pairwise_cosines(centers)
    slack = cosine_slack(centers.shape[1])
    pairs = pairs_in_band(cosines, slack)
    reduced = reduce_weights(weights, pairs if order is None else order(pairs))
    groups = group_by_angle(reduced.weights, pairs_above_band(cosines, slack))
    return SeparateCenters(split_coordinates(centers, reduced.weights, groups), groups)
