"""The best factors of given groups under the divergence: sums of rows, and pooled profiles."""

from __future__ import annotations

import numpy as np

from orthonmf.engine.counts import sum_rows
from orthonmf.engine.matrix import Matrix
from orthonmf.engine.profiles import express_by_groups, pool_rows
from orthonmf.errors import InvalidInputError
from orthonmf.factorization import Factorization
from orthonmf.onmf.divergence.core import pool_columns, profiles_of_groups
from orthonmf.onmf.divergence.one_side import scales_of_columns, sum_columns, to_profiles
from orthonmf.onmf.divergence.publish import publish_expressed, publish_profiles
from orthonmf.onmf.options import Options
from orthonmf.onmf.refit import STEP, UNUSED
from orthonmf.onmf.solution import Solution
from orthonmf.typing import Array


def refit_profiles(
    matrix: Matrix, labels: Array | None, feature_labels: Array | None, options: Options
) -> Factorization:
    """The factorization with the smallest divergence among those with these groups.

    ``labels`` (n,) and ``feature_labels`` (m,) number groups from 0, -1 for none; with both there
    is a core between them.

    Raises
    ------
    InvalidInputError
        When a row or a column that holds something is in no group.
    """
    k, groups = options.n_components, None
    column_sums = sum_columns(matrix)
    if feature_labels is not None:
        _refuse_outside(feature_labels, column_sums, "column")
        groups = scales_of_columns(matrix, feature_labels, column_sums)
    if labels is None:
        assert groups is not None
        return publish_profiles(matrix, _solution(groups, None), options)
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
    return publish_expressed(matrix, components, expressed, _solution(components, groups), options)


def _solution(components: Array, groups: Array | None) -> Solution:
    return Solution(components, steps=(STEP,), unused=UNUSED, components=components, groups=groups)


def _refuse_outside(labels: Array, sums: Array, side: str) -> None:
    """Refuse a row or column with a positive sum that is in no group."""
    outside = np.flatnonzero((labels < 0) & (sums > 0))
    if len(outside):
        raise InvalidInputError(
            f"{side} {outside[0]} holds something and is in no group, so that its divergence is "
            f"infinite; give it a group, or leave the {side} out"
        )
