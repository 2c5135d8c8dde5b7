"""A checked Cholesky factor: how far a matrix can be from lying above another one."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy.linalg import LinAlgError, cholesky

from orthonmf.engine.segments import slices
from orthonmf.rounding import (
    SINGLE_ROUNDOFF,
    UNIT_ROUNDOFF,
    growth,
    norm_from_above,
    round_up,
)
from orthonmf.typing import Array

PANEL = 256  # rows and columns that are checked at once
# How many numbers are summed in the precision of the factor before float64 takes over.
SUMMANDS = 64
SINGLE_UNDERFLOW = 2.0**-120  # more than an operation that underflows in float32 can lose


@dataclass(frozen=True, slots=True)
class Cover:
    """The matrix t I + V diag(c) V^T, which may lie above another one."""

    level: float  # t
    excess: Array  # (l,) c >= 0, largest first
    vectors: Array  # (p, l) V, any

    def sum_of_largest(self, k: int) -> float:
        """About the sum of its k largest eigenvalues, when V is about orthonormal."""
        return k * self.level + float(self.excess[:k].sum())


def how_far_below(matrix: Array, cover: Cover, dtype: type = np.float64) -> float:
    """A number e such that  t I + V diag(c) V^T - B >= -E  for some E of norm e at most.

    ``matrix`` B is symmetric (p, p) float64, its entries in the safe range. The witness is a
    Cholesky factor F, found in ``dtype``: E = t I + V diag(c) V^T - B - F^T F  will do, however
    poor F is. Infinite when no factor was found. Costs p^3/3 operations, and as many to check it.
    """
    checked = check_factor(matrix, cover, dtype)
    return math.inf if checked is None else checked[1]


def check_factor(
    matrix: Array, cover: Cover, dtype: type = np.float64
) -> tuple[Array, float] | None:
    """An upper triangular F, and an upper bound on the norm of  t I + V diag(c) V^T - B - F^T F.

    As in `how_far_below`; in float32 F is one of the matrix divided by a unit near the level.
    """
    # Float32 has a short range of exponents: the unit brings the level near 1.
    unit = math.ldexp(1.0, math.frexp(cover.level)[1]) if dtype is np.float32 else 1.0
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        factor = _factor(matrix, cover, unit, dtype)
        if factor is None:
            return None
        diagonal = np.diagonal(factor).copy()
        np.fill_diagonal(factor, 0.0)
        defect = _defect(matrix, cover, factor, diagonal.astype(np.float64), unit)
    np.fill_diagonal(factor, diagonal)
    return (factor, defect) if math.isfinite(defect) else None


def _factor(matrix: Array, cover: Cover, unit: float, dtype: type) -> Array | None:
    """The upper Cholesky factor of (t I + V diag(c) V^T - B) / unit."""
    p = len(matrix)
    difference: Array = np.zeros((p, p), dtype)
    for rows in slices(p, PANEL):
        right = slice(rows.start, p)
        difference[rows, right] = _difference(matrix, cover, rows, right) / unit
    try:
        # The transpose of a C-ordered matrix is in LAPACK's order: no copy is made.
        lower = cholesky(difference.T, lower=True, overwrite_a=True, check_finite=False)
    except LinAlgError:
        return None
    return np.asarray(lower.T)


def _difference(matrix: Array, cover: Cover, rows: slice, columns: slice) -> Array:
    """A part of t I + V diag(c) V^T - B that begins on the diagonal or lies right of it."""
    part: Array = (cover.vectors[rows] * cover.excess) @ cover.vectors[columns].T
    part -= matrix[rows, columns]
    if rows.start == columns.start:
        diagonal = np.arange(len(part))
        part[diagonal, diagonal] += cover.level
    return part


def _defect(matrix: Array, cover: Cover, factor: Array, diagonal: Array, unit: float) -> float:
    """An upper bound on |t I + V diag(c) V^T - B - unit F^T F|.

    With the diagonal d of F, in float64, and its strictly upper part U, which is ``factor``,
    F^T F = U^T U + d U + U^T d + d^2. Only U^T U is summed in the precision of F, over a few rows
    at a time; U is small where the level dominates. All else is float64: an entry takes part in at
    most l + 1 roundings for V diag(c) V^T, one for each other product, and one for each number it
    is added to, at most r + 6 for r such sums. So the rounding of an entry is at most g(l + r + 8)
    times the sum of the absolute values of its terms, which in norm is
    sum_j c_j |v_j|^2 + |t| sqrt(p) + |B| + unit |F|^2;  plus g(summands), in the precision of F,
    times an entry of |U|^T |U|, in norm |U|^2; plus what single products lost to underflow.
    """
    p, count = cover.vectors.shape
    panels = list(slices(p, PANEL))
    total, upper = 0.0, 0.0
    for j, right in enumerate(panels):
        for i, left in enumerate(panels[: j + 1]):
            corner = factor[left, right].astype(np.float64)
            upper += float(np.vdot(corner, corner))
            difference = diagonal[left, None] * corner
            if i == j:
                difference += corner.T * diagonal[right]
                difference += np.diag(diagonal[right] ** 2)
            for inner in slices(left.stop, SUMMANDS):
                difference += factor[inner, left].T @ factor[inner, right]
            difference *= -unit
            difference += _difference(matrix, cover, left, right)
            # Off the diagonal every part stands for its mate below, too.
            total += (1.0 if i == j else 2.0) * float(np.vdot(difference, difference))
    single = factor.dtype == np.float32
    upper = round_up(upper, p * p)
    whole = upper + round_up(float(diagonal @ diagonal), p)
    raised = float(cover.excess @ np.einsum("ij,ij->j", cover.vectors, cover.vectors))
    terms = round_up(raised, p + count + 2) + abs(cover.level) * math.sqrt(p)
    terms += norm_from_above(matrix) + unit * whole
    rounding = growth(count + -(-p // SUMMANDS) + 8) * terms
    rounding += growth(SUMMANDS, SINGLE_ROUNDOFF if single else UNIT_ROUNDOFF) * unit * upper
    underflow = p * p * SINGLE_UNDERFLOW * unit if single else 0.0
    return round_up(round_up(math.sqrt(total), p * p + 2) + rounding + underflow, 8)
