"""What a stored result costs on the numbers that are read now, which must be those of its fit.

The cost is the squared error or the divergence of the stored factors, measured by passes over the
rows and bounded from above, rounding included. Numbers on which it is another than in the fit are
refused.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from orthonmf.engine.counts import Counts, read_counts
from orthonmf.engine.loadings import Projection
from orthonmf.engine.losses import FROBENIUS, KULLBACK_LEIBLER
from orthonmf.engine.matrix import CANCELLATION, Matrix, scales_are_accurate
from orthonmf.engine.memory import refuse_beyond_memory
from orthonmf.engine.profiles import measure_divergence
from orthonmf.errors import SourceChangedError
from orthonmf.evidence import OTHERS, REMEDY
from orthonmf.factorization import Factorization
from orthonmf.rounding import (
    LIGHT,
    LOGARITHM,
    WEIGHT_ROUNDINGS,
    captured_error_upper_bound,
    error_upper_bound,
    growth,
    round_up,
)

# A norm of the residual below so many roundings of each entry is at the level of rounding, and so
# is a divergence below so many times what rounding may have taken from it.
ROUNDING_LEVEL = 2**10
ENTRY_BYTES = 120  # that counts and their bounds take for every entry of X
SHARE_ROUNDINGS = 4  # of a share of the information
WEIGHTED_ENTRY = 6  # an entry is multiplied by two weights, and the root of one was squared


@dataclass(frozen=True, slots=True)
class Cost:
    """What a result costs, in the units in which its bounds are: of Y, or of the counts."""

    measured: float
    most: float  # rounding included
    level: float  # what is measured at most where all of it may be rounding
    whole: tuple[float, float]  # what shares are of lies between these
    roundings: int  # of a share
    counts: Counts | None = None  # X with its weights multiplied in, under the divergence
    unsure: float = 0.0  # by how much these weights may change a divergence


def cost_by_error(matrix: Matrix, result: Factorization) -> Cost:
    """The squared error of a result on this matrix, refused where it is not that of the fit."""
    return cost_of_error(matrix, result, *measure_error(matrix, result))


def cost_of_error(matrix: Matrix, result: Factorization, squared: float, direct: bool) -> Cost:
    """What a squared error in the units of Y says; ``direct`` if all entries were compared."""
    level = (ROUNDING_LEVEL * float(np.finfo(matrix.dtype).eps) / 2) ** 2 * matrix.total
    most = bound_error(matrix, result, squared, direct)
    roundings = sum(matrix.shape) + WEIGHT_ROUNDINGS
    return Cost(squared, most, level, (matrix.total, matrix.total), roundings)


def measure_error(matrix: Matrix, result: Factorization) -> tuple[float, bool]:
    """The squared error of the stored factors in the units of Y, and if all entries were compared.

    Where the components still give the same loadings, bit by bit, what they capture tells the
    error; else all entries are compared with the product.

    Raises
    ------
    SourceChangedError
        When the error on this matrix is not that of the fit, up to rounding.
    """
    expressed = matrix.express(result.components, result.orthogonal)
    pairs: list[tuple[Any, Any]] = [(expressed.dense, result.loadings)]
    if result.labels is not None:
        pairs = [(expressed.labels, result.labels), (expressed.scales, result.scales)]
    if all(np.array_equal(now, before) for now, before in pairs):
        squared, direct = matrix.squared_error(result.components, expressed)
    else:
        squared, direct = matrix.residual(projection_of(result), result.components), True
    refuse_other_error(matrix, result, squared)
    return squared, direct


def projection_of(result: Factorization) -> Projection:
    """The rows of a result, expressed by its components as they are stored."""
    if result.labels is None:
        return Projection(result.loadings)
    return Projection(None, result.labels, result.scales, len(result.components))


def refuse_other_error(matrix: Matrix, result: Factorization, squared: float) -> None:
    """Refuse a matrix on which the result has another error than in its fit, or another norm.

    A change that rounding could have made goes unnoticed, and so does one that leaves the error
    as it is; a claim that is made then is still about the numbers that were read now.
    """
    n, m = matrix.shape
    total, fitted = matrix.total, result.relative_error
    if not total > 0:
        same = len(result.components) == 0 and result.error == 0
        error = 0.0
    else:
        # Scales are products of m numbers of this dtype; the sum over all entries is in float64.
        rounding = 8.0 * (m + 16) * float(np.finfo(result.components.dtype).eps) + growth(n * m)
        error = squared / total
        same = abs(error - fitted) <= rounding
        # With next to no error the norm cannot be told from it, and a claim says no more.
        if same and min(fitted, fitted * total, result.error) > LIGHT:
            norm = matrix.in_units_of_x(math.sqrt(fitted * total))
            same = abs(norm / result.error - 1.0) <= rounding
    if not same:
        raise SourceChangedError(
            f"the error of the result on X, or the norm of X, is not what it was in the fit "
            f"(relative squared error {error:.6g}, then {fitted:.6g}): {OTHERS}; {REMEDY}"
        )


def bound_error(matrix: Matrix, result: Factorization, squared: float, direct: bool) -> float:
    """An upper bound on the exact squared error of the stored factors, in the units of Y."""
    total = matrix.total
    n, m = matrix.shape
    exact = matrix.dtype == np.float64 and scales_are_accurate(
        result.loadings if result.scales is None else result.scales
    )
    if not direct and (not exact or squared < CANCELLATION[matrix.dtype] * total * 1.01):
        squared = matrix.residual(projection_of(result), result.components)
    elif not direct and matrix.column_factors is None:
        lengths = np.einsum("sh,sh->s", result.components, result.components)
        return captured_error_upper_bound(squared, total, matrix.shape, lengths)
    return error_upper_bound(squared, total, n * m)


def cost_by_divergence(matrix: Matrix, result: Factorization) -> Cost:
    """The divergence of a result, next to what a single component loses; refused likewise."""
    needed = ENTRY_BYTES * matrix.n_entries
    refuse_beyond_memory(needed, "the certificate", "the factorization stands without it")
    counts = read_counts(matrix)
    measured = measure_divergence(
        matrix, projection_of(result), result.components, result.orthogonal
    ).divergence
    most = divergence_from_above(measured, counts)
    fitted, now = float(result.divergence or 0.0), matrix.amount(measured)
    allowed = 4.0 * (matrix.amount(most) - now)
    if not math.isfinite(now) or abs(now - fitted) > allowed:
        raise SourceChangedError(
            f"the divergence of the result on X is {now:.6g}, and was {fitted:.6g} in the fit: "
            f"{OTHERS}; {REMEDY}"
        )
    weighted = matrix.row_weights is not None or matrix.column_factors is not None
    unsure = weights_may_change(counts) if weighted else 0.0
    low, high = information_between(counts)
    level = ROUNDING_LEVEL * (most - measured)
    whole = low - unsure, high + unsure
    return Cost(measured, most, level, whole, SHARE_ROUNDINGS, counts, unsure)


def information_between(counts: Counts) -> tuple[float, float]:
    """Bounds on ``N I(X; Y)`` of counts as they are stored, what a single part loses."""
    x, total = counts.rows.data, counts.total
    if not total > 0:
        return 0.0, 0.0
    sums = counts.row_sums[counts.owners], counts.column_sums[counts.rows.indices]
    entries = np.log(x), np.log(sums[0]), np.log(sums[1])
    whole = math.log(total)
    sizes = float(x @ sum(np.abs(part) for part in entries)) + total * (4.0 + abs(whole))
    value = float(x @ (entries[0] - entries[1] - entries[2] + whole))
    operations = 2 * (len(x) + sum(counts.shape)) + LOGARITHM
    error = round_up(growth(operations) * sizes, operations)
    return max(0.0, value - error), value + error


def divergence_from_above(measured: float, counts: Counts) -> float:
    """An upper bound on the divergence of stored factors that was summed over all entries.

    ``sum x ln(x / y) - x + y``: the sum of the absolute values of its first terms is at most their
    sum and twice that of y, so all that is summed is at most the divergence and a few N in size.
    """
    operations = 2 * (len(counts.rows.data) + sum(counts.shape)) + LOGARITHM + 2 * WEIGHTED_ENTRY
    return round_up(measured + growth(operations) * (measured + 8.0 * counts.total), 4)


def weights_may_change(counts: Counts) -> float:
    """By how much divergences may differ for entries that are rounded products with weights.

    What a partition costs is homogeneous in X, with slopes of at most ``ln(N / x_ij)`` in size.
    """
    x, total = counts.rows.data, counts.total
    if not total > 0:
        return 0.0
    joint = float(x @ (math.log(total) - np.log(x)))
    return round_up(growth(WEIGHTED_ENTRY) * (joint + total), 2 * len(x) + LOGARITHM)


COSTS = {FROBENIUS: cost_by_error, KULLBACK_LEIBLER: cost_by_divergence}
