"""Theorem 8, `algorithm="paper"`: both factors orthogonal, from the clusters of the samples.

Step 1 is k-means, step 2 weight reduction, step 3 grouping and the coordinate split. What is
promised follows from the ratio r of the clustering: that of the draws or of a stable local search
(`kmeans/subroutines.py`), or what a function of the user claims. The default is in
`blocks/both_sides.py`, and the step in which it differs from one side in `blocks/descent.py`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from orthonmf.engine.matrix import Matrix
from orthonmf.engine.points import Samples
from orthonmf.engine.sources import to_dense
from orthonmf.onmf.options import Options
from orthonmf.onmf.promises import double_from_means
from orthonmf.onmf.single_factor import cluster, error_as_published
from orthonmf.onmf.solution import MERGED, SEPARATION, Solution
from orthonmf.steps.coordinate_split import split_coordinates
from orthonmf.steps.grouping import group_alone, group_by_angle
from orthonmf.steps.weight_reduction import (
    cosine_slack,
    pairs_above_band,
    pairs_in_band,
    pairwise_cosines,
    reduce_weights,
)
from orthonmf.typing import Array


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


def separate_centers(centers: Array, weights: Array) -> SeparateCenters:
    """Steps 2 and 3: directions (g, m) with disjoint supports from centers (k, m) and weights."""
    left, groups = reduce_and_group(
        pairwise_cosines(centers), weights, cosine_slack(centers.shape[1])
    )
    return SeparateCenters(to_dense(split_coordinates(centers, left, groups)), groups)


def reduce_and_group(cosines: Array, weights: Array, slack: float) -> tuple[Array, Array]:
    """What step 2 leaves of weights (k,), and groups (k,) of the centers that keep some, else -1.

    ``cosines`` (k, k) are off by no more than ``slack``. Where nothing is left, centers keep their
    weights, each a group of its own.
    """
    left = reduce_weights(weights, [pairs_in_band(cosines, slack)]).weights
    if not left.any():
        return weights, group_alone(weights)
    return left, group_by_angle(left, pairs_above_band(cosines, slack))
