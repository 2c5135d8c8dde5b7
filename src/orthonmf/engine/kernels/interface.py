"""Kernel: everything that is ever done with one block of rows.

A kernel for another kind of block (on a device, in another format) provides the abstract methods;
the source of such blocks names it. What is composed here (`sweep`, `combine_columns` and `gram`) is
for blocks that can be sliced like arrays of NumPy, `widen` for those that are cast like them; a
kernel for others, or one that can do them in one go, overrides these and `pieces`, and on a device
`room`, `place` and `remarks`.

Below the class stand the functions that most passes send to the blocks, one for each operation:
rows are brought to the units of the pass first. Those for what is published are in `geometry.py`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from orthonmf.engine.placement import look_up
from orthonmf.engine.units import Units
from orthonmf.numerics.arrays import Array
from orthonmf.numerics.segments import slices

Rows = Any  # a (b, m) block, of the kind that the kernel knows
# Entries of a block that are copied to float64 at once.
PIECE_ENTRIES = 2**20
FEWEST_ROWS = 512


@dataclass(frozen=True, slots=True)
class BlockLook:
    """What one look at a block finds: is it acceptable, how large, how heavy are its rows."""

    offense: tuple[int, int, float] | None  # row in the block, column, value
    largest: float
    row_squares: Any  # (b,) float64


@dataclass(frozen=True, slots=True)
class BlockSweep:
    """Winners of the rows of a block, or of all, and the sums that make the next directions."""

    labels: Any  # (b,) int32, the winning direction, or None
    products: Any  # (b,) of the scaled, unweighted row with it, dtype of the rows, or None
    sums: Any  # (k, m) float64, sum of coefficient times row over the winners' rows


@dataclass(frozen=True, slots=True, eq=False)
class Penalty:
    """What a center takes off the score of a row: its offset times the length of the row."""

    offsets: Array  # (k,)
    lengths: Any  # (n,) wherever they lie

    def __getitem__(self, rows: slice) -> Penalty:
        """That of some rows."""
        return Penalty(self.offsets, self.lengths[rows])


@dataclass(frozen=True, slots=True)
class BlockColumns:
    """Products of all columns with k combinations of columns, from one block of rows."""

    products: Any  # (k, m) float64
    squares: Any  # (k,) float64, squared length of each combination within this block


class ObservedBlock(ABC):
    """A block with missing entries: values with zeros in their place, and where they are."""

    @abstractmethod
    def multiply_directions(self, directions: Array) -> Array:
        """Products (b, k) of the rows with directions (k, m)."""

    @abstractmethod
    def multiply_columns(self, loadings: Array) -> Array:
        """Products (k, m) of loadings (b, k) with the columns."""

    @abstractmethod
    def sum_observed(self, squares: Array) -> Array:
        """For every row the sums of ``squares`` (k, m) over its observed columns, (b, k)."""

    @abstractmethod
    def sum_observed_rows(self, squares: Array) -> Array:
        """For every column the sums of ``squares`` (b, k) over its observed rows, (k, m)."""


def piece_rows(n_columns: int) -> int:
    """How many rows a piece of a block has at most."""
    return max(FEWEST_ROWS, PIECE_ENTRIES // max(1, n_columns))


def dtype_of(rows: Rows) -> np.dtype:
    """The dtype of a block; tensors have the same names for theirs."""
    return np.dtype(str(rows.dtype).removeprefix("torch."))


class Kernel(ABC):
    """The operations on one block of b rows: arrays in, arrays out, no argument changed but sums.

    A kernel keeps nothing that results depend on, so any process may work on any block.
    """

    sparse = False  # whether only entries that are stored cost anything
    on_device = False  # whether blocks, and what has one entry per row, lie on a device
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

    def widen(self, rows: Rows) -> Rows:
        """The same rows in float64."""
        return rows.astype(np.float64, copy=False)

    @abstractmethod
    def scale(self, rows: Rows, units: Units) -> Rows:
        """Rows in these units, exact unless it underflows; float64 unless the units are at rest."""

    @abstractmethod
    def find_row_powers(self, rows: Rows, columns: Array | None) -> Array:
        """(b,) the power of two just above the largest entry of every row, columns shifted first.

        Rows without entries have NO_ENTRIES.
        """

    @abstractmethod
    def look(self, rows: Rows, column_weights: Array | None) -> BlockLook:
        """Read every entry once: is it acceptable, how large, and squares of rows in float64."""

    @abstractmethod
    def square_columns(self, rows: Rows, row_weights: Array | None) -> Array:
        """(m,) weighted sums of the squares of every column, in float64."""

    @abstractmethod
    def multiply_directions(
        self, rows: Rows, directions: Array, exact: bool = True, disjoint: bool = False
    ) -> Array:
        """Inner products (b, c) with directions (c, m), in float64 unless not ``exact``.

        ``disjoint`` says that no two directions share a column.
        """

    @abstractmethod
    def find_winners(
        self, rows: Rows, directions: Array, penalty: Penalty | None = None, disjoint: bool = False
    ) -> tuple[Array, Array]:
        """The direction with the highest score of every row (b,) int32, and that score (b,).

        The score is ``<x, d>``; with a penalty it is ``<x, d> - offset * length``. ``disjoint``
        says that no two directions share a column, which makes the cost of many directions that of
        one.
        """

    @abstractmethod
    def update(
        self, rows: Rows, directions: Array, labels: Array, row_weights: Array | None = None
    ) -> BlockSweep:
        """Products of the rows with the directions of their labels, and sums of product times row.

        Rows of label -1 have product 0.
        """

    @abstractmethod
    def sum_rows(self, rows: Rows, labels: Array, coefficients: Array, k: int) -> Array:
        """Sums of coefficient times row over the rows of each label (b,), (k, m) float64."""

    @abstractmethod
    def multiply_combinations(
        self, rows: Rows, combinations: Array, row_weights: Array | None
    ) -> BlockColumns:
        """Combine columns by (k, m), then multiply every column with each, in the rows' dtype."""

    @abstractmethod
    def square_residuals(
        self, rows: Rows, loadings: Any, components: Array, column_factors: Array | None
    ) -> Array:
        """(b,) squared distance of every row to ``loadings @ components``, by direct difference.

        ``loadings`` is (b, k), dense or sparse; differences are multiplied by the column factors.
        """

    @abstractmethod
    def add_gram(self, rows: Rows, gram: Array) -> None:
        """Add ``rows.T @ rows``, in the precision of the rows, to a dense matrix (m, m)."""

    @abstractmethod
    def gram_rows(self, rows: Rows) -> Array:
        """``rows @ rows.T`` of float64 rows, dense (b, b)."""

    @abstractmethod
    def normalize(self, rows: Rows, lengths: Array, column_factors: Array | None) -> Rows:
        """Rows, columns multiplied by their factors, divided by these lengths, in their dtype."""

    @abstractmethod
    def multiply(self, rows: Rows, row_scales: Array, column_scales: Array) -> Rows:
        """Rows, in float64, with every row and every column multiplied by its scale."""

    @abstractmethod
    def stack(self, blocks: list[Rows], transposed: bool) -> Rows:
        """Blocks joined to one, transposed where that is asked for."""

    @abstractmethod
    def take_dense(self, rows: Rows, indices: Array | slice) -> Array:
        """Some rows of a block as a dense array, in float64."""

    @abstractmethod
    def find_filled(self, rows: Rows) -> Array:
        """(b,) which rows hold anything but zeros."""

    @abstractmethod
    def list_entries(self, rows: Rows) -> tuple[Array, Array, Array]:
        """Rows, columns and values, in float64, of all entries but zeros."""

    @abstractmethod
    def count_entries(self, rows: Rows) -> Array:
        """(m,) how many entries of every column are stored."""

    @abstractmethod
    def sum_squares(self, rows: Rows, down: Any, across: Any) -> Array:
        """Sums (r, c) of squared entries by indicators of groups of rows (b, r), columns (m, c)."""

    @abstractmethod
    def add_bits(self, rows: Rows) -> int:
        """A sum over the bits of a block, and over where its entries stand, exact in any order."""

    @abstractmethod
    def observe(self, rows: Rows) -> ObservedBlock:
        """Split a block with NaN in place of missing entries."""

    @abstractmethod
    def fill(self, rows: Rows) -> Rows:
        """The same rows with zeros in place of missing entries."""

    @abstractmethod
    def any_missing(self, rows: Rows) -> bool:
        """Whether a block has missing entries."""

    def pieces(self, rows: Rows) -> Iterator[slice]:
        """Slices of a block whose float64 copies are small."""
        return slices(rows.shape[0], piece_rows(rows.shape[1]))

    def sweep(
        self,
        rows: Rows,
        directions: Array,
        penalty: Penalty | None = None,
        row_weights: Array | None = None,
        disjoint: bool = False,
        by_row: bool = True,
    ) -> BlockSweep:
        """Give every row to the direction with the highest score, and sum the rows of each.

        A row enters the sum with its product; with a penalty, which lowers its scores, it enters
        with its length. Both times its weight. Without ``by_row`` only the sums are given back.
        """
        labels, best = self.find_winners(rows, directions, penalty, disjoint)
        products, coefficients = best, best
        if penalty is not None:
            lowered = look_up(penalty.offsets, labels) * penalty.lengths
            products = best + lowered.astype(best.dtype, copy=False)
            coefficients = penalty.lengths
        if row_weights is not None:
            coefficients = coefficients * row_weights
        sums = self.sum_rows(rows, labels, coefficients, len(directions))
        return BlockSweep(labels, products, sums) if by_row else BlockSweep(None, None, sums)

    def combine_columns(
        self, rows: Rows, combinations: Array, row_weights: Array | None, exact: bool
    ) -> BlockColumns:
        """Products of all columns with combinations (k, m) of columns, in float64 if ``exact``."""
        if not exact or dtype_of(rows) == np.float64:
            return self.multiply_combinations(rows, combinations, row_weights)
        products, squares = self.room(combinations.shape), self.room((len(combinations),))
        for some in self.pieces(rows):
            weights = None if row_weights is None else row_weights[some]
            found = self.multiply_combinations(self.widen(rows[some]), combinations, weights)
            products += found.products
            squares += found.squares
        return BlockColumns(products, squares)

    def gram(
        self, rows: Rows, column_factors: Array, row_weights: Array | None, exact: bool = True
    ) -> Array:
        """Gram matrix of the weighted columns of a block, (m, m) float64.

        Unless ``exact``, entries are rounded to float32 and summed in it, a piece at a time.
        """
        scales = np.ones(rows.shape[0]) if row_weights is None else np.sqrt(row_weights)
        plain = row_weights is None and bool((column_factors == 1.0).all())
        gram = np.zeros((rows.shape[1], rows.shape[1]))
        for some in self.pieces(rows):
            weighted = rows[some]
            if exact or not plain:
                weighted = self.widen(weighted)
            if not plain:
                weighted = self.multiply(weighted, scales[some], column_factors)
            if not exact:
                with np.errstate(over="ignore", under="ignore"):
                    weighted = weighted.astype(np.float32, copy=False)
            self.add_gram(weighted, gram)
        return gram

    def sum_cells(self, rows: Rows, down: Sequence[Any], across: Sequence[Any]) -> list[Array]:
        """Sums of squared entries over cells for each pair of groups of rows and of columns."""
        pairs = zip(down, across, strict=True)
        return [self.sum_squares(rows, groups, columns) for groups, columns in pairs]


