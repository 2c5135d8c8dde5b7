"""Whether data are those of a fit: the lengths of their rows and the error, up to rounding."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from orthonmf.certification.evidence import Held
from orthonmf.engine.loadings import Projection
from orthonmf.engine.matrix import Matrix
from orthonmf.engine.unchanged import RowLengths
from orthonmf.errors import InvalidInputError, InvalidTypeError, OrthoNMFError, SourceChangedError
from orthonmf.factorization import Factorization
from orthonmf.inputs.data import Data
from orthonmf.numerics.arrays import Array
from orthonmf.numerics.rounding import LIGHT, WEIGHT_ROUNDINGS, growth

REMEDY = "fit again, or call certify(X, method='svd') with the data that were fitted"


@dataclass(frozen=True, slots=True)
class Measured:
    """The squared error of a result, from numbers that were just read, in the units of Y."""

    squared: float
    direct: bool  # summed over all entries, else the total less what is captured


def read_again(held: Held, result: Factorization) -> Matrix:
    """The data that a result holds, refused if they changed or can no longer be read."""
    try:
        matrix = held.data.read(result.orthogonal)
    except (InvalidInputError, InvalidTypeError) as error:
        raise SourceChangedError(f"X changed since it was fitted: {error}; {REMEDY}") from error
    except (OrthoNMFError, MemoryError):
        raise
    except Exception as error:  # whatever a closed file or a lost connection raises
        why = f"{type(error).__name__}: {error}"
        raise SourceChangedError(f"X can no longer be read ({why}); {REMEDY}") from error
    if matrix.shape != _shape_of(result):
        raise SourceChangedError(
            f"X has shape {matrix.shape} now, and had {_shape_of(result)} when it was fitted; "
            f"{REMEDY}"
        )
    now = RowLengths(matrix.row_squares, matrix.units)
    row = held.lengths.first_change(now, matrix.shape[1] + WEIGHT_ROUNDINGS)
    if row is not None:
        raise SourceChangedError(f"row {row:,} of X changed since it was fitted; {REMEDY}")
    return matrix


def read_given(data: Data, result: Factorization) -> Matrix:
    """Data that are given for a result, refused if their shape is another."""
    matrix = data.read(result.orthogonal)
    if matrix.shape != _shape_of(result):
        raise InvalidInputError(
            f"X has shape {matrix.shape}, but a matrix of shape {_shape_of(result)} was fitted"
        )
    return matrix


def measure_again(matrix: Matrix, result: Factorization) -> Measured:
    """The squared error of the stored factors on what is read now; refused if it is another.

    Where the components still give the same loadings, bit by bit, what they capture tells the
    error; else all entries are compared with the product.
    """
    found = matrix.express(result.components, result.orthogonal)
    if _same_loadings(found, result):
        energies = matrix.energies_of(result.components, found)
        measured = Measured(*matrix.squared_error(result.components, found, energies))
    else:
        measured = Measured(matrix.residual(result.loadings, result.components), True)
    if not _same_error(matrix, result, measured.squared):
        raise SourceChangedError(
            "the error of the result on X, or the norm of X, is not what it was in the fit: X or "
            "its weights (sample_weight must be given again) are others, or have changed; " + REMEDY
        )
    return measured


def _shape_of(result: Factorization) -> tuple[int, int]:
    return result.loadings.shape[0], result.components.shape[1]


def _same_loadings(found: Projection, result: Factorization) -> bool:
    pairs: list[tuple[Array | None, Array | None]] = [(found.dense, result.loadings)]
    if result.labels is not None:
        pairs = [(found.labels, result.labels), (found.scales, result.scales)]
    return all(np.array_equal(one, other) for one, other in pairs)  # type: ignore[arg-type]


def _same_error(matrix: Matrix, result: Factorization, squared: float) -> bool:
    """Whether the relative squared error and the norm are those of the fit, up to rounding."""
    n, m = matrix.shape
    total, wanted = matrix.total, result.relative_squared_error
    if not total > 0:
        return len(result.components) == 0 and result.error == 0
    # The scales are products of m numbers of this dtype; the sum over all entries is in float64.
    rounding = 8.0 * (m + 16) * float(np.finfo(result.components.dtype).eps) + growth(n * m)
    if not abs(squared / total - wanted) <= rounding:
        return False
    if not min(wanted, wanted * total, result.error) > LIGHT:
        return True  # too little error to tell the norm from, and next to none on X either
    return abs(matrix.in_units_of_x(math.sqrt(wanted * total)) / result.error - 1.0) <= rounding
