"""Whether the stored factors are X itself, decided in exact arithmetic.

A residual that comes out as 0 in floating point proves nothing: the product may have been rounded
to the entry. Here significands are multiplied as integers of Python, so that "equal" means equal.
"""

from __future__ import annotations

import numpy as np

from orthonmf.engine.matrix import Matrix
from orthonmf.factorization import Factorization
from orthonmf.typing import Array

DIGITS = 53  # of the significand of a double


def fits_exactly(matrix: Matrix, result: Factorization) -> bool:
    """Whether ``loadings @ components`` equals X, exactly, wherever X has weight.

    Every entry of X must be the product of its two factors, and no product may stand where X is
    zero: counting both tells. Rows that underflow count as zero and are not compared. Where
    reading entries costs a pass, nothing is decided: False.
    """
    if not matrix.source.in_memory:
        return False
    n, m = matrix.shape
    rows_seen = np.ones(n, bool) if matrix.row_weights is None else matrix.row_weights > 0
    rows_seen[matrix.underflown] = False
    seen = np.ones(m, bool) if matrix.column_factors is None else matrix.column_factors > 0
    # The last component, all zero, is for rows and columns of label -1.
    components = np.pad(result.components.astype(np.float64), ((0, 1), (0, 0)))
    labels, scales, feature_labels = result.labels, result.scales, result.feature_labels
    counts = np.zeros(n, dtype=np.int64)
    for rows, columns, values in matrix.list_entries():
        kept = rows_seen[rows] & seen[columns]
        rows, columns = rows[kept], columns[kept]
        if labels is not None and scales is not None:
            own, left = labels[rows], scales[rows]
        elif len(result.components) and feature_labels is not None:
            own = feature_labels[columns]
            left = result.loadings[rows, own]
        else:
            own, left = -1, np.zeros(len(rows))
        right = components[own, columns]
        if not equals_product(values[kept], left.astype(np.float64), right).all():
            return False
        counts += np.bincount(rows, minlength=n)
    # Of every row, how many entries the product does not leave zero.
    sizes = np.count_nonzero(components[:, seen], axis=1)
    expected = np.asarray((result.loadings != 0) @ sizes[:-1])
    return np.array_equal(counts[rows_seen], expected[rows_seen])


def equals_product(values: Array, left: Array, right: Array) -> Array:
    """Where ``values == left * right`` in exact arithmetic, all float64 of one shape.

    Exponents are compared by themselves: this holds for all doubles, the smallest included.
    """
    (wanted, power), (left, left_power), (right, right_power) = map(_split, (values, left, right))
    # Equal ones differ by 52 or 53 powers of two, as significands have 53 digits.
    shift = np.clip(power - left_power - right_power, 0, 2 * DIGITS)
    return np.asarray(left * right == wanted << shift, dtype=bool)


def _split(numbers: Array) -> tuple[Array, Array]:
    """Integers of Python and powers of two, whose products the numbers are."""
    significands, exponents = np.frexp(numbers)
    return np.ldexp(significands, DIGITS).astype(np.int64).astype(object), exponents - DIGITS
