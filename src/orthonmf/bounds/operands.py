"""What a search multiplies with: a matrix as it is stored, or rows whose products it holds."""

from __future__ import annotations

import math
from typing import Protocol

import numpy as np

from orthonmf.numerics.arrays import Array


class Operand(Protocol):
    """A symmetric matrix B (p, p), whether it is stored or not."""

    dtype: np.dtype

    def __len__(self) -> int:
        """Its side."""

    def scale(self, factor: float) -> None:
        """Multiply B by a power of two."""

    def times(self, vectors: Array) -> Array:
        """``B @ vectors``."""

    def add_rows(self, part: Array, rows: slice) -> None:
        """Add rows of B to a part of another matrix, where they are stored."""

    def add_products(self, product: Array, vectors: Array) -> None:
        """Add ``B @ vectors``, where rows of B are not stored and so were added to nothing."""


class Stored:
    """A matrix (p, p) that is used up: it is scaled where it is."""

    def __init__(self, matrix: Array) -> None:
        self._matrix, self.dtype = matrix, matrix.dtype

    def __len__(self) -> int:
        return len(self._matrix)

    def scale(self, factor: float) -> None:
        """Multiply B by a power of two."""
        self._matrix *= self.dtype.type(factor)

    def times(self, vectors: Array) -> Array:
        """``B @ vectors``."""
        return np.asarray(self._matrix @ vectors)

    def add_rows(self, part: Array, rows: slice) -> None:
        """Add rows of B to a part: one product with both is cheaper than two."""
        part += self._matrix[rows]

    def add_products(self, product: Array, vectors: Array) -> None:
        """Nothing: the rows were there."""


class ProductsOfRows:
    """B = F F^T for rows F (p, m) with few coordinates; it is never formed."""

    def __init__(self, rows: Array) -> None:
        self._rows, self.dtype = rows, rows.dtype
        self._scale = 1.0

    def __len__(self) -> int:
        return len(self._rows)

    def scale(self, factor: float) -> None:
        """Multiply B by a power of two."""
        self._scale *= factor

    def times(self, vectors: Array) -> Array:
        """``F @ (F.T @ vectors)``."""
        return np.asarray(self._rows @ (self.dtype.type(self._scale) * (self._rows.T @ vectors)))

    def add_rows(self, part: Array, rows: slice) -> None:
        """Nothing: there are no rows of B."""

    def add_products(self, product: Array, vectors: Array) -> None:
        """Add ``B @ vectors``."""
        product += self.times(vectors)


def unit_above(total: float) -> float:
    """The power of two just above a number: a unit in which it is near 1."""
    return math.ldexp(1.0, math.frexp(total)[1])
