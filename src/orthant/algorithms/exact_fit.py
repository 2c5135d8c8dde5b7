"""Whether the stored factors are X itself, decided in exact arithmetic.

A residual that comes out as 0 in floating point proves nothing: the product may have been rounded
to the entry. Here the product of two doubles is split, without error, into a rounded part and the
rest of it (Dekker), so that "equal" means equal.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from orthant.arrays import Array
from orthant.engine.matrix import Matrix
from orthant.factorization import Factorization

# Entries compared at once.
ENTRIES_AT_ONCE = 2**20
# Half of the digits of a double: the product of two such halves is exact.
HALF = 26


def fits_exactly(matrix: Matrix, result: Factorization) -> bool:
    """Whether ``loadings @ components`` equals X, exactly, wherever X has weight.

    Where rows can only be had by a pass of their own, nothing is decided: False.
    """
    columns = np.ones(matrix.shape[1], dtype=bool)
    if matrix.column_factors is not None:
        columns = matrix.column_factors > 0
    rows = np.arange(matrix.shape[0])
    if matrix.row_weights is not None:
        rows = rows[matrix.row_weights > 0]
    stored = matrix.stored_rows(rows, ENTRIES_AT_ONCE)
    fit = _Fit(result, columns)
    return stored is not None and all(fit.equals(some, numbers) for numbers, some in stored)


class _Fit:
    """The two numbers whose product stands for every entry of X; columns left out are not seen."""

    def __init__(self, result: Factorization, columns: Array) -> None:
        self._result, self._columns = result, columns
        # The last one, all zero, is for rows and columns of label -1.
        padded = ((0, 1), (0, 0))
        self._components = np.pad(result.components.astype(np.float64), padded)

    def equals(self, rows: Array, numbers: Array) -> bool:
        """Whether these rows (b, m) of X are the exact product."""
        left, right = self._factors(numbers)
        seen = self._columns
        return bool(equals_product(rows[:, seen], left[:, seen], right[:, seen]).all())

    def _factors(self, numbers: Array) -> tuple[Array, Array]:
        result = self._result
        if result.labels is not None and result.scales is not None:
            right = self._components[result.labels[numbers]]
            left = result.scales[numbers].astype(np.float64)[:, None]
            return np.broadcast_to(left, right.shape), right
        labels: Any = result.feature_labels
        loadings = np.pad(result.loadings[numbers].astype(np.float64), ((0, 0), (0, 1)))
        left = loadings[:, labels]
        right = self._components[labels, np.arange(len(labels))]
        return left, np.broadcast_to(right, left.shape)


def equals_product(values: Array, left: Array, right: Array) -> Array:
    """Where ``values == left * right`` in exact arithmetic, all float64 of one shape.

    Significands lie in [1/2, 1), so nothing over- or underflows, and exponents are compared as
    integers: this holds for all doubles, the smallest included.
    """
    one, power_of_one = np.frexp(left)
    other, power_of_other = np.frexp(right)
    product = one * other
    high, other_high = _upper_half(one), _upper_half(other)
    low, other_low = one - high, other - other_high
    rest = high * other_high - product
    rest += high * other_low
    rest += low * other_high
    rest += low * other_low
    significand, shift = np.frexp(product)
    wanted, power = np.frexp(values)
    same = (significand == wanted) & (rest == 0.0)
    return same & ((wanted == 0.0) | (shift + power_of_one + power_of_other == power))


def _upper_half(significands: Array) -> Array:
    """The nearest numbers of 26 digits: what is left has 26 at most."""
    return np.ldexp(np.rint(np.ldexp(significands, HALF)), -HALF)
