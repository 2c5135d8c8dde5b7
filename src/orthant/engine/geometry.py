"""Geometry: how numbers go between X, as it is given, and Y, as it is computed with.

The matrix that algorithms see is

    Y = diag(sqrt(row_weights)) @ X' @ diag(column_factors),    X' = X in other units

but Y is never formed: the powers of two of the units are applied block by block (and only when
the weighted matrix leaves the safe range), column factors are folded into the k x m arrays that go
in and come out, and row weights into the coefficients of a block. Scales and weights live here and
nowhere above.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np

from orthant.engine.scan import Scan
from orthant.engine.sources import Source
from orthant.engine.units import fold_components
from orthant.numerics.arrays import Array, divided


class Geometry:
    """The units and weights of a matrix, and what follows from them without a read."""

    def __init__(self, source: Source, scan: Scan) -> None:
        self.source = source
        self.shape, self.dtype = source.shape, source.dtype
        self.units, self._units_of_rows = scan.units, scan.units_of_rows
        self.row_weights = scan.row_weights  # (n,) or None
        self.column_factors = scan.column_factors  # (m,) or None
        self.row_squares, self._column_squares = scan.row_squares, scan.column_squares
        self._weight_power = scan.weight_power  # of two, divided out of weighted lengths

    @property
    def exponent(self) -> int:
        """The power of two that all entries are divided by; rows and columns may have more."""
        return self.units.exponent

    @property
    def n_entries(self) -> int:
        """How many numbers one pass reads."""
        return self.source.n_entries

    @cached_property
    def total(self) -> float:
        """Squared Frobenius norm of Y."""
        weights = self.row_squares
        return float((weights if self.row_weights is None else weights * self.row_weights).sum())

    def folded(self, directions: Array) -> Array:
        """Vectors (c, m) over the columns of X as vectors over those of Y."""
        return directions if self.column_factors is None else directions * self.column_factors

    def shifted(self, components: Array) -> tuple[Array, Array]:
        """Components (k, m) of X as vectors over the columns of X', each divided by a power of two.

        Returns them in float64, and the powers (k,).
        """
        if self.units.columns is None:
            return components.astype(np.float64), np.zeros(len(components), dtype=np.int32)
        return fold_components(components, np.ones(self.shape[1]), self.units.columns)

    def unshifted(self, vectors: Array) -> Array:
        """Vectors (c, m) over the columns of X' as vectors over those of X, of any length."""
        if self.units.columns is None:
            return vectors
        return fold_components(vectors, np.ones(self.shape[1]), -self.units.columns)[0]

    def row_shares(self, coefficients: Array) -> Array:
        """Coefficients (k, n) of the rows of X as weighted coefficients of those of X'.

        Each of the k may be divided by a power of two.
        """
        weighted = coefficients if self.row_weights is None else coefficients * self.row_weights
        if self.units.rows is None:
            return weighted
        return fold_components(weighted, np.ones(self.shape[0]), self.units.rows)[0]

    def of_rows(self, coefficients: Array) -> Array:
        """One entry (k, n) for every row of X' as entries for those of X.

        Each of the k may be divided by a power of two.
        """
        if self.units.rows is None:
            return coefficients
        return fold_components(coefficients, np.ones(self.shape[0]), -self.units.rows)[0]

    def of_components(self, components: Array) -> Array:
        """Components (k, m) of X as vectors over the columns of Y, of any length."""
        return self.folded(self.shifted(components)[0])

    def unfolded(self, directions: Array) -> Array:
        """Vectors (c, m) over the columns of Y as components of X, of any length.

        Columns without weight have no part in Y, and entries 0 here.
        """
        if self.column_factors is None:
            return directions
        return self.unshifted(divided(directions, self.column_factors[None, :]))
