"""The best factors of a partition that is given.

Under the squared error that is one power iteration for every group. With groups on both sides and a
core between them, the two sides take turns: each is exact given the other, and what they end with
is a local optimum. Under the divergence they are known: sums of rows, and pooled profiles.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from orthonmf.alternation import Update
from orthonmf.certificate import NOTHING_PROMISED
from orthonmf.engine.counts import sum_rows
from orthonmf.engine.losses import KULLBACK_LEIBLER
from orthonmf.engine.matrix import Matrix
from orthonmf.engine.points import Points, Samples, columns_of
from orthonmf.engine.profiles import express_by_groups, pool_rows
from orthonmf.errors import InvalidInputError
from orthonmf.factorization import Factorization
from orthonmf.onmf.core.descent import descend_core
from orthonmf.onmf.divergence.core import pool_columns, profiles_of_groups
from orthonmf.onmf.divergence.one_side import scales_of_columns, sum_columns, to_profiles
from orthonmf.onmf.divergence.publish import publish_expressed, publish_profiles
from orthonmf.onmf.options import Options
from orthonmf.onmf.publish import publish_labels
from orthonmf.onmf.solution import CoreSolution, Solution, descend_by, solve_zero
from orthonmf.typing import Array
from orthonmf.vectors import unit_lengths

STEP = "refit of given labels"
UNUSED = "the labels name no more groups that hold anything"
MAX_STEPS = 1000
TOLERANCE = 1e-10


def refit_labels(
    matrix: Matrix, labels: Array | None, feature_labels: Array | None, options: Options
) -> Factorization:
    """The factorization with the smallest error among those with these labels.

    ``labels`` (n,) and ``feature_labels`` (m,) number groups from 0, -1 for none; one of the two
    may be left out. With both, rows and columns of the same number are a block, or where two
    numbers are asked for, groups of rows and groups of columns have a core between them.

    Raises
    ------
    InvalidInputError
        Under the divergence, when a row or a column that holds something is in no group.
    """
    if options.beta_loss == KULLBACK_LEIBLER:
        return _refit_profiles(matrix, labels, feature_labels, options)
    core = isinstance(options.asked, tuple)
    if not matrix.total > 0 or options.n_components == 0 or (core and options.n_groups == 0):
        nothing = None if labels is None else np.full_like(labels, -1)
        return publish_labels(matrix, nothing, solve_zero(matrix, NOTHING_PROMISED), options)
    if core and labels is not None and feature_labels is not None:
        return _refit_core(matrix, labels, feature_labels, options)
    return _refit_partition(matrix, labels, feature_labels, options)


def _refit_partition(
    matrix: Matrix, labels: Array | None, feature_labels: Array | None, options: Options
) -> Factorization:
    """Groups of one side, or blocks: rows and columns of the same number.

    All groups take a power update in one read, from the weighted sum of their points: of
    non-negative points no top singular direction is orthogonal to it.
    """
    rows, k = labels is not None, options.n_components
    points: Points = Samples(matrix) if rows else columns_of(matrix)
    given = labels if labels is not None else feature_labels
    assert given is not None
    support = None
    if rows and feature_labels is not None:
        support = np.arange(k)[:, None] == feature_labels

    def keep_support(directions: Array) -> Array:
        return directions if support is None else np.where(support, directions, 0.0)

    def update(directions: Array) -> Update:
        updated = points.update(given, keep_support(directions))
        return Update(captured=float(updated.captured.sum()), vectors=updated.sums)

    start = points.sums(given, k)
    solution = descend_by(update, start, total=points.total, max_iter=MAX_STEPS, tol=TOLERANCE)
    components = points.components(keep_support(solution.directions), given)
    solution = replace(solution, steps=(STEP,), components=components, unused=UNUSED)
    return publish_labels(matrix, labels, solution, options)


def _refit_core(
    matrix: Matrix, labels: Array, feature_labels: Array, options: Options
) -> Factorization:
    """Groups of rows (n,) and of columns (m,), and a core between them."""
    numbers = np.arange(options.n_groups)[:, None]
    core = np.ones((options.n_components, options.n_groups))
    solutions = []
    for scales in (np.ones(matrix.shape[1]), np.sqrt(matrix.column_squares)):
        groups = unit_lengths(np.where(numbers == feature_labels, scales, 0.0))
        start, given = CoreSolution(groups, core), (labels, feature_labels)
        solutions.append(
            descend_core(matrix, start, max_iter=MAX_STEPS, tol=TOLERANCE, given=given)
        )
    best, points = max(solutions, key=lambda solution: solution.captured), Samples(matrix)
    solution = replace(
        best,
        steps=(STEP,),
        unused=UNUSED,
        components=points.components(best.directions.components),
        groups=points.components(best.directions.groups),
    )
    return publish_labels(matrix, labels, solution, options)


def _refit_profiles(
    matrix: Matrix, labels: Array | None, feature_labels: Array | None, options: Options
) -> Factorization:
    """Sums of rows and pooled profiles: under the divergence the best factors at once."""
    k, groups = options.n_components, None
    column_sums = sum_columns(matrix)
    if feature_labels is not None:
        _refuse_outside(feature_labels, column_sums, "column")
        groups = scales_of_columns(matrix, feature_labels, column_sums)
    if labels is None:
        assert groups is not None
        return publish_profiles(matrix, _of_groups(groups, None), options)
    _refuse_outside(labels, sum_rows(matrix), "row")
    pooled = pool_rows(matrix, labels, k)
    components = to_profiles(matrix, pooled)
    if groups is not None and feature_labels is not None:
        table = pool_columns(pooled, feature_labels, len(groups))
        components = profiles_of_groups(matrix, table, feature_labels, column_sums)
    used = np.flatnonzero(components.any(axis=1))
    numbers = np.full(k + 1, -1)  # the last one for label -1
    numbers[used] = np.arange(len(used))
    components = components[used].astype(matrix.dtype)
    expressed = express_by_groups(matrix, components, numbers[labels])
    return publish_expressed(matrix, components, expressed, _of_groups(components, groups), options)


def _of_groups(components: Array, groups: Array | None) -> Solution:
    return Solution(components, steps=(STEP,), unused=UNUSED, components=components, groups=groups)


def _refuse_outside(labels: Array, sums: Array, side: str) -> None:
    """Refuse a row or column with a positive sum that is in no group."""
    outside = np.flatnonzero((labels < 0) & (sums > 0))
    if len(outside):
        raise InvalidInputError(
            f"{side} {outside[0]} holds something and is in no group, so that its divergence is "
            f"infinite; give it a group, or leave the {side} out"
        )
