"""Points by their products with each other, and about how long these take."""

from __future__ import annotations

from typing import Any

import numpy as np

from orthonmf.engine.kernels.interface import Kernel
from orthonmf.typing import Array
from orthonmf.vectors import divide, square_lengths

# Products per second of one core, to the factor of two that a choice needs.
DENSE_PER_SECOND = 1.2e10
SPARSE_PER_SECOND = 2e8


class Products:
    """The Gram matrix G (s, s) of points, by its columns and its products with other arrays.

    Where points have far fewer coordinates than there are points, G is never formed: a product
    with it is two with the coordinates (s, m), which takes less time.
    """

    def __init__(self, gram: Any = None, rows: Any = None) -> None:
        """Of one of the two: the Gram matrix, or the points as dense rows."""
        self._gram, self._rows = gram, rows
        self.dtype = rows.dtype if gram is None else gram.dtype
        energies = square_lengths(rows) if gram is None else np.diag(gram)
        self.energies = energies.astype(np.float64)  # (s,) squared lengths of the points
        lengths = np.sqrt(energies)
        # (s,) what brings a point to length one; 0 for points of length 0
        self.inverse_lengths = divide(1.0, lengths)

    def times(self, combinations: Array) -> Array:
        """``G @ combinations``, (s, c)."""
        if self._rows is None:
            return np.asarray(self._gram @ combinations)
        return np.asarray(self._rows @ (self._rows.T @ combinations))

    def columns(self, picks: Array) -> Array:
        """Columns (s, c) of G at the positions (c,)."""
        if self._rows is None:
            return np.asarray(self._gram[:, picks])
        return np.asarray(self._rows @ self._rows[picks].T)

    def unit_columns(self, picks: Array) -> Array:
        """Products (s, c) of all points with the unit vectors of those at the positions (c,)."""
        columns: Array = self.columns(picks)
        return columns * self.inverse_lengths[picks]


def rows_are_short(n: int, m: int, kernel: Kernel[Any]) -> bool:
    """Whether products of n rows take less time by m coordinates than by a Gram matrix."""
    return 2 * m < n and not kernel.sparse
