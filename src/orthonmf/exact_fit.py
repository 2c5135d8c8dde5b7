"""Whether the stored factors are X itself, decided in exact arithmetic.

A residual that comes out as 0 in floating point proves nothing: the product may have been rounded
to the entry. Here the product of two doubles is split, without error, into a rounded part and the
rest of it (Dekker), so that "equal" means equal.
"""

from __future__ import annotations

import numpy as np

from orthonmf.engine.matrix import Matrix
from orthonmf.factorization import Factorization
from orthonmf.typing import Array

# Half of the digits of a double: the product of two such halves is exact.
HALF = 26


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
    if labels is not None and scales is not None:
        expected = np.where(scales > 0, sizes[labels], 0)
    else:
        expected = np.asarray((result.loadings != 0) @ sizes[:-1])
    return np.array_equal(counts[rows_seen], expected[rows_seen])


def equals_product(values: Array, left: Array, right: Array) -> Array:
    """Where ``values == left * right`` in exact arithmetic, all float64 of one shape.

    Significands lie in [1/2, 1), so nothing over- or underflows, and exponents are compared as
    integers: this holds for all doubles, the smallest included.
    """
    left, left_power = np.frexp(left)
    right, right_power = np.frexp(right)
    product = left * right
    left_high, right_high = _upper_half(left), _upper_half(right)
    left_low, right_low = left - left_high, right - right_high
    rest = left_high * right_high - product
    rest += left_high * right_low
    rest += left_low * right_high
    rest += left_low * right_low
    significand, shift = np.frexp(product)
    wanted, power = np.frexp(values)
    same = (significand == wanted) & (rest == 0.0)
    return same & ((wanted == 0.0) | (shift + left_power + right_power == power))


def _upper_half(significands: Array) -> Array:
    """The nearest numbers of 26 digits: what is left has 26 at most."""
    return np.ldexp(np.rint(np.ldexp(significands, HALF)), -HALF)
