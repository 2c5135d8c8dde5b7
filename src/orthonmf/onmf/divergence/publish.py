"""The last steps of a fit under the divergence: assign all rows, order the components, measure.

Components are profiles of sum 1, loadings sums of rows; over features a component holds the scales
of its columns, and loadings are what rows hold in them.
"""

from __future__ import annotations

import math

import numpy as np

from orthonmf.engine.counts import entry_weights
from orthonmf.engine.loadings import Projection
from orthonmf.engine.losses import KULLBACK_LEIBLER
from orthonmf.engine.matrix import Matrix
from orthonmf.engine.profiles import express_by_profiles, measure_divergence
from orthonmf.factorization import Factorization
from orthonmf.onmf.options import Options
from orthonmf.onmf.publish import fall_to, shortage_of, winners_of_columns
from orthonmf.onmf.solution import Solution
from orthonmf.typing import Array
from orthonmf.vectors import divide, unit_sums, winners_only


def publish_profiles(matrix: Matrix, solution: Solution, options: Options) -> Factorization:
    """A Factorization from the components (k, m) of a solution.

    Over features and with a core every column has one label and one scale, so parts cannot
    overlap, whatever came in.
    """
    components = solution.components
    if options.orthogonal == "features":
        components = winners_only(components)
    components = unit_sums(components[components.any(axis=1)]).astype(matrix.dtype)
    expressed = express_by_profiles(matrix, components, options.orthogonal)
    while not (used := np.asarray(expressed.loadings.sum(axis=0)).ravel() > 0).all():
        components = components[used]
        del expressed  # it may be as large as the result
        expressed = express_by_profiles(matrix, components, options.orthogonal)
    return publish_expressed(matrix, components, expressed, solution, options)


def publish_expressed(
    matrix: Matrix,
    components: Array,
    expressed: Projection,
    solution: Solution,
    options: Options,
) -> Factorization:
    """The same for rows expressed by components (k, m) of sum 1 that are all in use."""
    shares = information_shares(matrix, components, expressed, options.orthogonal)
    order = np.argsort(-shares, kind="stable")
    components, shares = components[order], shares[order]
    projection = expressed.in_order(order)
    lost = measure_divergence(matrix, projection, components, options.orthogonal)
    feature_labels, feature_scales = None, None
    if options.orthogonal == "both":
        # A matrix of zeros has no groups.
        groups = components if solution.groups is None else solution.groups
        groups = _groups_in_use(groups, components)
        feature_labels, feature_scales = winners_of_columns(groups.astype(matrix.dtype))
    elif options.orthogonal == "features":
        feature_labels, feature_scales = winners_of_columns(components)
    divergence = matrix.amount(lost.divergence)
    return Factorization(
        orthogonal=options.orthogonal,
        n_components=options.asked,
        components=components,
        loadings=projection.loadings,
        labels=projection.labels,
        scales=projection.scales,
        feature_labels=feature_labels,
        feature_scales=feature_scales,
        error=math.sqrt(2.0 * divergence),
        relative_squared_error=None,
        history=fall_to(solution.history, lost.share),
        n_sweeps=solution.n_sweeps + 1,
        steps_run=(*solution.steps, "final assignment", *matrix.remarks),
        shortage=shortage_of(components, feature_labels, options.asked, solution.unused),
        beta_loss=KULLBACK_LEIBLER,
        divergence=divergence,
        information=matrix.amount(lost.information),
        information_shares=divide(shares, np.full(len(shares), lost.information)),
    )


def information_shares(
    matrix: Matrix, components: Array, projection: Projection, orthogonal: str
) -> Array:
    """(k,) the information that every component keeps, in the units of the matrix.

    ``A_c KL(u_c || overall)`` with A_c the sum of a component and u_c its profile over the side
    that all components share: over columns, and over features over rows.
    """
    loadings = projection.loadings
    weights, column_weights = entry_weights(matrix)
    profiles = components * column_weights
    row_sums = np.ldexp(np.asarray(loadings.T @ weights, dtype=np.float64), -matrix.exponent)
    sizes = row_sums * profiles.sum(axis=1)
    if orthogonal == "features":
        profiles = np.ldexp((loadings * weights[:, None]).T.astype(np.float64), -matrix.exponent)
    joint = unit_sums(profiles) * sizes[:, None]
    overall = divide(joint.sum(axis=0), joint.sum())
    expected = sizes[:, None] * overall
    ratios = np.divide(joint, expected, out=np.ones_like(joint), where=joint > 0)
    return np.maximum((joint * np.log(ratios)).sum(axis=1), 0.0)


def _groups_in_use(groups: Array, components: Array) -> Array:
    """Groups of columns (l, m) that components make use of, the largest first."""
    apart = np.where(components.any(axis=0), winners_only(groups), 0.0)
    sizes = (components @ (apart > 0).T).sum(axis=0)
    order = np.argsort(-sizes, kind="stable")
    return unit_sums(apart[order[sizes[order] > 0]])
