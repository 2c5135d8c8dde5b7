"""Whether the stored factors are X itself, decided in exact arithmetic.

A residual that comes out as 0 in floating point proves nothing: the product may have been rounded
to the entry. Here the product of two doubles is split, without error, into a rounded part and the
rest of it (Dekker), so that "equal" means equal.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from orthant.arrays import Array
from orthant.engine.matrix import Matrix
from orthant.engine.points import Samples
from orthant.factorization import Factorization

# Entries compared at once.
ENTRIES_AT_ONCE = 2**20
# Half of the digits of a double: the product of two such halves is exact.
HALF = 26


def fits_exactly(matrix: Matrix, result: Factorization) -> bool:
    """Whether ``loadings @ components`` equals X, exactly, wherever X has weight.

    Where rows can only be had by a pass of their own, nothing is decided: False.
    """
    if not Samples(matrix).at_hand:
        return False
    columns = np.ones(matrix.shape[1], dtype=bool)
    if matrix.column_factors is not None:
        columns = matrix.column_factors > 0
    fit = _Fit(result, columns)
    for number, (start, stop) in enumerate(pairwise(matrix.source.boundaries.tolist())):
        rows = np.arange(start, stop)
        if matrix.row_weights is not None:
            rows = rows[matrix.row_weights[start:stop] > 0]
        block = matrix.source.block(number)[rows - start]
        equals = fit.equals_dense if isinstance(block, np.ndarray) else fit.equals_sparse
        if not equals(block, rows):
            return False
    return True


class _Fit:
    """The two numbers whose product stands for every entry of X; columns left out are not seen."""

    def __init__(self, result: Factorization, seen: Array) -> None:
        self._result, self._seen = result, seen
        # The last one, all zero, is for rows and columns of label -1.
        self._components = np.pad(result.components.astype(np.float64), ((0, 1), (0, 0)))

    def equals_dense(self, block: Array, numbers: Array) -> bool:
        """Whether the rows of X with these numbers, (b, m), are the exact product."""
        columns = np.flatnonzero(self._seen)
        size = max(1, ENTRIES_AT_ONCE // max(1, len(columns)))
        for start in range(0, len(block), size):
            part = slice(start, start + size)
            left, right = self._factors(numbers[part, None], columns[None])
            if not equals_product(block[part][:, columns], left, right).all():
                return False
        return True

    def equals_sparse(self, block: csr_array, numbers: Array) -> bool:
        """The same for a CSR block: its entries are the product, and there are no others."""
        lengths = np.diff(block.indptr)
        stored = self._seen[block.indices] & (block.data != 0)
        rows, columns = np.repeat(np.arange(len(lengths)), lengths)[stored], block.indices[stored]
        counts = np.bincount(rows, minlength=len(lengths))
        if not np.array_equal(counts, self._counts(numbers)):
            return False
        left, right = self._factors(numbers[rows], columns)
        return bool(equals_product(block.data[stored], left, right).all())

    def _factors(self, rows: Array, columns: Array) -> tuple[Array, Array]:
        """Both factors of the entries at these rows and columns, in float64."""
        result, components = self._result, self._components
        if result.labels is not None and result.scales is not None:
            right = components[result.labels[rows], columns]
            return np.broadcast_to(result.scales[rows], right.shape), right
        labels: Any = result.feature_labels
        right = np.broadcast_to(components[labels[columns], columns], (rows + columns).shape)
        if len(result.components) == 0:
            return np.zeros(right.shape), right
        return result.loadings[rows, labels[columns]], right

    def _counts(self, rows: Array) -> Array:
        """How many entries of these rows the product does not leave zero, exactly."""
        result, sizes = self._result, np.count_nonzero(self._components[:, self._seen], axis=1)
        if result.labels is not None and result.scales is not None:
            return np.where(result.scales[rows] > 0, sizes[result.labels[rows]], 0)
        return np.asarray((result.loadings[rows] != 0) @ sizes[:-1])


def equals_product(values: Array, left: Array, right: Array) -> Array:
    """Where ``values == left * right`` in exact arithmetic: floats of one shape, of any precision.

    Significands lie in [1/2, 1), so nothing over- or underflows, and exponents are compared as
    integers: this holds for all doubles, the smallest included.
    """
    one, power_of_one = np.frexp(left.astype(np.float64))
    other, power_of_other = np.frexp(right.astype(np.float64))
    product = one * other
    high, other_high = _upper_half(one), _upper_half(other)
    low, other_low = one - high, other - other_high
    rest = high * other_high - product
    rest += high * other_low
    rest += low * other_high
    rest += low * other_low
    significand, shift = np.frexp(product)
    wanted, power = np.frexp(values.astype(np.float64))
    same = (significand == wanted) & (rest == 0.0)
    return same & ((wanted == 0.0) | (shift + power_of_one + power_of_other == power))


def _upper_half(significands: Array) -> Array:
    """The nearest numbers of 26 digits: what is left has 26 at most."""
    return np.ldexp(np.rint(np.ldexp(significands, HALF)), -HALF)
