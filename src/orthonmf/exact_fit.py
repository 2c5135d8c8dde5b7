"""Whether the stored factors are X itself, decided in exact arithmetic.

A residual that comes out as 0 in floating point proves nothing: the product may have been rounded
to the entry. Here the product of two doubles is split, without error, into a rounded part and the
rest of it (Dekker), so that "equal" means equal.
"""

from __future__ import annotations

from typing import Any

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
    fit = _Fit(result, seen)
    counts = np.zeros(n, dtype=np.int64)
    for rows, columns, values in matrix.list_entries():
        kept = rows_seen[rows] & seen[columns]
        rows, columns = rows[kept], columns[kept]
        if not equals_product(values[kept], *fit.factors(rows, columns)).all():
            return False
        counts += np.bincount(rows, minlength=n)
    return np.array_equal(counts[rows_seen], fit.counts()[rows_seen])


class _Fit:
    """The two numbers whose product stands for every entry of X."""

    def __init__(self, result: Factorization, seen: Array) -> None:
        self._result, self._seen = result, seen
        # The last one, all zero, is for rows and columns of label -1.
        self._components = np.pad(result.components.astype(np.float64), ((0, 1), (0, 0)))

    def factors(self, rows: Array, columns: Array) -> tuple[Array, Array]:
        """Both factors of the entries at these rows and columns, (c,) each, in float64."""
        result, components = self._result, self._components
        if result.labels is not None and result.scales is not None:
            right = components[result.labels[rows], columns]
            return result.scales[rows].astype(np.float64), right
        labels: Any = result.feature_labels
        if len(result.components) == 0:
            return np.zeros(len(rows)), np.zeros(len(rows))
        left = result.loadings[rows, labels[columns]].astype(np.float64)
        return left, components[labels[columns], columns]

    def counts(self) -> Array:
        """(n,) how many entries of every row the product does not leave zero, exactly."""
        result = self._result
        sizes = np.count_nonzero(self._components[:, self._seen], axis=1)
        if result.labels is not None and result.scales is not None:
            return np.where(result.scales > 0, sizes[result.labels], 0)
        return np.asarray((result.loadings != 0) @ sizes[:-1])


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
