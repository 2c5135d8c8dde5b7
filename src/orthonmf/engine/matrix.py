"""Matrix: the passes of algorithms over the rows of Y, each a method.

What is published (labels, loadings, the error) comes from `geometry.py`, the first look at the data
is `scan.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from orthonmf.engine.executors import Absorb, with_units
from orthonmf.engine.geometry import Geometry
from orthonmf.engine.kernels.dense import DENSE
from orthonmf.engine.kernels.interface import (
    BlockColumns,
    BlockSweep,
    Penalty,
    cells_block,
    column_squares_block,
    columns_block,
    counts_block,
    gram_block,
    multiply_block,
    normalize_block,
    products_block,
    sums_block,
    sweep_block,
    update_block,
)
from orthonmf.engine.other_passes import FirstRow, Stacked, draw_block
from orthonmf.engine.placement import look_up, on_host
from orthonmf.engine.scan import Scan
from orthonmf.engine.sources import Source, in_memory
from orthonmf.engine.units import Units
from orthonmf.numerics.arrays import Array
from orthonmf.numerics.digest import digest
from orthonmf.numerics.vectors import by_value


class Matrix(Geometry):
    """Passes over a checked, scaled and weighted non-negative matrix."""

    def _pass(
        self,
        function: Callable[..., Any],
        absorb: Absorb,
        shared: dict[str, Any],
        by_row: dict[str, Any] | None = None,
    ) -> None:
        """Work on every block in the units of the passes; ``absorb`` in block order.

        The function gets ``shared`` and, of everything in ``by_row``, what belongs to the block:
        the executor calls it in `run_block`.
        """
        self._fold(with_units(function, self.units, shared, by_row), absorb)

    def _sum(
        self,
        function: Callable[..., Any],
        shape: tuple[int, ...],
        shared: dict[str, Any],
        by_row: dict[str, Any] | None = None,
    ) -> Array:
        """The sum over all blocks, in block order, of what a function gives for each."""
        sums = self.source.kernel.room(shape)

        def absorb(part: slice, block: Array) -> None:
            np.add(sums, block, out=sums)

        self._pass(function, absorb, shared, by_row)
        return on_host(sums)

    @property
    def column_squares(self) -> Array:
        """(m,) squared lengths of the columns of Y: a read, the first time, if not yet known."""
        if self._column_squares is None:
            summed = self._sum(
                column_squares_block, (self.shape[1],), {}, {"row_weights": self.row_weights}
            )
            self._column_squares = self.weigh_columns(self.weigh_columns(summed))
        return self._column_squares

    def fingerprint(self) -> str:
        """A short text that tells this matrix, its blocks and its weights from others."""
        units = self.units
        kind = np.array(
            [*self.shape, units.exponent, self.dtype.itemsize, self.source.kernel.sparse]
        )
        sides = (self.row_squares, self.column_squares, self.row_weights, self.column_factors)
        told = digest(kind, self.source.boundaries, *sides, units.rows, units.columns)
        return self.source.kernel.made_by + told

    def part(self, rows: Array | slice, row_weights: Array | None = None) -> Matrix:
        """Some rows as a matrix of their own, in memory, with other row weights if given."""
        if row_weights is None and self.row_weights is not None:
            row_weights = on_host(self.row_weights[rows])
        squares = on_host(self.row_squares[rows])
        return self._like(self.source.part(rows), squares, None, row_weights, self.units.of(rows))

    def normalize(self, rows: Array, row_weights: Array) -> Matrix:
        """Some rows of Y, their weights left out, at length 1, in memory.

        They take the row weights given here, and have no column factors of their own.
        """
        blocks: list[Any] = []
        units, squares = self.units.of(rows), on_host(self.row_squares[rows])
        some = self.source.part(rows)
        self._like(some, squares, None, None, units)._pass(
            normalize_block,
            lambda part, block: blocks.append(block),
            {"column_factors": self.column_factors},
            {"lengths": np.sqrt(squares)},
        )
        source = in_memory(some.kernel.stack(blocks, False))
        scanned = Scan(None, np.ones(len(row_weights)), row_weights=row_weights)
        return Matrix(source, self.executor, scanned)

    def transpose(self, many_passes: bool = True) -> Matrix | None:
        """The matrix whose rows are the columns of this one; None when passes would be slow."""
        source = self.source.transpose(many_passes)
        if source is None:
            return None
        factors, weights = self.column_factors, self.row_weights
        row_squares = self.column_squares
        if factors is not None:  # squares of rows leave their own weight out
            row_squares = np.divide(
                row_squares, factors**2, out=np.zeros_like(row_squares), where=factors > 0
            )
        column_squares = self.row_squares if weights is None else self.row_squares * weights
        flipped = self._like(
            source,
            source.kernel.place(row_squares),
            on_host(column_squares),
            None if factors is None else source.kernel.place(factors**2),
            self.units.transpose(),
        )
        flipped.column_factors = None if weights is None else on_host(np.sqrt(weights))
        return flipped

    def vector_length(self, orthogonal: str) -> int:
        """How many numbers one direction over the points of a setting holds, at most."""
        n, m = self.shape
        return n if orthogonal == "features" and self.source.can_transpose else m

    def entries_of(self, count: int, orthogonal: str) -> float:
        """About how many entries copies of so many points of a setting hold; 0 if none are made."""
        n_points = self.shape[0 if orthogonal == "samples" else 1]
        copied = orthogonal == "samples" or self.source.can_transpose
        return self.n_entries * min(1.0, count / n_points) if copied else 0.0

    def _like(
        self,
        source: Source,
        row_squares: Array,
        column_squares: Array | None,
        row_weights: Array | None,
        units: Units,
    ) -> Matrix:
        """Another source with the same column factors.

        Its rows are not expressed by components, so it has no units for that.
        """
        scanned = Scan(
            None,
            row_squares,
            column_squares,
            units=units,
            row_weights=row_weights,
            column_factors=self.column_factors,
            weight_power=self._weight_power,
        )
        return Matrix(source, self.executor, scanned)

    def products(self, directions: Array, exact: bool = True, disjoint: bool = False) -> Array:
        """Inner products of the unweighted rows of Y with directions (c, m): (n, c).

        In float64, or, unless ``exact``, in the dtype of the data; ``disjoint`` as in `sweep`.
        """
        dtype = np.float64 if exact else self.dtype
        products = self.source.kernel.room((self.shape[0], len(directions)), dtype)

        def absorb(part: slice, block: Array) -> None:
            products[part] = block

        folded = self.weigh_columns(directions)
        shared = {"directions": folded, "exact": exact, "disjoint": disjoint}
        self._pass(products_block, absorb, shared)
        return products

    def sweep(
        self,
        directions: Array,
        penalty: Penalty | None = None,
        disjoint: bool = False,
        by_row: bool = True,
    ) -> BlockSweep:
        """Assign every row to a direction and sum the rows of each, in one read.

        Parameters
        ----------
        directions
            (k, m).
        penalty
            None for the score ``<y, d>`` and coefficient ``<y, d>``; with offsets (k,) and lengths
            (n,) the score is ``<y, d> - offset * length`` and the coefficient ``length``.
        disjoint
            Whether no two directions share a column: then the cost does not grow with k.
        by_row
            Whether labels and products of all rows are wanted; else only sums are kept.
        """
        room = self.source.kernel.room
        n, sums = self.shape[:1], room(directions.shape)
        labels, products = (room(n, np.int32), room(n, self.dtype)) if by_row else (None, None)
        folded = self.weigh_columns(directions).astype(self.dtype, copy=False)
        order = by_value(folded)
        if penalty is not None:
            penalty = replace(penalty, offsets=penalty.offsets[order])

        def absorb(part: slice, block: BlockSweep) -> None:
            if labels is not None and products is not None:
                labels[part], products[part] = look_up(order, block.labels), block.products
            np.add(sums, block.sums, out=sums)

        shared = {"directions": folded[order], "disjoint": disjoint, "by_row": by_row}
        parts = {"penalty": penalty, "row_weights": self.row_weights}
        self._pass(sweep_block, absorb, shared, parts)
        in_order = on_host(sums)[np.argsort(order)]
        return BlockSweep(labels, products, self.weigh_columns(in_order))

    def draw_rows(
        self,
        directions: Array,
        rate: float,
        distance: Callable[[Array, Array], Array],
        key: tuple[int, ...],
    ) -> tuple[Array, float]:
        """Draw rows of Y, row weights left out, by their distance to unit directions (c, m).

        Every row is drawn with the chance ``rate * weight * distance`` of its own; random numbers
        follow from the key and the first row of the block. Returns the rows (d, m) dense float64
        in block order, and the sum of ``weight * distance`` over all rows.
        """
        drawn: list[Array] = [np.zeros((0, self.shape[1]))]
        missed = 0.0

        def absorb(part: slice, block: tuple[Array, float]) -> None:
            nonlocal missed
            drawn.append(block[0])
            missed += block[1]

        shared = {
            "directions": self.weigh_columns(directions),
            "column_factors": self.weigh_columns(np.ones(self.shape[1])),
            "rate": rate,
            "distance": distance,
            "key": key,
        }
        parts = {"first": FirstRow(), "row_weights": self.row_weights}
        self._pass(draw_block, absorb, shared, parts)
        return np.concatenate(drawn), missed

    def update(self, labels: Array, directions: Array) -> BlockSweep:
        """One power update per direction on the rows of its label; label -1 takes no part."""
        products = self.source.kernel.room((self.shape[0],))
        sums = self.source.kernel.room(directions.shape)

        def absorb(part: slice, block: BlockSweep) -> None:
            products[part] = block.products
            np.add(sums, block.sums, out=sums)

        shared = {"directions": self.weigh_columns(directions)}
        by_row = {"labels": labels, "row_weights": self.row_weights}
        self._pass(update_block, absorb, shared, by_row)
        return BlockSweep(labels, products, self.weigh_columns(on_host(sums)))

    def row_sums(self, labels: Array, coefficients: Array, k: int) -> Array:
        """Sums of coefficient times row of Y over the rows of each label, (k, m).

        Label -1 takes part in no sum.
        """
        inside = labels >= 0
        by_row = {
            "labels": np.where(inside, labels, 0),
            "coefficients": np.where(inside, coefficients, 0.0),
        }
        return self.weigh_columns(self._sum(sums_block, (k, self.shape[1]), {"k": k}, by_row))

    def column_products(self, combinations: Array, exact: bool = False) -> tuple[Array, Array]:
        """Combine the columns of Y and multiply every column with each combination, in one read.

        For C = combinations (k, m) and the k vectors S = Y C^T this gives the products of S with
        the columns of Y before column factors (k, m), and the squared lengths of the columns of S
        (k,). ``exact`` asks for float64 products of float32 data.
        """
        room = self.source.kernel.room
        products, squares = room(combinations.shape), room((len(combinations),))

        def absorb(part: slice, block: BlockColumns) -> None:
            np.add(products, block.products, out=products)
            np.add(squares, block.squares, out=squares)

        shared = {"combinations": self.weigh_columns(combinations), "exact": exact}
        self._pass(columns_block, absorb, shared, {"row_weights": self.row_weights})
        return on_host(products), on_host(squares)

    def whole(
        self,
        row_scales: Array | None = None,
        column_scales: Array | None = None,
        transposed: bool = False,
    ) -> Any:
        """Y, or its transpose, as one float64 array or CSR array.

        Scales, where given, take the place of the row weights or multiply the columns. For code
        that needs all pairs of rows, and for code of the user.
        """
        rows = row_scales
        if rows is None:
            weights = self.row_weights
            rows = np.ones(self.shape[0]) if weights is None else np.sqrt(weights)
        columns = np.ones(self.shape[1]) if column_scales is None else column_scales
        blocks: list[Any] = []
        self._pass(
            multiply_block,
            lambda part, block: blocks.append(block),
            {"column_scales": self.weigh_columns(columns)},
            {"row_scales": rows},
        )
        return self.source.kernel.stack(blocks, transposed)

    def gram(self, exact: bool = True) -> Array:
        """The Gram matrix of the columns of Y, (m, m); in float32 by `short_sums` if not exact."""
        m = self.shape[1]
        shared = {"column_factors": self.weigh_columns(np.ones(m)), "exact": exact}
        return self._sum(gram_block, (m, m), shared, {"row_weights": self.row_weights})

    def row_gram(self) -> Array:
        """The Gram matrix (n, n) of the rows of Y, for few rows."""
        return self.source.kernel.gram_rows(self.whole())

    def count_entries(self) -> Array:
        """(m,) how many entries of every column are stored."""
        return self._sum(counts_block, (self.shape[1],), {})

    def dense(self) -> Array:
        """Y as one dense float64 array: for small data."""
        return self.source.kernel.take_dense(self.whole(), slice(None))

    def cell_energies(self, layouts: Sequence[tuple[Any, Any]]) -> list[Array]:
        """Sums of the squared entries of X (scaled) over cells, for several layouts in one read.

        A layout is two indicators: (n, r) which of r groups every row is in, (m, c) the same for
        columns; its sums are (r, c).
        """
        sums = [np.zeros((rows.shape[1], columns.shape[1])) for rows, columns in layouts]

        def absorb(part: slice, block: list[Array]) -> None:
            for total, one in zip(sums, block, strict=True):
                total += one

        down = Stacked(rows.tocsr() for rows, _ in layouts)
        self._pass(cells_block, absorb, {"across": [one for _, one in layouts]}, {"down": down})
        return sums

    def stored_rows(self, indices: Array) -> Any:
        """Copies of some rows as they are stored, in the units of X, dense or CSR."""
        source = self.source.part(indices)
        blocks = [source.block(number) for number in range(len(source.boundaries) - 1)]
        return source.kernel.stack(blocks, False)

    def take_rows(self, indices: Array) -> Array:
        """Unweighted rows of Y at these positions, (c, m) dense float64."""
        return self.weigh_columns(self.rows_in_units(indices))

    def rows_in_units(self, indices: Array) -> Array:
        """Rows of X' at these positions, (c, m) dense float64."""
        return DENSE.scale(self.source.rows(indices), self.units.of(indices))
