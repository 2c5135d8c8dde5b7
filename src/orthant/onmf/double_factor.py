"""Theorem 8: both factors orthogonal, from the clusters of the samples."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from orthant.bounds.lower_bound import LowerBound
from orthant.engine.matrix import Matrix
from orthant.engine.points import Samples
from orthant.numerics.arrays import Array
from orthant.onmf.as_published import error_as_published
from orthant.onmf.full_rank import factorize_full_rank
from orthant.onmf.options import Options
from orthant.onmf.outcome import Outcome
from orthant.onmf.promises import BAND_RATIO, APriori, double_from_means
from orthant.onmf.publish import Trace, publish
from orthant.onmf.single_factor import clustered
from orthant.steps.coordinate_split import split_coordinates
from orthant.steps.grouping import group_by_angle
from orthant.steps.weight_reduction import (
    cosine_slack,
    pairs_above_band,
    pairs_in_band,
    pairwise_cosines,
    reduce_weights,
)

MERGED = "weight reduction, grouping and the coordinate split left nothing to the others"


def factorize_double(matrix: Matrix, options: Options) -> Outcome:
    """Give every sample and every feature to one component (Theorem 8)."""
    points = Samples(matrix)
    clusters = clustered(points, options)
    disjoint = disjoint_groups(clusters.form, clusters.weights)
    form = disjoint.directions
    labels = np.append(disjoint.groups, -1)[clusters.labels]
    trace = Trace(
        history=(error_as_published(points, form, labels),),
        n_sweeps=clusters.n_sweeps,
        steps_run=("weighted k-means", "weight reduction", "grouping", "coordinate split"),
    )
    components = points.components(form)
    # The last assignment gives every sample to the component that captures most of it: also
    # those whose center lost all its weight, for which the proof allows any choice.
    result = publish(matrix, components, "both", options.asked, trace, MERGED)
    return Outcome(result, double_from_means(clusters.claim))


def disjoint_directions(
    centers: Array, weights: Array, order: Callable[[Array], Array] | None = None
) -> Array:
    """Steps 2 and 3: directions (g, m) with disjoint supports from centers (k, m) and weights.

    ``order`` may rearrange the pairs that give up weight: the proof allows any order.
    """
    return disjoint_groups(centers, weights, order).directions


@dataclass(frozen=True, slots=True)
class Disjoint:
    """What steps 2 and 3 make of centers."""

    directions: Array  # (g, m), disjoint supports
    groups: Array  # (k,) the direction of every center, -1 where it lost all its weight


def disjoint_groups(
    centers: Array, weights: Array, order: Callable[[Array], Array] | None = None
) -> Disjoint:
    """Steps 2 and 3, and which direction stands for which center."""
    cosines = pairwise_cosines(centers)
    slack = cosine_slack(centers.shape[1])
    pairs = pairs_in_band(cosines, slack)
    reduced = reduce_weights(weights, pairs if order is None else order(pairs))
    groups = group_by_angle(reduced.weights, pairs_above_band(cosines, slack))
    return Disjoint(split_coordinates(centers, reduced.weights, groups), groups)


@dataclass(frozen=True, slots=True)
class FullRank:
    """Components of Theorem 9 in the geometry of Y, its promise, and a bound that came along."""

    form: Array  # (g, m), disjoint supports
    promise: APriori
    bounds: tuple[LowerBound, ...]


def full_rank_components(matrix: Matrix) -> FullRank:
    """Theorem 9: as many components as the smaller side has, so no clustering is needed.

    The weight that step 2 cancels is itself paid for by every solution: a lower bound for free.
    """
    wide = matrix.shape[0] <= matrix.shape[1]
    found = factorize_full_rank(matrix.whole(transposed=not wide))
    if wide:
        directions = found.directions
        form = directions if isinstance(directions, np.ndarray) else directions.toarray()
    else:
        form = np.zeros((found.directions.shape[0], matrix.shape[1]))
        used = np.flatnonzero(found.labels >= 0)
        form[found.labels[used], used] = found.scales[used]
    bound = LowerBound(found.lower_bound, "a packing of pairs")
    return FullRank(form, APriori(BAND_RATIO, "always"), (bound,))


def factorize_as_many_as_rows(matrix: Matrix, options: Options) -> Outcome:
    """Both factors orthogonal when k reaches the smaller side (Theorem 9)."""
    found = full_rank_components(matrix)
    trace = Trace(steps_run=("weight reduction", "grouping", "coordinate split"))
    components = Samples(matrix).components(found.form)
    result = publish(matrix, components, "both", options.asked, trace, MERGED)
    return Outcome(result, found.promise, found.bounds)
