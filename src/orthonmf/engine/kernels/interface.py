"""Kernel: all that is ever done with one block of rows; the sweep, which is most of it, is here.

A kernel for another kind of block (on a device, in another format) provides the abstract methods;
the source of such blocks names it. Every pass is one of them, called by its name, or a short
function of them, and gets its rows in the units of the pass (`scale` is called by the executor,
`executors.py`).

What is proven counts on how products are rounded (docs/theory/rounding.md): as sums of terms that
are not negative, at most one for every column. A kernel whose blocks hold something else, such as
differences that cancel, decodes them before it multiplies.

Entries with one value per row go in and come out where the rows lie: as arrays of NumPy, or on a
device as what `placement.py` describes. Arrays (k, m) go in as arrays of NumPy.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import Any, Generic, NamedTuple, TypeVar

import numpy as np
from scipy.sparse import csr_array

from orthonmf.engine.loadings import Projection
from orthonmf.engine.placement import take
from orthonmf.typing import Array

RowsT = TypeVar("RowsT")  # a (b, m) block of the kind that a kernel knows
# Entries of a block that are copied to float64 at once.
PIECE_ENTRIES = 2**20
FEWEST_ROWS = 512


@dataclass(frozen=True, slots=True)
class BlockLook:
    """What one look at a block finds: is it acceptable, how large, how heavy its rows."""

    offense: tuple[int, int, float] | None  # row in the block, column, value
    largest: float
    row_squares: Any  # (b,) float64, columns weighted


class BlockSweep(NamedTuple):
    """Winners of the rows of a block, or of all, and the sums that make the next directions."""

    labels: Any = None  # (b,) int32, the winning direction, where wanted
    products: Any = None  # (b,) of the scaled, unweighted row with it, dtype of the rows
    sums: Any = None  # (k, m) float64, sum of coefficient times row over the winners' rows


class Kernel(ABC, Generic[RowsT]):
    """The operations on one block of b rows: arrays in, arrays out, no argument changed.

    A kernel keeps nothing that results depend on, so any process may work on any block.
    """

    sparse = False  # whether only entries that are stored cost anything
    on_device = False  # whether blocks, and what has one entry per row, lie on a device
    fills_gaps = True  # whether `fill` of `engine/missing.py` knows such blocks
    made_by = ""  # what the bits of results depend on, apart from the data, where that is known

    def room(self, shape: tuple[int, ...], dtype: Any = np.float64) -> Any:
        """Zeros where the blocks lie: for what has one entry per row, and for sums."""
        return np.zeros(shape, dtype=dtype)

    def place(self, values: Array | None) -> Any:
        """An array with one entry per row where the blocks lie."""
        return values

    def remarks(self, dtype: np.dtype) -> tuple[str, ...]:
        """What a fit of rows of this dtype should say about how they were read."""
        return ()

    def errors(self) -> AbstractContextManager[None]:
        """What turns errors of the place where blocks lie into ours; a pass runs inside."""
        return nullcontext()

    @abstractmethod
    def scale(self, rows: RowsT, exponent: int) -> RowsT:
        """Rows divided by ``2**exponent`` in float64, which holds every float32 at any scale.

        With exponent 0 their values as they are stored. A pass scales a block before all else but
        `take`, so a kernel may decode here what it keeps in another way.
        """

    @abstractmethod
    def look(self, rows: RowsT, column_weights: Array | None = None) -> BlockLook:
        """Read every entry once: is it acceptable, how large; squares of rows in float64."""

    @abstractmethod
    def square_columns(self, rows: RowsT, row_weights: Any = None) -> Any:
        """(m,) weighted sums of the squares of every column, in float64."""

    @abstractmethod
    def multiply_directions(self, rows: RowsT, directions: Array, exact: bool = True) -> Any:
        """Inner products (b, c) with directions (c, m), in float64 unless not ``exact``.

        On the host many directions of which no two share a column cost what a few do.
        """

    @abstractmethod
    def find_winners(
        self, rows: RowsT, directions: Array, offsets: Array | None = None, lengths: Any = None
    ) -> tuple[Any, Any]:
        """The direction with the highest score of every row (b,) int32, and that score (b,).

        The score is ``<x, d>``; with offsets (k,) and lengths (b,) of the rows it is
        ``<x, d> - offset * length``.
        """

    @abstractmethod
    def multiply_own(self, rows: RowsT, directions: Array, labels: Any) -> Any:
        """(b,) the product of every row with the direction of its label, in the rows' dtype."""

    @abstractmethod
    def sum_rows(
        self, rows: RowsT, labels: Any, coefficients: Any, k: int, exact: bool = False
    ) -> Any:
        """Sums of coefficient times row over the rows of each label (b,), (k, m) float64.

        Products are those of float64 if ``exact``, else of the rows' dtype.
        """

    @abstractmethod
    def square_residuals(
        self, rows: RowsT, fitted: Projection, components: Array, column_factors: Array | None
    ) -> Any:
        """(b,) squared distance of every row to what it is expressed by, by direct difference.

        Differences are multiplied by the column factors; missing entries have none.
        """

    def divergences(
        self, rows: RowsT, column_weights: Array, labels: Any, scales: Any, profiles: Array
    ) -> Any:
        """(b,) ``sum v x ln(x / fitted)``, fitted by the scaled profiles (k, m) of the labels.

        v weighs the columns. Only a device is asked: on the host stored entries tell (`counts.py`).
        """
        raise NotImplementedError

    @abstractmethod
    def gram(self, rows: RowsT, row_scales: Any, column_scales: Array) -> Any:
        """Gram matrix (m, m) float64 of the columns of what `multiply` gives."""

    @abstractmethod
    def multiply(self, rows: RowsT, row_scales: Any, column_scales: Array) -> Array | csr_array:
        """Rows, in float64 and on the host, every row and every column times its scale."""

    def take(self, rows: Any, indices: Array | slice) -> Array | csr_array:
        """Some rows of a block on the host, as they are stored: an array or CSR array."""
        return rows[indices]

    def sweep(
        self,
        rows: RowsT,
        directions: Array,
        offsets: Array | None = None,
        lengths: Any = None,
        row_weights: Any = None,
        by_row: bool = True,
    ) -> BlockSweep:
        """Give every row to the direction with the highest score, and sum the rows of each.

        A row enters the sum with its product; with offsets, which lower its scores, it enters
        with its length. Both times its weight. Without ``by_row`` only the sums are given back.
        """
        labels, best = self.find_winners(rows, directions, offsets, lengths)
        products, coefficients = best, best
        if offsets is not None:
            lowered = take(offsets, labels) * lengths
            products = best + lowered.astype(best.dtype, copy=False)
            coefficients = lengths
        if row_weights is not None:
            coefficients = coefficients * row_weights
        sums = self.sum_rows(rows, labels, coefficients, len(directions))
        return BlockSweep(labels, products, sums) if by_row else BlockSweep(sums=sums)

    def update(
        self, rows: RowsT, directions: Array, labels: Any, row_weights: Any = None
    ) -> tuple[Any, Any]:
        """Products of the rows with the directions of their labels, and sums of product times row.

        Rows of label -1 have product 0.
        """
        places = np.maximum(labels, 0)
        products = np.where(labels >= 0, self.multiply_own(rows, directions, places), 0)
        coefficients = products if row_weights is None else products * row_weights
        return products, self.sum_rows(rows, places, coefficients, len(directions))

    def sum_members(
        self, rows: RowsT, labels: Any, coefficients: Any, k: int, exact: bool = False
    ) -> Any:
        """What `sum_rows` gives, where label -1 takes part in no sum."""
        used = np.where(labels >= 0, coefficients, 0.0)
        return self.sum_rows(rows, np.maximum(labels, 0), used, k, exact)

    @abstractmethod
    def combine_columns(
        self, rows: RowsT, combinations: Array, row_weights: Any, exact: bool
    ) -> tuple[Any, Any]:
        """Combine columns by (k, m), then multiply every column with each combination.

        Returns the products (k, m), and the squared lengths (k,) of the combinations, both in
        float64; they are computed in float64 if ``exact``, else in the rows' dtype.
        """


def piece_rows(n_columns: int) -> int:
    """How many rows of a block are copied to float64 at once, at most."""
    return max(FEWEST_ROWS, PIECE_ENTRIES // max(1, n_columns))
