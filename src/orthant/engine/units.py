"""Powers of two between a matrix as it is given and as it is computed with.

Squares and sums of very large and very small numbers leave the range of floating point. Dividing
rows and columns by powers of two is exact, so passes see a matrix near 1 and lose nothing. What
counts is the weighted matrix: an entry that weights switch off must not set the scale of others.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from orthant.numerics.arrays import Array

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

    def of_loadings(self, powers: Array) -> Units:
        """The units of loadings on components that were divided by these powers (k,) of two."""
        columns = None if not powers.any() else -powers
        return Units(self.exponent, self.rows, columns)

    def transposed(self) -> Units:
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


def halved(weights: Array) -> tuple[Array, Array]:
    """Weights (N,) as ``fractions * 4**powers``, fractions from 1 to below 4; 0 stays 0."""
    fractions, exponents = np.frexp(weights)
    powers = (exponents - 1) // 2
    return np.ldexp(fractions, exponents - 2 * powers), powers.astype(np.int32)


def largest_power(weights: Array | None) -> int:
    """The power of four in the largest weight; 0 where there are no weights."""
    return 0 if weights is None else int(halved(np.max(weights, keepdims=True))[1][0])
