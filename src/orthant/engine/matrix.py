"""Matrix: a source, an executor and a kernel joined; every pass over the rows is a method.

Scales and weights live here and nowhere above. The matrix that algorithms see is

    Y = diag(sqrt(row_weights)) @ X' @ diag(column_factors),    X' = X in other units

but Y is never formed: the powers of two of the units are applied block by block (and only when
the weighted matrix leaves the safe range), column factors are folded into the k x m arrays that go
in and come out, and row weights into the coefficients of a block.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from orthant.engine.blockwise import (
    LIGHT_PRODUCT,
    FirstRow,
    Stacked,
    by_kernel,
    cells_block,
    columns_block,
    draw_block,
    entries_of,
    gram_block,
    loadings_block,
    on_scaled,
    residual_block,
    sweep_block,
    winners_block,
)
from orthant.engine.executors import Executor
from orthant.engine.kernels import kernel_of
from orthant.engine.kernels.blocks import BlockColumns, BlockSweep
from orthant.engine.metric import Metric, folded_components, metric_of
from orthant.engine.scan import Scan
from orthant.engine.sources import Source, in_memory
from orthant.engine.units import Units
from orthant.engine.work import Work, with_units
from orthant.errors import ScaleOverflowError
from orthant.numerics.arrays import Array, divided
from orthant.numerics.digest import digest

# So many entries of light rows are looked at apart.
MOST_LIGHT_ENTRIES = 2**20


@dataclass(frozen=True, slots=True)
class MatrixSweep:
    """One pass that assigns every row and sums the rows of each direction."""

    labels: Array | None  # (n,) int32
    products: Array | None  # (n,) of the scaled, unweighted row with its winner, dtype of X
    sums: Array  # (k, m) float64


class Matrix:
    """Passes over a checked, scaled and weighted non-negative matrix."""

    def __init__(
        self,
        source: Source,
        executor: Executor,
        scan: Scan,
    ) -> None:
        self.source, self.executor = source, executor
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

    @property
    def total(self) -> float:
        """Squared Frobenius norm of Y."""
        weights = self.row_squares if self.row_weights is None else self._weighted_squares()
        return float(weights.sum())

    @property
    def column_squares(self) -> Array:
        """(m,) squared lengths of the columns of Y: a read, the first time, if not yet known."""
        if self._column_squares is None:
            summed = self._summed(
                "column_squares", (self.shape[1],), {}, {"row_weights": self.row_weights}
            )
            self._column_squares = self.folded(self.folded(summed))
        return self._column_squares

    def _weighted_squares(self) -> Array:
        return self.row_squares * self.row_weights

    def fingerprint(self) -> str:
        """A short text that tells this matrix, its blocks and its weights from others."""
        units = self.units
        kind = np.array([*self.shape, units.exponent, self.dtype.itemsize, self.source.sparse])
        sides = (self.row_squares, self.column_squares, self.row_weights, self.column_factors)
        return digest(kind, self.source.boundaries, *sides, units.rows, units.columns)

    def part(self, rows: Array | slice, row_weights: Array | None = None) -> Matrix:
        """Some rows as a matrix of their own, in memory, with other row weights if given."""
        weights = row_weights
        if weights is None and self.row_weights is not None:
            weights = self.row_weights[rows]
        return self._like(
            self.source.part(rows), self.row_squares[rows], None, weights, self.units.of(rows)
        )

    def normalized(self, rows: Array, row_weights: Array) -> Matrix:
        """Some rows of Y, their weights left out, at length 1, in memory.

        They take the row weights given here, and have no column factors of their own.
        """
        blocks: list[Any] = []
        units = self.units.of(rows)
        self._like(self.source.part(rows), self.row_squares[rows], None, None, units)._pass(
            "normalized",
            lambda part, block: blocks.append(block),
            {"column_factors": self.column_factors},
            {"lengths": np.sqrt(self.row_squares[rows])},
        )
        source = in_memory(kernel_of(blocks[0]).stacked(blocks, False))
        scanned = Scan(None, np.ones(len(row_weights)), row_weights=row_weights)
        return Matrix(source, self.executor, scanned)

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
            source,
            row_squares,
            column_squares,
            None if factors is None else factors**2,
            self.units.transposed(),
        )
        flipped.column_factors = None if weights is None else np.sqrt(weights)
        return flipped

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

    def _pass(
        self,
        operation: str | Callable[..., Any],
        absorb: Callable[[slice, Any], None],
        shared: dict[str, Any],
        by_row: dict[str, Any] | None = None,
    ) -> None:
        """Do something with the scaled rows of every block; ``absorb`` in block order.

        ``operation`` names one of the kernel's, or is a function of rows and keywords: ``shared``
        and, of everything in ``by_row``, the part of the block.
        """
        function: Callable[..., Any] = on_scaled
        keywords = {"function": operation, **shared}
        if isinstance(operation, str):
            function = by_kernel
            keywords = {"name": operation, **shared}
        self._fold(with_units(function, self.units, keywords, by_row), absorb)

    def _fold(self, work: Work, absorb: Callable[[slice, Any], None]) -> None:
        """Do something with the rows of every block as they are stored."""
        self.executor.fold(self.source, work, absorb)

    def folded(self, directions: Array) -> Array:
        """Vectors (c, m) over the columns of X as vectors over those of Y."""
        return directions if self.column_factors is None else directions * self.column_factors

    def products(self, directions: Array, exact: bool = True) -> Array:
        """Inner products of the unweighted rows of Y with directions (c, m): (n, c).

        In float64, or, unless they must be ``exact``, in the dtype of the data.
        """
        dtype = np.float64 if exact else self.dtype
        products = np.empty((self.shape[0], len(directions)), dtype=dtype)

        def absorb(part: slice, block: Array) -> None:
            products[part] = block

        shared = {"directions": self.folded(directions), "exact": exact}
        self._pass("products_block", absorb, shared)
        return products

    def sweep(
        self,
        directions: Array,
        penalty: tuple[Array, Array] | None = None,
        disjoint: bool = False,
        by_row: bool = True,
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
        by_row
            Whether labels and products of all rows are wanted; else only sums are kept.
        """
        labels = np.empty(self.shape[0], dtype=np.int32) if by_row else None
        products = np.empty(self.shape[0], dtype=self.dtype) if by_row else None
        sums = np.zeros(directions.shape)
        folded = self.folded(directions).astype(self.dtype, copy=False)
        order = by_value(folded)
        offsets, lengths = penalty or (None, None)

        def absorb(part: slice, block: BlockSweep) -> None:
            if labels is not None and products is not None:
                labels[part], products[part] = order[block.labels], block.products
            sums[order] += block.sums

        shared = {
            "directions": folded[order],
            "offsets": None if offsets is None else offsets[order],
            "disjoint": disjoint,
            "by_row": by_row,
        }
        parts = {"lengths": lengths, "row_weights": self.row_weights}
        self._pass(sweep_block, absorb, shared, parts)
        return MatrixSweep(labels, products, self.folded(sums))

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
            "directions": self.folded(directions),
            "column_factors": self.folded(np.ones(self.shape[1])),
            "rate": rate,
            "distance": distance,
            "key": key,
        }
        parts = {"first": FirstRow(), "row_weights": self.row_weights}
        self._pass(draw_block, absorb, shared, parts)
        return np.concatenate(drawn), missed

    def step(self, labels: Array, directions: Array) -> MatrixSweep:
        """One power step per direction on the rows of its label; label -1 takes no part."""
        products = np.zeros(self.shape[0])
        sums = np.zeros(directions.shape)

        def absorb(part: slice, block: BlockSweep) -> None:
            nonlocal sums
            products[part] = block.products
            sums += block.sums

        shared = {"directions": self.folded(directions)}
        by_row = {"labels": labels, "row_weights": self.row_weights}
        self._pass("step_block", absorb, shared, by_row)
        return MatrixSweep(labels, products, self.folded(sums))

    def row_sums(self, labels: Array, coefficients: Array, k: int) -> Array:
        """Sums of coefficient times row of Y over the rows of each label, (k, m).

        Label -1 takes part in no sum.
        """
        inside = labels >= 0
        by_row = {
            "labels": np.where(inside, labels, 0),
            "coefficients": np.where(inside, coefficients, 0.0),
        }
        return self.folded(self._summed("sums_block", (k, self.shape[1]), {"k": k}, by_row))

    def _summed(
        self,
        operation: str | Callable[..., Any],
        shape: tuple[int, ...],
        shared: dict[str, Any],
        by_row: dict[str, Any] | None = None,
    ) -> Array:
        """The sum over all blocks, in block order, of what an operation gives for each."""
        sums: Array | None = None

        def absorb(part: slice, block: Array) -> None:
            nonlocal sums
            sums = block if sums is None else sums + block

        self._pass(operation, absorb, shared, by_row)
        return np.zeros(shape) if sums is None else sums

    def column_products(self, combinations: Array, exact: bool = False) -> tuple[Array, Array]:
        """Combine the columns of Y and multiply every column with each combination, in one read.

        For C = combinations (k, m) and the k vectors S = Y C^T this gives the products of S with
        the columns of Y before column factors (k, m), and the squared lengths of the columns of S
        (k,). ``exact`` asks for float64 products of float32 data.
        """
        products, squares = np.zeros(combinations.shape), np.zeros(len(combinations))

        def absorb(part: slice, block: BlockColumns) -> None:
            nonlocal products, squares
            products += block.products
            squares += block.squares

        shared = {"combinations": self.folded(combinations), "exact": exact}
        self._pass(columns_block, absorb, shared, {"row_weights": self.row_weights})
        return products, squares

    def project(self, components: Array) -> tuple[Array, Array]:
        """Winner of every row of X among unit components, and the scale of the row.

        In the units of X and the metric of the feature weights; weights of rows play no part:
        this is what new data get as well. Returns labels (n,) int32, -1 where the scale is zero,
        and scales (n,) in the dtype of X.
        """
        labels = np.empty(self.shape[0], dtype=np.int32)
        scales = np.empty(self.shape[0], dtype=self.dtype)
        narrow = components.astype(self.dtype, copy=False)
        order = by_value(narrow)
        numbers = np.append(order, np.int32(-1))  # -1 stays -1

        def absorb(part: slice, block: tuple[Array, Array]) -> None:
            labels[part], scales[part] = numbers[block[0]], block[1]
            refuse_overflow(scales[part], part.start)

        shared = {"metric": self.metric(narrow[order]), "units": self._units_of_rows}
        self._fold(Work(winners_block, shared), absorb)
        return labels, scales

    def metric(self, components: Array) -> Metric:
        """What to multiply rows with to express them by components (k, m)."""
        return metric_of(components, self.column_factors, self.units.columns)

    def projected(self, labels: Array, products: Array) -> tuple[Array, Array] | None:
        """What :meth:`project` gives, from the labels and products of a sweep: no further read.

        None where they do not tell: in other units, with feature weights, and for rows so light
        that products lost digits.
        """
        if not self.units.at_rest or self.column_factors is not None:
            return None
        light = np.flatnonzero(products < LIGHT_PRODUCT[self.dtype])
        if len(light) > 0 and self._any_entries(light):
            return None
        return np.where(products > 0, labels, np.int32(-1)), products

    def _any_entries(self, rows: Array) -> bool:
        """Whether some of these rows hold anything but zeros; or are too many to be looked at."""
        if not self.source.sparse and len(rows) * self.shape[1] > MOST_LIGHT_ENTRIES:
            return True
        part = self.source.part(rows)
        blocks = (part.block(index) for index in range(len(part.boundaries) - 1))
        return any(kernel_of(block).has_entries(block).any() for block in blocks)

    def loadings(self, components: Array) -> Array:
        """Loadings of the rows of X on disjoint components (k, m): (n, k) in the dtype of X."""
        loadings = np.empty((self.shape[0], len(components)), dtype=self.dtype)
        order = by_value(components)

        def absorb(part: slice, block: Array) -> None:
            with np.errstate(over="ignore", under="ignore"):
                loadings[part, order] = block
            refuse_overflow(loadings[part].max(axis=1, initial=0.0), part.start)

        metric = self.metric(components[order].astype(np.float64))
        shared = {"metric": metric, "units": self._units_of_rows}
        self._fold(Work(loadings_block, shared), absorb)
        return loadings

    def energies_of_loadings(self, loadings: Array, components: Array) -> Array:
        """Energy that every one of k components captures by its loadings (n, k), in units of Y."""
        energies = np.zeros(loadings.shape[1])
        for start, stop in pairwise(self.source.boundaries):
            part = self.lengths_of_loadings(loadings, components, slice(start, stop))
            np.square(part, out=part)
            weights = None if self.row_weights is None else self.row_weights[start:stop]
            energies += part.sum(axis=0) if weights is None else weights @ part
        return energies

    def energies_of_scales(self, labels: Array, scales: Array, components: Array) -> Array:
        """Energy that every one of k components captures by scales (n,), in the units of Y.

        Rows of label -1 have scale 0.
        """
        k = len(components)
        squares = self.lengths_of_scales(labels, scales, components)
        np.square(squares, out=squares)
        if self.row_weights is not None:
            squares *= self.row_weights
        return np.bincount(np.maximum(labels, 0), weights=squares, minlength=k)[:k]

    def lengths_of_loadings(
        self, loadings: Array, components: Array, rows: slice = slice(None)
    ) -> Array:
        """(b, k) what loadings (n, k) of components capture of some rows, as lengths in units of Y.

        Row weights are left out.
        """
        units = self.units.of(rows)
        return self.metric(components).captured(
            loadings[rows],
            slice(None),
            units.exponent,
            None if units.rows is None else units.rows[:, None],
        )

    def lengths_of_scales(self, labels: Array, scales: Array, components: Array) -> Array:
        """(n,) what scales (n,) of components capture of every row, as lengths in the units of Y.

        Row weights are left out.
        """
        return self.metric(components).captured(
            scales, np.maximum(labels, 0), self.units.exponent, self.units.rows
        )

    def in_units_of_x(self, length: float) -> float:
        """A length in the units of Y as one in the units of X and of the weights given."""
        try:
            return math.ldexp(length, self.exponent + self._weight_power)
        except OverflowError as error:
            raise ScaleOverflowError(
                "the error is too large for a float64; divide X by a power of two"
            ) from error

    def residual(self, loadings: Any, components: Array) -> float:
        """Weighted squared error of ``X ~ loadings @ components`` by direct difference.

        In the units of Y; ``loadings`` (n, k), dense or sparse with rows that can be sliced.
        """
        total = 0.0

        def absorb(part: slice, block: float) -> None:
            nonlocal total
            total += block

        shifted, powers = self.shifted(components)
        shared = {
            "components": shifted,
            "powers": powers,
            "column_factors": self.column_factors,
        }
        by_row = {"loadings": loadings, "row_weights": self.row_weights}
        self._fold(with_units(residual_block, self.units, shared, by_row), absorb)
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
        blocks: list[Any] = []
        self._pass(
            "multiplied",
            lambda part, block: blocks.append(block),
            {"column_scales": self.folded(columns)},
            {"row_scales": rows},
        )
        return kernel_of(blocks[0]).stacked(blocks, transposed)

    def gram(self) -> Array:
        """The Gram matrix of the columns of Y, (m, m) float64; transpose first for the rows."""
        m = self.shape[1]
        shared = {"column_factors": self.folded(np.ones(m))}
        return self._summed(gram_block, (m, m), shared, {"row_weights": self.row_weights})

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
        sums = [np.zeros((rows.shape[1], columns.shape[1])) for rows, columns in layouts]

        def absorb(part: slice, block: list[Array]) -> None:
            for total, one in zip(sums, block, strict=True):
                total += one

        across = [columns for _, columns in layouts]
        down = Stacked(rows.tocsr() for rows, _ in layouts)
        self._pass(cells_block, absorb, {"across": across}, {"down": down})
        return sums

    def take_rows(self, indices: Array) -> Array:
        """Unweighted rows of Y at these positions, (c, m) dense float64."""
        return self.folded(self.rows_in_units(indices))

    def stored_entries(self) -> Iterator[tuple[Array, Array, Array]] | None:
        """Rows, columns and values of all entries of X but zeros, as they are, some at a time.

        None where reading them costs a pass.
        """
        return entries_of(self.source) if self.source.in_memory else None

    def rows_in_units(self, indices: Array) -> Array:
        """Rows of X' at these positions, (c, m) dense float64."""
        rows = self.source.rows(indices)
        return kernel_of(rows).scaled(rows, self.units.of(indices))

    def shifted(self, components: Array) -> tuple[Array, Array]:
        """Components (k, m) of X as vectors over the columns of X', each divided by a power of two.

        Returns them in float64, and the powers (k,).
        """
        if self.units.columns is None:
            return components.astype(np.float64), np.zeros(len(components), dtype=np.int32)
        return folded_components(components, np.ones(self.shape[1]), self.units.columns)

    def unshifted(self, vectors: Array) -> Array:
        """Vectors (c, m) over the columns of X' as vectors over those of X, of any length."""
        if self.units.columns is None:
            return vectors
        return folded_components(vectors, np.ones(self.shape[1]), -self.units.columns)[0]

    def row_shares(self, coefficients: Array) -> Array:
        """Coefficients (k, n) of the rows of X as weighted coefficients of those of X'.

        Each of the k may be divided by a power of two.
        """
        weighted = coefficients if self.row_weights is None else coefficients * self.row_weights
        if self.units.rows is None:
            return weighted
        return folded_components(weighted, np.ones(self.shape[0]), self.units.rows)[0]

    def of_rows(self, coefficients: Array) -> Array:
        """One entry (k, n) for every row of X' as entries for those of X.

        Each of the k may be divided by a power of two.
        """
        if self.units.rows is None:
            return coefficients
        return folded_components(coefficients, np.ones(self.shape[0]), -self.units.rows)[0]

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


def by_value(vectors: Array) -> Array:
    """The order (k,) int32 of the rows of an array by what is in them, wherever they stand.

    In what order directions are multiplied decides how their products round. In this one the bits
    of a product depend on the directions alone, so components may be put in another order
    without another read.
    """
    rows = np.ascontiguousarray(vectors) + 0.0  # 0.0 and -0.0 are one value of two bit patterns
    if rows.size == 0:
        return np.arange(len(rows), dtype=np.int32)
    texts = rows.view(f"S{rows.shape[1] * rows.itemsize}")[:, 0]
    return np.argsort(texts, kind="stable").astype(np.int32)


def refuse_overflow(values: Array, first_row: int) -> None:
    """Name the first row whose scale does not fit its dtype."""
    finite = np.isfinite(values)
    if not finite.all():
        raise ScaleOverflowError(
            f"the scale of row {first_row + int(finite.argmin())} is too large for "
            f"{values.dtype}; divide X by a power of two"
        )