def sweep_block(kernel: Kernel, rows: Rows, units: Units, **keywords: Any) -> BlockSweep:
    """Winners of all rows, and sums of the rows of each direction."""
    return kernel.sweep(kernel.scale(rows, units), **keywords)


def update_block(kernel: Kernel, rows: Rows, units: Units, **keywords: Any) -> BlockSweep:
    """Products of rows with the directions of their labels, and sums of product times row."""
    return kernel.update(kernel.scale(rows, units), **keywords)


def sums_block(kernel: Kernel, rows: Rows, units: Units, **keywords: Any) -> Array:
    """Sums (k, m) of coefficient times row over the rows of each label."""
    return kernel.sum_rows(kernel.scale(rows, units), **keywords)


def products_block(kernel: Kernel, rows: Rows, units: Units, **keywords: Any) -> Array:
    """Products (b, c) of rows with directions."""
    return kernel.multiply_directions(kernel.scale(rows, units), **keywords)


def columns_block(kernel: Kernel, rows: Rows, units: Units, **keywords: Any) -> BlockColumns:
    """Products of all columns with combinations of columns."""
    return kernel.combine_columns(kernel.scale(rows, units), **keywords)


def column_squares_block(kernel: Kernel, rows: Rows, units: Units, **keywords: Any) -> Array:
    """(m,) weighted sums of the squares of every column."""
    return kernel.square_columns(kernel.scale(rows, units), **keywords)


def counts_block(kernel: Kernel, rows: Rows, units: Units) -> Array:
    """(m,) how many entries of every column are stored."""
    return kernel.count_entries(rows)


def gram_block(kernel: Kernel, rows: Rows, units: Units, **keywords: Any) -> Array:
    """Gram matrix (m, m) of the weighted columns."""
    return kernel.gram(kernel.scale(rows, units), **keywords)


def cells_block(kernel: Kernel, rows: Rows, units: Units, **keywords: Any) -> list[Array]:
    """Sums of squared entries over cells: (r, c) for each pair of row and column groups."""
    return kernel.sum_cells(kernel.scale(rows, units), **keywords)


def multiply_block(kernel: Kernel, rows: Rows, units: Units, **keywords: Any) -> Rows:
    """Rows and columns multiplied by their scales, in float64."""
    return kernel.multiply(kernel.scale(rows, units), **keywords)


def normalize_block(kernel: Kernel, rows: Rows, units: Units, **keywords: Any) -> Rows:
    """Rows at length one."""
    return kernel.normalize(kernel.scale(rows, units), **keywords)
