"""The other side of a search for a multiplier: the matrix Z it ends with, as rows to be clustered.

For a partition Z is a sum of u u^T over its parts, u >= 0 of length 1 on the points of one part. A
row of W, Z = W W^T, then lies on the axis of its part. What the relaxation ends with is a mixture
of such matrices, and clusters of its rows are a partition that ordinary draws may not find.

What is done follows from sizes and from the seconds that are given, by counting, never from a
clock: the same points give the same rows.
"""

from __future__ import annotations

import math

import numpy as np

from orthonmf.bounds.allowance import (
    LARGEST_MATRIX,
    PAIR_BYTES,
    PER_ENTRY,
    Allowance,
    has_room,
)
from orthonmf.bounds.groups import N_GROUPS, group_points, leading_directions
from orthonmf.bounds.relaxation import (
    DOUBLE_SIDE,
    Aim,
    search,
    unit_above,
)
from orthonmf.engine.points import Samples
from orthonmf.rounding import safe_exponent
from orthonmf.typing import Array

# A search for Z ends after so many iterations, or when a few gain no more than this.
ITERATIONS, PRECISION = 60, 1e-4


def relaxed_rows(points: Samples, k: int, seconds: float) -> Array | None:
    """W (N, r) with W W^T about Z, zero for points that take no part; None where that is too much.

    Of all points, or of groups of them where they are too many for the seconds.
    """
    heavy = np.flatnonzero(points.weights > 0)
    largest = min(LARGEST_MATRIX, math.sqrt(seconds / (ITERATIONS * PER_ENTRY)))
    if not 1 < k < len(heavy) or safe_exponent(points.total):
        return None
    if len(heavy) <= largest and has_room(PAIR_BYTES * len(heavy) ** 2):
        dtype = np.float64 if len(heavy) <= DOUBLE_SIDE else np.float32
        of_heavy = _solve((points.gram_of(heavy) / unit_above(points.total)).astype(dtype), k)
        rows = np.zeros((len(points.weights), of_heavy.shape[1]))
        rows[heavy] = of_heavy
        return rows
    return _rows_of_groups(points, k, largest)


def _rows_of_groups(points: Samples, k: int, largest: float) -> Array | None:
    """The same from groups: every point has the row of its group, by its share."""
    matrix = points.matrix
    n, m = matrix.shape
    fits = k < N_GROUPS <= largest and m <= LARGEST_MATRIX
    if not fits or not has_room(PAIR_BYTES * (n * N_GROUPS + m * m)):
        return None
    whole = matrix.whole()
    groups = group_points(whole, leading_directions(matrix.gram()), N_GROUPS)
    sums = np.asarray(groups.T @ whole)
    if len(sums) <= k:
        return None
    unit = unit_above(points.total)
    return np.asarray(groups @ _solve((sums @ sums.T / unit).astype(np.float32), k))


def _solve(gram: Array, k: int) -> Array:
    """W (p, r) of the last Z."""
    aim = Aim(1.0, PRECISION, max_iter=ITERATIONS)
    return search(gram, k, aim, Allowance()).root.astype(np.float64)
