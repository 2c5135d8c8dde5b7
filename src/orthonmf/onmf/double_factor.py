"""Theorem 8: both factors orthogonal, from the clusters of the samples.

Step 1 is k-means, step 2 weight reduction, step 3 grouping and the coordinate split. What is
promised follows from the ratio r of the clustering: that of the draws or of a stable local search
(`kmeans/subroutines.py`), or what a function of the user claims.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from orthonmf.certificate import Promise
from orthonmf.engine.matrix import Matrix
from orthonmf.engine.samples import Samples
from orthonmf.numerics.arrays import Array
from orthonmf.onmf.options import Options
from orthonmf.onmf.single_factor import cluster, error_as_published
from orthonmf.onmf.solution import MERGED, SEPARATION, Solution
from orthonmf.steps.coordinate_split import split_coordinates
from orthonmf.steps.grouping import group_alone, group_by_angle
from orthonmf.steps.weight_reduction import (
    BAND_RATIO,
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
        components=points.components(separate.directions),
    )


@dataclass(frozen=True, slots=True)
class SeparateCenters:
    """What steps 2 and 3 make of centers."""

    directions: Array  # (g, m), disjoint supports
    groups: Array  # (k,) the direction of every center, -1 for one that has none


def separate_centers(
    centers: Array, weights: Array, order: Callable[[Array], Array] | None = None
) -> SeparateCenters:
    """Steps 2 and 3: directions (g, m) with disjoint supports from centers (k, m) and weights.

    ``order`` may rearrange the pairs that give up weight: the proof allows any order.
    """
    cosines = pairwise_cosines(centers)
    slack = cosine_slack(centers.shape[1])
    pairs = pairs_in_band(cosines, slack)
    reduced = reduce_weights(weights, pairs if order is None else order(pairs)).weights
    if not reduced.any():
        groups = group_alone(weights)
        return SeparateCenters(split_coordinates(centers, weights, groups), groups)
    groups = group_by_angle(reduced, pairs_above_band(cosines, slack))
    return SeparateCenters(split_coordinates(centers, reduced, groups), groups)


def double_from_means(promise: Promise) -> Promise:
    """Theorem 8 on cluster means: k-means within r gives ``2r + 2 c (1 + sqrt r)^2``.

    c is 1 / sin^2(15 degrees). The paper states ``2r + (8r + 8) c`` for the same steps; splitting
    every cluster between its group and zero, and weighting the two triangle inequalities by
    sqrt(r), gives the smaller number.
    """
    if promise.ratio is None:
        return promise
    r = promise.ratio
    return replace(promise, ratio=2.0 * r + 2.0 * BAND_RATIO * (1.0 + math.sqrt(r)) ** 2)
