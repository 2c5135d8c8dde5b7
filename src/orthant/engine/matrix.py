"""Matrix: a source, an executor and a kernel joined; every pass over the rows is a method.

Scales and weights live here and nowhere above. The matrix that algorithms see is

    Y = 2**-exponent * diag(sqrt(row_weights)) @ X @ diag(column_factors)

but Y is never formed: the power of two is applied block by block (and only when X leaves the
safe range), column factors are folded into the k x m arrays that go in and come out, and row
weights into the coefficients of a block.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from orthant.arrays import Array
from orthant.engine.executors import Executor
from orthant.engine.kernels import kernel_for
from orthant.engine.kernels.blocks import Rows
from orthant.engine.scan import Scan
from orthant.engine.sources import Source
from orthant.errors import ScaleOverflowError

# Below this a product with a unit vector may have lost digits to underflow.
LIGHT_PRODUCT = {np.dtype(np.float32): 2.0**-90, np.dtype(np.float64): 2.0**-950}
LIGHT_ENTRIES = 2**20


@dataclass(frozen=True, slots=True)
class MatrixSweep:
    """One pass that assigns every row and sums the rows of each direction."""

    labels: Array  # (n,) int32
    products: Array  # (n,) float64, of the scaled, unweighted row with its winner
    sums: Array  # (k, m) float64


class Matrix:
    """Passes over a checked, scaled and weighted non-negative matrix."""

    def __init__(
        self,
        source: Source,
        executor: Executor,
        scan: Scan,
        row_weights: Array | None = None,
        column_weights: Array | None = None,
        weight_exponent: int = 0,
    ) -> None:
        self.source, self.executor = source, executor
        self.shape, self.dtype = source.shape, source.dtype
        self.exponent = scan.exponent
        self.row_weights = row_weights  # (n,) or None
        self.column_factors = None if column_weights is None else np.sqrt(column_weights)
        self.row_squares, self.column_squares = scan.row_squares, scan.column_squares
        self._weight_exponent = weight_exponent  # of two, already divided out of the weights
        self._kernel = kernel_for(source)

    @property
    def n_entries(self) -> int:
        """How many numbers one pass reads."""
        return self.source.n_entries

    @property
    def total(self) -> float:
        """Squared Frobenius norm of Y."""
        weights = self.row_squares if self.row_weights is None else self._weighted_squares()
        return float(weights.sum())

    def _weighted_squares(self) -> Array:
        return self.row_squares * self.row_weights

    def part(self, rows: Array | slice, row_weights: Array | None = None) -> Matrix:
        """Some rows as a matrix of their own, in memory, with other row weights if given."""
        weights = row_weights
        if weights is None and self.row_weights is not None:
            weights = self.row_weights[rows]
        return self._like(
            self.source.part(rows), self.row_squares[rows], self.column_squares, weights
        )

    def transposed(self, many_passes: bool = True) -> Matrix | None:
        """The matrix whose rows are the columns of this one; None when passes would be slow."""
        source = self.source.transposed(many_passes)
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
            source, row_squares, column_squares, None if factors is None else factors**2
        )
        flipped.column_factors = None if weights is None else np.sqrt(weights)
        return flipped

    def _like(
        self, source: Source, row_squares: Array, column_squares: Array, row_weights: Array | None
    ) -> Matrix:
        """Another source in the same units and with the same column factors."""
        scanned = Scan(None, self.exponent, row_squares, column_squares)
        matrix = Matrix(
            source, self.executor, scanned, row_weights, weight_exponent=self._weight_exponent
        )
        matrix.column_factors = self.column_factors
        return matrix

    def _pass(
        self,
        task: Callable[[Rows, slice], Any],
        absorb: Callable[[slice, Any], None],
        raw: bool = False,
        source: Source | None = None,
    ) -> None:
        """Run ``task`` on the rows of every block, scaled unless raw; ``absorb`` in block order.

        Another source of the same kind and size may stand in for the matrix's own.
        """
        source = source or self.source
        edges = source.boundaries

        def on_block(b: int) -> Any:
            rows = source.block(b)
            if not raw:
                rows = self._kernel.scaled(rows, self.exponent)
            return task(rows, slice(int(edges[b]), int(edges[b + 1])))

        def in_order(b: int, result: Any) -> None:
            absorb(slice(int(edges[b]), int(edges[b + 1])), result)

        self.executor.fold(on_block, len(edges) - 1, in_order)

    def _weights(self, part: slice) -> Array | None:
        return None if self.row_weights is None else self.row_weights[part]

    def folded(self, directions: Array) -> Array:
        """Vectors (c, m) over the columns of X as vectors over those of Y."""
        return directions if self.column_factors is None else directions * self.column_factors

    def products(self, directions: Array) -> Array:
        """Inner products of the unweighted rows of Y with directions (c, m): (n, c) float64."""
        folded = self.folded(directions)
        products = np.empty((self.shape[0], len(directions)))

        def absorb(part: slice, block: Array) -> None:
            products[part] = block

        self._pass(lambda rows, part: self._kernel.products_block(rows, folded), absorb)
        return products

    def sweep(
        self,
        directions: Array,
        penalty: tuple[Array, Array] | None = None,
        disjoint: bool = False,
    ) -> MatrixSweep:
        """Assign every row to a direction and sum the rows of each, in one read.

        Parameters
        ----------
        directions
            (k, m).
        penalty
            None for the score ``<y, d>`` and coefficient ``<y, d>``; offsets (k,) and lengths
            (n,) for the score ``<y, d> - offset * length`` and coefficient ``length``.
        disjoint
            Whether no two directions share a column: then the cost does not grow with k.
        """
        folded = self.folded(directions)
        labels = np.empty(self.shape[0], dtype=np.int32)
        products = np.empty(self.shape[0])
        sums = np.zeros(directions.shape)

        def task(rows: Rows, part: slice) -> Any:
            of_block = None if penalty is None else (penalty[0], penalty[1][part])
            return self._kernel.sweep_block(rows, folded, of_block, self._weights(part), disjoint)

        def absorb(part: slice, block: Any) -> None:
            nonlocal sums
            labels[part], products[part] = block.labels, block.products
            sums += block.sums

        self._pass(task, absorb)
        return MatrixSweep(labels, products, self.folded(sums))

    def step(self, labels: Array, directions: Array) -> MatrixSweep:
        """One power step per direction on the rows of its label; label -1 takes no part."""
        folded = self.folded(directions)
        products = np.zeros(self.shape[0])
        sums = np.zeros(directions.shape)

        def task(rows: Rows, part: slice) -> Any:
            return self._kernel.step_block(rows, folded, labels[part], self._weights(part))

        def absorb(part: slice, block: Any) -> None:
            nonlocal sums
            products[part] = block.products
            sums += block.sums

        self._pass(task, absorb)
        return MatrixSweep(labels, products, self.folded(sums))

    def row_sums(self, labels: Array, coefficients: Array, k: int) -> Array:
        """Sums of coefficient times row of Y over the rows of each label, (k, m).

        Label -1 takes part in no sum.
        """
        sums = np.zeros((k, self.shape[1]))
        inside = labels >= 0
        kept = np.where(inside, coefficients, 0.0)
        places = np.where(inside, labels, 0)

        def task(rows: Rows, part: slice) -> Array:
            return self._kernel.sums_block(rows, places[part], kept[part], k)

        def absorb(part: slice, block: Array) -> None:
            nonlocal sums
            sums += block

        self._pass(task, absorb)
        return self.folded(sums)

    def column_products(self, combinations: Array, exact: bool = False) -> tuple[Array, Array]:
        """Combine the columns of Y and multiply every column with each combination, in one read.

        For C = combinations (k, m) and the k vectors S = Y C^T this gives the products of S with
        the columns of Y before column factors (k, m), so that a column of weight zero is seen
        too, and the squared lengths of the columns of S (k,). ``exact`` asks for float64 products
        of float32 data.
        """
        folded = self.folded(combinations)
        products, squares = np.zeros(combinations.shape), np.zeros(len(combinations))

        def absorb(part: slice, block: Any) -> None:
            nonlocal products, squares
            products += block.products
            squares += block.squares

        def task(rows: Rows, part: slice) -> Any:
            if exact:
                rows = rows.astype(np.float64, copy=False)
            return self._kernel.columns_block(rows, folded, self._weights(part))

        self._pass(task, absorb)
        return products, squares

    def project(self, components: Array) -> tuple[Array, Array]:
        """Winner of every row of X among unit components, and the product with it.

        In the units of X, without weights: this is what new data get as well. Returns labels
        (n,) int32, -1 where the product is zero, and scales (n,) in the dtype of X.
        """
        labels = np.empty(self.shape[0], dtype=np.int32)
        scales = np.empty(self.shape[0], dtype=self.dtype)

        def task(raw: Rows, part: slice) -> tuple[Array, Array]:
            rows = self._kernel.scaled(raw, self.exponent)
            block = self._kernel.sweep_block(rows, components, None, None)
            with np.errstate(over="ignore", under="ignore"):
                found = np.ldexp(block.products, self.exponent)
            for light, products, exponents in self._light(raw, block.products, components, part):
                block.labels[light] = products.argmax(axis=1)
                with np.errstate(under="ignore"):
                    found[light] = np.ldexp(products.max(axis=1), exponents)
            return np.where(found > 0, block.labels, np.int32(-1)), found

        def absorb(part: slice, block: tuple[Array, Array]) -> None:
            labels[part], scales[part] = block
            refuse_overflow(scales[part], part.start)

        self._pass(task, absorb, raw=True)
        return labels, scales

    def loadings(self, components: Array) -> Array:
        """Products of the rows of X with components (k, m): (n, k) in the dtype of X."""
        wide = components.astype(np.float64)
        loadings = np.empty((self.shape[0], len(components)), dtype=self.dtype)

        def task(raw: Rows, part: slice) -> Array:
            block = self._kernel.products_block(self._kernel.scaled(raw, self.exponent), wide)
            with np.errstate(over="ignore", under="ignore"):
                found = np.ldexp(block, self.exponent)
                largest = block.max(axis=1, initial=0.0)
                for light, products, exponents in self._light(raw, largest, wide, part):
                    found[light] = np.ldexp(products, exponents[:, None])
            return found

        def absorb(part: slice, block: Array) -> None:
            with np.errstate(over="ignore", under="ignore"):
                loadings[part] = block
            refuse_overflow(loadings[part].max(axis=1, initial=0.0), part.start)

        self._pass(task, absorb, raw=True)
        return loadings

    def _light(
        self, raw: Rows, largest: Array, components: Array, part: slice
    ) -> Iterator[tuple[Array, Array, Array]]:
        """Rows of a block too small for the common scale, a few at a time, each by its own.

        Yields their positions in the block, their products with the components after scaling,
        and the exponents of those scales. Empty rows are left out.
        """
        light = np.flatnonzero(largest < LIGHT_PRODUCT[self.dtype])
        if len(light):
            light = light[self._kernel.has_entries(raw)[light]]
        size = max(1, LIGHT_ENTRIES // self.shape[1])
        for start in range(0, len(light), size):
            some = light[start : start + size]
            rows = self.source.rows(part.start + some)
            _, exponents = np.frexp(rows.max(axis=1, initial=0.0))
            own = np.ldexp(rows, -exponents[:, None])
            yield some, own @ components.T.astype(np.float64), exponents

    def energies(self, loadings: Any, labels: Array | None, k: int) -> Array:
        """Weighted squared loadings of every component, (k,), in the units of Y.

        ``loadings`` is (n, k) dense, or sparse with one entry per row and then ``labels`` tells
        where.
        """
        if labels is None:
            energies = np.zeros(k)
            for start, stop in pairwise(self.source.boundaries):
                part = np.ldexp(loadings[start:stop], -self.exponent, dtype=np.float64)
                np.square(part, out=part)
                weights = self._weights(slice(start, stop))
                energies += part.sum(axis=0) if weights is None else weights @ part
            return energies
        squares = np.ldexp(loadings.data, -self.exponent, dtype=np.float64)
        np.square(squares, out=squares)
        if self.row_weights is not None:
            squares *= self.row_weights[labels >= 0]
        return np.bincount(loadings.indices, weights=squares, minlength=k)

    def in_units_of_x(self, length: float) -> float:
        """A length in the units of Y as one in the units of X and of the weights given."""
        try:
            return math.ldexp(length, self.exponent + self._weight_exponent // 2)
        except OverflowError as error:
            raise ScaleOverflowError(
                "the error is too large for a float64; divide X by a power of two"
            ) from error

    def residual(self, loadings: Any, components: Array) -> float:
        """Weighted squared error of ``X ~ loadings @ components`` by direct difference.

        In the units of Y; ``loadings`` (n, k), dense or sparse with rows that can be sliced.
        """
        total = 0.0
        wide = components.astype(np.float64)

        def task(rows: Rows, part: slice) -> float:
            fitted = _ldexp(loadings[part], -self.exponent)
            squares = self._kernel.residual_block(rows, fitted, wide, self.column_factors)
            weights = self._weights(part)
            return float(squares.sum() if weights is None else squares @ weights)

        def absorb(part: slice, block: float) -> None:
            nonlocal total
            total += block

        self._pass(task, absorb)
        return total

    def whole(
        self,
        row_scales: Array | None = None,
        column_scales: Array | None = None,
        transposed: bool = False,
    ) -> Any:
        """Y, or its transpose, as one float64 array or CSR array.

        Scales, where given, take the place of the row weights or multiply the columns. For code
        that needs all pairs of rows, and for code that users bring along.
        """
        rows = row_scales
        if rows is None:
            weights = self.row_weights
            rows = np.ones(self.shape[0]) if weights is None else np.sqrt(weights)
        columns = np.ones(self.shape[1]) if column_scales is None else column_scales
        folded = self.folded(columns)
        blocks: list[Any] = []
        self._pass(
            lambda block, part: self._kernel.multiplied(block, rows[part], folded),
            lambda part, block: blocks.append(block),
        )
        return self._kernel.stacked(blocks, transposed)

    def gram(self) -> Array:
        """The Gram matrix of the columns of Y, (m, m) float64; transpose first for the rows."""
        gram = np.zeros((self.shape[1], self.shape[1]))

        def task(rows: Rows, part: slice) -> Array:
            weights = self._weights(part)
            scales = np.ones(part.stop - part.start) if weights is None else np.sqrt(weights)
            ones = self.folded(np.ones(self.shape[1]))
            return self._kernel.column_gram(self._kernel.multiplied(rows, scales, ones))

        def absorb(part: slice, block: Array) -> None:
            nonlocal gram
            gram += block

        self._pass(task, absorb)
        return gram

    def row_gram(self) -> Array:
        """The Gram matrix of the rows of Y, (n, n) float64, for a matrix of few rows."""
        whole = self.whole()
        gram = whole @ whole.T
        return np.asarray(gram if isinstance(gram, np.ndarray) else gram.toarray())

    def cell_energies(self, layouts: Sequence[tuple[Any, Any]]) -> list[Array]:
        """Sums of the squared entries of X (scaled) over cells, for several layouts in one read.

        A layout is two indicators: (n, r) which of r groups every row is in, (m, c) the same for
        columns; its sums are (r, c).
        """
        grouped = [(rows.T.tocsr(), columns) for rows, columns in layouts]
        sums = [np.zeros((rows.shape[1], columns.shape[1])) for rows, columns in layouts]

        def task(rows: Rows, part: slice) -> list[Array]:
            squares = rows * rows
            found = (members[:, part] @ (squares @ across) for members, across in grouped)
            return [one.toarray() if hasattr(one, "toarray") else one for one in found]

        def absorb(part: slice, block: list[Array]) -> None:
            for total, one in zip(sums, block, strict=True):
                total += one

        self._pass(task, absorb)
        return sums

    def take_rows(self, indices: Array) -> Array:
        """Unweighted rows of Y at these positions, (c, m) dense float64."""
        rows = self.source.rows(indices)
        return self.folded(np.ldexp(rows, -self.exponent) if self.exponent else rows)


def refuse_overflow(values: Array, first_row: int) -> None:
    """Name the first row whose scale does not fit its dtype."""
    finite = np.isfinite(values)
    if not finite.all():
        raise ScaleOverflowError(
            f"the scale of row {first_row + int(finite.argmin())} is too large for "
            f"{values.dtype}; divide X by a power of two"
        )


def _ldexp(block: Any, exponent: int) -> Any:
    """Scale an array or a sparse array by a power of two."""
    if isinstance(block, np.ndarray):
        return np.ldexp(block.astype(np.float64), exponent)
    scaled = block.astype(np.float64)
    scaled.data = np.ldexp(scaled.data, exponent)
    return scaled
