"""Powers of two between a matrix as it is given and as it is computed with.

Squares and sums of very large and very small numbers leave the range of floating point. Dividing
rows and columns by powers of two is exact, so passes see a matrix near 1 and lose nothing. What
counts is the weighted matrix: an entry that weights switch off must not set the scale of others.

Feature weights w are a metric. The error of a row x at ``scale * c`` is ``sum_h w_h (x_h - scale *
c_h)^2``. Its best scale is ``<x, c>_w / |c|_w^2``, and it then captures ``(<x, c>_w / |c|_w)^2``:
products with the vectors ``w * c / |c|_w`` decide, and divided by ``|c|_w`` they are the scales.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import issparse

from orthonmf.engine.loadings import ByLabel
from orthonmf.numerics.arrays import Array

# Within these powers of two the largest entry, products of two entries summed over a block, and
# (in float64) squares of such sums neither overflow nor lose what matters to underflow.
SAFE_EXPONENT = {np.dtype(np.float32): 40, np.dtype(np.float64): 120}
# Dividing by two to this power leaves nothing of any number.
SWITCHED_OFF = 2**14
# The power of a row that has no entries: below that of any number.
NO_ENTRIES = -(2**14)


@dataclass(frozen=True, slots=True)
class Units:
    """Entry (i, j) is divided by ``2 ** (exponent + rows[i] + columns[j])``.

    Rows and columns without a power of their own are None. With all of them at rest the entries
    are used as they are stored; otherwise in float64, which holds every float32 at any scale.
    """

    exponent: int = 0
    rows: Array | None = None  # (n,) int32
    columns: Array | None = None  # (m,) int32, SWITCHED_OFF where a column has no weight

    def of(self, rows: Array | slice) -> Units:
        """The units of some of the rows."""
        return Units(self.exponent, None if self.rows is None else self.rows[rows], self.columns)

    def scale_loadings(self, loadings: Any, powers: Array) -> Any:
        """Loadings (b, k), dense, CSR or by label, in float64 and in the units of their rows.

        Columns are those of components that were divided by these powers (k,) of two.
        """
        values = loadings.astype(np.float64)
        if not powers.any() and self.rows is None and self.exponent == 0:
            return values
        if not isinstance(values, ByLabel) and not issparse(values):
            shift = self.exponent if self.rows is None else self.exponent + self.rows[:, None]
            return np.ldexp(values, powers - shift)
        if isinstance(values, ByLabel):
            return values.shift(powers, self.exponent, self.rows)
        shifts = powers[values.indices] - self.exponent
        if self.rows is not None:
            shifts = shifts - np.repeat(self.rows, np.diff(values.indptr))
        values.data = np.ldexp(values.data, shifts)
        return values

    def transpose(self) -> Units:
        """The units of the transposed matrix."""
        return Units(self.exponent, self.columns, self.rows)

    def shift(self) -> int | Array:
        """The power for all entries: a number, (n, 1), (1, m) or (n, m)."""
        power: int | Array = self.exponent
        if self.rows is not None:
            power = power + self.rows[:, None]
        return power if self.columns is None else power + self.columns[None, :]

    @property
    def at_rest(self) -> bool:
        """Whether entries are used as they are."""
        return self.exponent == 0 and self.rows is None and self.columns is None


AT_REST = Units()


class UnitsByRow:
    """Units that a pass slices like an array with one entry per row."""

    def __init__(self, units: Units) -> None:
        self._units = units

    def __getitem__(self, rows: slice) -> Units:
        """The units of these rows."""
        return self._units.of(rows)


def is_safe(largest: float, dtype: np.dtype) -> bool:
    """Whether a matrix with this largest entry may be computed with as it is."""
    return largest == 0 or abs(exponent_of(largest)) <= SAFE_EXPONENT[dtype]


def exponent_of(value: float) -> int:
    """The power of two just above a positive number."""
    return int(np.frexp(value)[1])


def split_weights(weights: Array) -> tuple[Array, Array]:
    """Weights (N,) as ``fractions * 4**powers``, fractions from 1 to below 4; 0 stays 0."""
    fractions, exponents = np.frexp(weights)
    powers = (exponents - 1) // 2
    return np.ldexp(fractions, exponents - 2 * powers), powers.astype(np.int32)


def largest_power(weights: Array | None) -> int:
    """The power of four in the largest weight; 0 where there are no weights."""
    return 0 if weights is None else int(split_weights(np.max(weights, keepdims=True))[1][0])


@dataclass(frozen=True, slots=True)
class Metric:
    """Vectors whose product with a row tells how much of it a component captures.

    The length of component s in the metric is ``lengths[s] * 2**powers[s]``; None where that is
    the plain length 1.
    """

    directions: Array  # (k, m) unit vectors of the components over the columns of Y
    vectors: Array  # (k, m) the same with the square roots of the weights, for rows of X'
    lengths: Array | None = None  # (k,) not far from 1
    powers: Array | None = None  # (k,) int

    def scales(self, products: Array, labels: Array | slice, exponent: int | Array) -> Array:
        """Products (...) with the vectors of these labels, times ``2**exponent``, as scales.

        Overflow is left to the caller, who knows the row.
        """
        with np.errstate(over="ignore", under="ignore"):
            if self.lengths is None or self.powers is None:
                return np.ldexp(products, exponent)
            own = (products / self.lengths[labels]).astype(products.dtype, copy=False)
            return np.ldexp(own, exponent - self.powers[labels])

    def find_captured(
        self, scales: Array, labels: Array | slice, exponent: int, rows: Array | None
    ) -> Array:
        """Scales of components with these labels as captured lengths, in float64.

        In the units of an exponent for all and, where given, powers for every row.
        """
        power: int | Array = -exponent if rows is None else -exponent - rows
        if self.lengths is None or self.powers is None or len(self.powers) == 0:
            return np.ldexp(scales, power, dtype=np.float64)
        own = np.ldexp(scales.astype(np.float64), power + self.powers[labels])
        return own * self.lengths[labels]


def metric_of(components: Array, factors: Array | None, columns: Array | None) -> Metric:
    """The metric of unit components (k, m) for rows in units with these column powers.

    The square root of the weight of column h is ``factors[h] * 2**-columns[h]``.
    """
    if factors is None:
        return Metric(components, components)
    folded, powers = fold_components(components, factors, columns)
    lengths = np.sqrt(np.einsum("sh,sh->s", folded, folded))
    lengths = np.where(lengths > 0, lengths, 1.0)
    directions = folded / lengths[:, None]
    return Metric(directions, directions * factors, lengths, powers)


def fold_components(
    components: Array, factors: Array, columns: Array | None
) -> tuple[Array, Array]:
    """Components times the square roots of the weights, each divided by ``2**power``, in range.

    Returns the divided components (k, m), largest entry near 1, and the powers (k,).
    """
    fractions, powers = np.frexp(components.astype(np.float64) * factors)
    if columns is not None:
        powers = powers - columns
    counted = fractions > 0
    if columns is not None:
        counted &= columns < SWITCHED_OFF
    largest = np.max(powers, axis=1, initial=NO_ENTRIES, where=counted)
    largest = np.where(counted.any(axis=1), largest, 0)
    shifted = np.where(counted, powers - largest[:, None], 0)
    return np.where(counted, np.ldexp(fractions, shifted), 0.0), largest
