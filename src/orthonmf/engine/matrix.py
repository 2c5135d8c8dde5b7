"""Matrix: X, its weights, one exponent, and every pass over its rows a method, first the sweep.

The matrix that algorithms see is

    Y = diag(sqrt(row_weights)) @ (X / 2**exponent) @ diag(column_factors)

but Y is never formed: the power of two is applied block by block (and only when the weighted matrix
leaves the safe range: `first_look.py`, which also takes the roots of weights), column factors are
folded into the k x m arrays that go in and come out, and row weights into the coefficients of a
block: single rows, and their products, come without them. Rows expressed by components (labels,
loadings, the error) are what is published, and what new rows get as well. What a pass does with one
block is a method of its kernel (`kernels/interface.py`).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
from scipy.sparse import coo_array, csr_array

from orthonmf.engine.checksums import digest
from orthonmf.engine.executors import Absorb, Executor, Operation, Work
from orthonmf.engine.first_look import Scan
from orthonmf.engine.kernels.dense import DENSE
from orthonmf.engine.kernels.interface import BlockSweep, Kernel, piece_rows
from orthonmf.engine.kernels.sparse import gram_of_rows
from orthonmf.engine.loadings import Metric, Projection
from orthonmf.engine.placement import on_host, take
from orthonmf.engine.segments import slices
from orthonmf.engine.sources import Source, in_memory, stack, to_dense
from orthonmf.errors import InvalidInputError, ScaleOverflowError
from orthonmf.typing import Array
from orthonmf.vectors import by_value, divide, square_lengths

# Below this share of the squared norm the difference "norm minus captured" has lost its digits.
CANCELLATION = {np.dtype(np.float64): 1e-8, np.dtype(np.float32): 1e-2}


class Matrix:
    """Passes over a checked, scaled and weighted non-negative matrix."""

    complete = True  # no entry is missing

    def __init__(
        self,
        source: Source,
        executor: Executor,
        scan: Scan,
        prepare: Callable[[Any], Any] | None = None,
    ) -> None:
        self.source, self.executor, self._scan = source, executor, scan
        self._prepare = prepare  # what is made of rows first: zeros of missing entries
        self.shape, self.dtype = source.shape, source.dtype
        self.exponent = scan.exponent  # the power of two that all entries are divided by
        self.row_weights = scan.row_weights  # (n,) or None
        self.column_factors = scan.column_factors  # (m,) or None
        self.row_squares, self._column_squares = scan.row_squares, scan.column_squares
        self._weight_power = scan.weight_power  # of two, divided out of weighted lengths
        self.underflown = scan.underflown  # (c,) rows that count as zero though they hold something

    def fold(
        self,
        operation: Operation,
        shared: dict[str, Any] | None = None,
        by_row: dict[str, Any] | None = None,
        *,
        rows: Sequence[Any] = (),
        sums: Sequence[tuple[int, ...]] = (),
        absorb: Absorb | None = None,
        gaps: bool = False,
    ) -> list[Array]:
        """One pass: an operation on every block of X / 2**exponent, results in block order.

        A method of the kernel by its name, or a function of kernel and rows. It gets ``shared``
        and, of everything in ``by_row``, what belongs to the block. Missing entries are zeros, or
        NaN for what leaves ``gaps`` out.

        Results fill arrays with one entry per row, ``rows``, and are added up to ``sums`` of these
        shapes, which are given back. A block has a result for each of both, in this order, a single
        one as it is; results that are None do not count. What is neither goes to ``absorb``.
        """
        added = [self.source.kernel.room(shape) for shape in sums]

        def keep(part: slice, block: Any) -> None:
            results = block if isinstance(block, tuple) else (block,)
            results = tuple(result for result in results if result is not None)
            for whole, result in zip(rows, results, strict=False):
                whole[part] = result
            for whole, result in zip(added, results[len(rows) :], strict=True):
                np.add(whole, result, out=whole)

        prepare = None if gaps else self._prepare
        work = Work(operation, shared or {}, by_row or {}, self.exponent, prepare)
        self.executor.fold(self.source, work, absorb or keep)
        return [on_host(whole) for whole in added]

    def _room(self, dtype: Any = np.float64) -> Any:
        """Zeros (n,) where the rows lie."""
        return self.source.kernel.room(self.shape[:1], dtype)

    @property
    def remarks(self) -> tuple[str, ...]:
        """What a fit should say about how the rows were read."""
        return self.source.kernel.remarks(self.dtype)

    @property
    def pass_dtype(self) -> np.dtype:
        """The dtype in which rows are multiplied: that of X unless they are scaled."""
        return self.dtype if self.exponent == 0 else np.dtype(np.float64)

    @property
    def n_entries(self) -> int:
        """How many numbers one pass reads."""
        return self.source.n_entries

    @cached_property
    def total(self) -> float:
        """Squared Frobenius norm of Y."""
        return float(self.weigh_rows(self.row_squares).sum())

    @property
    def column_squares(self) -> Array:
        """(m,) squared lengths of the columns of Y: a read, the first time, if not yet known."""
        if self._column_squares is None:
            by_row = {"row_weights": self.row_weights}
            (summed,) = self.fold("square_columns", {}, by_row, sums=[self.shape[1:]])
            self._column_squares = summed * np.square(self.weigh_columns(np.ones(len(summed))))
        return self._column_squares

    def fingerprint(self) -> str:
        """A short text that tells this matrix, its blocks and its weights from others."""
        kind = np.array(
            [*self.shape, self.exponent, self.dtype.itemsize, self.source.kernel.sparse]
        )
        sides = (self.row_squares, self.column_squares, self.row_weights, self.column_factors)
        return self.source.kernel.made_by + digest(kind, self.source.boundaries, *sides, None, None)

    def weigh_rows(self, values: Any) -> Any:
        """What is known of every row (n,), times its weight."""
        return values if self.row_weights is None else values * self.row_weights

    def weigh_columns(self, directions: Array) -> Array:
        """Vectors (c, m) over the columns of X as vectors over those of Y."""
        return directions if self.column_factors is None else directions * self.column_factors

    def to_components(self, directions: Array) -> Array:
        """Vectors (c, m) over the columns of Y as components of X, of any length.

        Columns without weight have no part in Y, and entries 0 here.
        """
        if self.column_factors is None:
            return directions
        return divide(directions, self.column_factors[None, :])

    def metric(self, components: Array) -> Metric:
        """What to multiply rows with to express them by unit components (k, m)."""
        if self.column_factors is None:
            return Metric(components, components)
        weighted = components.astype(np.float64) * self.column_factors
        lengths = np.sqrt(square_lengths(weighted))
        lengths = np.where(lengths > 0, lengths, 1.0)
        directions = weighted / lengths[:, None]
        return Metric(directions, directions * self.column_factors, lengths)

    def in_units_of_x(self, length: float) -> float:
        """A length in the units of Y as one in the units of X and of the weights given."""
        return self._scale_back(length, self._weight_power, "error")

    def amount(self, value: float) -> float:
        """A divergence of the weighted matrix in the units of X and of the weights given."""
        return self._scale_back(value, 2 * self._weight_power, "divergence")

    def _scale_back(self, value: float, power: int, what: str) -> float:
        try:
            return math.ldexp(value, self.exponent + power)
        except OverflowError as error:
            raise ScaleOverflowError(
                f"the {what} is too large for a float64; divide X by a power of two"
            ) from error

    def part(self, rows: Array | slice, row_weights: Array | None = None) -> Matrix:
        """Some rows as a matrix of their own, in memory, with other row weights if given."""
        if row_weights is None and self.row_weights is not None:
            row_weights = on_host(self.row_weights[rows])
        source, squares = in_memory(self.source.take(rows)), on_host(self.row_squares[rows])
        return self._like(source, row_squares=squares, column_squares=None, row_weights=row_weights)

    def transpose(self, many_passes: bool = True) -> Matrix | None:
        """The matrix whose rows are the columns of this one; None when passes would be slow."""
        source = self.source.transpose(many_passes)
        if source is None:
            return None
        factors, weights = self.column_factors, self.row_weights
        row_squares = self.column_squares
        if factors is not None:  # squares of rows leave their own weight out
            row_squares = divide(row_squares, factors**2)
        return self._like(
            source,
            row_squares=source.kernel.place(row_squares),
            column_squares=on_host(self.weigh_rows(self.row_squares)),
            row_weights=None if factors is None else source.kernel.place(factors**2),
            column_factors=None if weights is None else on_host(np.sqrt(weights)),
        )

    def vector_length(self, orthogonal: str) -> int:
        """How many numbers one direction over the points of a setting holds, at most."""
        n, m = self.shape
        return n if orthogonal == "features" and self.source.can_transpose else m

    def entries_of(self, count: int, orthogonal: str) -> float:
        """About how many entries copies of so many points of a setting hold; 0 if none are made."""
        n_points = self.shape[0 if orthogonal == "samples" else 1]
        copied = orthogonal == "samples" or self.source.can_transpose
        return self.n_entries * min(1.0, count / n_points) if copied else 0.0

    def _like(self, source: Source, **changes: Any) -> Matrix:
        """Another source in the same units, with what has changed of the scan."""
        scanned = replace(self._scan, underflown=np.zeros(0, dtype=np.int64), **changes)
        return Matrix(source, self.executor, scanned, self._prepare)

    def products(self, directions: Array, exact: bool = True) -> Array:
        """Inner products of the rows of Y with directions (c, m): (n, c).

        In float64, or, unless ``exact``, in `pass_dtype`.
        """
        dtype = np.float64 if exact else self.pass_dtype
        products = self.source.kernel.room((self.shape[0], len(directions)), dtype)
        shared = {"directions": self.weigh_columns(directions), "exact": exact}
        self.fold("multiply_directions", shared, rows=[products])
        return products

    def nearest(self, directions: Array) -> tuple[Any, Any]:
        """The direction (c, m) with the largest product of every row of Y, and that product (n,).

        In float64. Only one block's products with all directions are held at a time.
        """
        labels, largest = self._room(np.int32), self._room()
        shared = {"directions": self.weigh_columns(directions)}
        self.fold(nearest_block, shared, rows=[labels, largest])
        return labels, largest

    def sweep(
        self,
        directions: Array,
        offsets: Array | None = None,
        lengths: Any = None,
        by_row: bool = True,
    ) -> BlockSweep:
        """Assign every row to one of the directions (k, m) and sum the rows of each, in one read.

        The score and the coefficient of a row are ``<y, d>``; with offsets (k,) and lengths (n,)
        the score is ``<y, d> - offset * length``, the coefficient ``length``. Without ``by_row``
        labels and products of rows are not kept, only sums.
        """
        folded = self.weigh_columns(directions).astype(self.pass_dtype, copy=False)
        order = by_value(folded)
        if offsets is not None:
            offsets = offsets[order]
        rows = [self._room(np.int32), self._room(self.pass_dtype)] if by_row else []
        shared = {"directions": folded[order], "offsets": offsets, "by_row": by_row}
        parts = {"lengths": lengths, "row_weights": self.row_weights}
        (sums,) = self.fold("sweep", shared, parts, rows=rows, sums=[directions.shape])
        sums = self.weigh_columns(sums[np.argsort(order)])
        return BlockSweep(take(order, rows[0]), rows[1], sums) if by_row else BlockSweep(sums=sums)

    def own_products(self, labels: Array, directions: Array) -> Any:
        """The product (n,) of every row of Y with the direction of its label."""
        products = self._room()
        shared = {"directions": self.weigh_columns(directions)}
        self.fold("multiply_own", shared, {"labels": labels}, rows=[products])
        return products

    def update(self, labels: Array, directions: Array) -> tuple[Any, Array]:
        """One power update per direction on the rows of its label; label -1 takes no part.

        Returns the products (n,) of the rows with their directions, and the sums (k, m).
        """
        products = self._room()
        shared = {"directions": self.weigh_columns(directions)}
        by_row = {"labels": labels, "row_weights": self.row_weights}
        (sums,) = self.fold("update", shared, by_row, rows=[products], sums=[directions.shape])
        return products, self.weigh_columns(sums)

    def row_sums(self, labels: Array, coefficients: Array, k: int) -> Array:
        """Sums of coefficient times row of Y over the rows of each label, (k, m).

        Label -1 takes part in no sum.
        """
        by_row = {"labels": labels, "coefficients": coefficients}
        (sums,) = self.fold("sum_members", {"k": k}, by_row, sums=[(k, self.shape[1])])
        return self.weigh_columns(sums)

    def column_products(self, combinations: Array, exact: bool = False) -> tuple[Array, Array]:
        """Combine the columns of Y and multiply every column with each combination, in one read.

        For C = combinations (k, m) and the k vectors S = Y C^T this gives the products of S with
        the columns of Y (k, m), and the squared lengths of the columns of S (k,). ``exact`` asks
        for float64 products of float32 data.
        """
        shapes = [combinations.shape, combinations.shape[:1]]
        shared = {"combinations": self.weigh_columns(combinations), "exact": exact}
        by_row = {"row_weights": self.row_weights}
        products, squares = self.fold("combine_columns", shared, by_row, sums=shapes)
        return self.weigh_columns(products), squares

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
        rows, columns = self._scales(row_scales, column_scales)
        if not self.source.kernel.sparse:
            whole = np.empty(self.shape)
            self.fold("multiply", columns, rows, rows=[whole])
            return np.ascontiguousarray(whole.T) if transposed else whole
        blocks: list[Any] = []
        self.fold("multiply", columns, rows, absorb=lambda part, block: blocks.append(block))
        stacked: Any = stack(blocks)
        return stacked.T.tocsr() if transposed else stacked

    def _scales(
        self, row_scales: Array | None = None, column_scales: Array | None = None
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        """What rows and columns of X are multiplied by: the roots of their weights."""
        (n, m), weights = self.shape, self.row_weights
        if row_scales is None:
            row_scales = np.ones(n) if weights is None else np.sqrt(weights)
        columns = self.weigh_columns(np.ones(m) if column_scales is None else column_scales)
        return {"row_scales": row_scales}, {"column_scales": columns}

    def dense(self) -> Array:
        """Y as one dense float64 array: for small data."""
        return to_dense(self.whole())

    def gram(self) -> Array:
        """The Gram matrix of the columns of Y, (m, m)."""
        rows, columns = self._scales()
        (gram,) = self.fold("gram", columns, rows, sums=[2 * self.shape[1:]])
        return gram

    def row_gram(self) -> Array:
        """The Gram matrix (n, n) of the rows of Y, for few rows."""
        return gram_of_rows(self.whole())

    @cached_property
    def stored_by_column(self) -> Array:
        """(m,) how many entries of every column are stored, where rows are sparse."""
        (counts,) = self.fold(count_stored, sums=[self.shape[1:]])
        return counts

    def list_entries(self) -> Iterator[tuple[Array, Array, Array]]:
        """Rows, columns and values of all entries of X but zeros, as they are, some at a time."""
        for number, start in enumerate(self.source.boundaries[:-1]):
            block = self._prepared(self.source.block(number))
            for some in slices(block.shape[0], piece_rows(self.shape[1])):
                entries = coo_array(self.source.kernel.take(block, some))
                entries.eliminate_zeros()
                rows, columns = entries.coords
                yield rows + (start + some.start), columns, entries.data.astype(np.float64)

    def stored_rows(self, indices: Array) -> Array | csr_array:
        """Copies of some rows as they are stored, in the units of X, dense or CSR."""
        return self._prepared(self.source.take(indices).astype(self.dtype, copy=False))

    def _prepared(self, rows: Any) -> Any:
        return rows if self._prepare is None else self._prepare(rows)

    def rows_in_units(self, indices: Array) -> Array:
        """Rows of X / 2**exponent at these positions, (c, m) dense float64."""
        return DENSE.scale(self._prepared(self.source.rows(indices)), self.exponent)

    def express(self, components: Array, orthogonal: str) -> Projection:
        """Express every row by components (k, m): the one closed form, for the fit and new data."""
        k, m = components.shape
        if self.shape[1] != m:
            raise InvalidInputError(
                f"X has {self.shape[1]} features, but the components have {m} features"
            )
        if orthogonal == "features":
            return Projection(self.loadings(components))
        if k == 0:
            nobody = np.full(self.shape[0], -1, dtype=np.int32)
            return Projection(None, nobody, np.zeros(self.shape[0], self.dtype))
        return Projection(None, *self.project(components), k)

    def project(self, components: Array) -> tuple[Any, Any]:
        """Winner of every row of X among unit components, and the scale of the row.

        In the units of X and the metric of the feature weights; weights of rows play no part:
        this is what new data get as well. Returns labels (n,) int32, -1 where the scale is zero,
        and scales (n,) in the dtype of X.
        """
        narrow = components.astype(self.dtype, copy=False)
        order = by_value(narrow)
        winners, scales = self._fit_winners(narrow[order])
        scales = self.publish_scales(scales)
        numbers = np.append(order, np.int32(-1))  # -1 stays -1
        return take(numbers, np.where(scales > 0, winners, np.int32(-1))), scales

    def _fit_winners(self, components: Array) -> tuple[Any, Any]:
        """Winner (n,) of every row, and its scale in the units of the matrix."""
        metric = self.metric(components)
        winners, products = self._room(np.int32), self._room(self.pass_dtype)
        self.fold("find_winners", {"directions": metric.vectors}, rows=[winners, products])
        return winners, metric.scales(products, winners)

    def project_sweep(self, labels: Array, products: Array) -> tuple[Array, Array] | None:
        """What :meth:`project` gives, from the labels and products of a sweep: no further read.

        None where they do not tell: in other units, and with feature weights.
        """
        if self.exponent != 0 or self.column_factors is not None:
            return None
        products[self.underflown] = 0.0
        return np.where(products > 0, labels, np.int32(-1)), products

    def loadings(self, components: Array) -> Any:
        """Loadings of the rows of X on disjoint components (k, m): (n, k) in the dtype of X."""
        order = by_value(components)
        metric = self.metric(components[order].astype(np.float64))
        shared = {"directions": metric.vectors}
        return self.fill_loadings(
            order, "multiply_directions", shared, lambda block: metric.scales(block, slice(None))
        )

    def fill_loadings(
        self,
        order: Array,
        operation: Operation,
        shared: dict[str, Any],
        values_of: Callable[[Any], Any],
        gaps: bool = False,
    ) -> Any:
        """(n, k) loadings: column s of the values of every block is that of component order[s]."""
        loadings = self.source.kernel.room((self.shape[0], len(order)), self.dtype)

        def absorb(part: slice, block: Any) -> None:
            loadings[part, order] = self.publish_scales(values_of(block), part.start)

        self.fold(operation, shared, absorb=absorb, gaps=gaps)
        return loadings

    def publish_scales(self, values: Any, first_row: int = 0) -> Any:
        """Scales (b,) or loadings (b, k) of some rows in the units and the dtype of X.

        What is too small for it vanishes, as do rows that count as zero; the first row that is
        too large is named.
        """
        with np.errstate(over="ignore", under="ignore"):
            given = np.ldexp(values, self.exponent).astype(self.dtype, copy=False)
        if len(self.underflown):
            places = self.underflown - first_row
            given[places[(places >= 0) & (places < len(given))]] = 0.0
        finite = np.isfinite(given)
        if not finite.all():
            rows = finite if finite.ndim == 1 else on_host(finite).all(axis=1)
            raise ScaleOverflowError(
                f"the scale of row {first_row + int(on_host(rows).argmin())} is too large for "
                f"{given.dtype}; divide X by a power of two"
            )
        return given

    def captured_lengths(self, projection: Projection, components: Array) -> Any:
        """(n, k), or (n,) by labels: lengths of what rows so expressed capture, in units of Y.

        Row weights are left out.
        """
        labels = projection.labels
        scales = projection.dense if labels is None else projection.scales
        captured = np.ldexp(scales, -self.exponent, dtype=np.float64)
        lengths = self.metric(components).lengths
        if lengths is None or len(lengths) == 0:
            return captured
        return captured * (lengths if labels is None else take(lengths, np.maximum(labels, 0)))

    def energies_of(self, components: Array, projection: Projection) -> Array:
        """(k,) the energy that every component captures, in the units of Y."""
        k = len(components)
        if projection.labels is not None:  # rows of label -1 have scale 0
            squares = self.captured_lengths(projection, components)
            np.square(squares, out=squares)
            weighted = self.weigh_rows(squares)
            return np.bincount(np.maximum(projection.labels, 0), weights=weighted, minlength=k)[:k]
        energies = np.zeros(k)
        for start, stop in pairwise(self.source.boundaries):
            part = self.captured_lengths(projection[start:stop], components)
            np.square(part, out=part)
            weights = None if self.row_weights is None else self.row_weights[start:stop]
            energies += part.sum(axis=0) if weights is None else weights @ part
        return energies

    def squared_error(
        self, unit: Array, projection: Projection, energies: Array | None = None
    ) -> tuple[float, bool]:
        """Squared error in the units of Y, and whether all entries were compared for it.

        Else it is what the components do not capture, which then has its digits. ``energies`` (k,)
        are those of :meth:`energies_of`, where they are known.
        """
        # The short formula needs the products of the error's own geometry, every entry, and
        # products as exact as the data, which those on a device are not.
        apart = self.column_factors is not None or not self.complete
        apart = apart or self.source.kernel.on_device
        scales = projection.dense if projection.labels is None else projection.scales
        if not apart and scales_are_accurate(scales):
            energies = self.energies_of(unit, projection) if energies is None else energies
            squared = self.total - float(energies.sum())
            if squared >= CANCELLATION[self.dtype] * self.total:
                return squared, False
        return self.residual(projection, unit), True

    def residual(self, projection: Projection, components: Array) -> float:
        """Weighted squared error of rows so expressed, by direct difference, in the units of Y."""
        shared = {
            "components": components.astype(np.float64),
            "column_factors": self.column_factors,
            "exponent": self.exponent,
        }
        by_row = {"projection": projection, "row_weights": self.row_weights}
        (total,) = self.fold(residual_block, shared, by_row, sums=[()], gaps=True)
        return float(total)


def residual_block(
    kernel: Kernel[Any],
    rows: Any,
    components: Array,
    column_factors: Array | None,
    exponent: int,
    projection: Projection,
    row_weights: Any,
) -> float:
    """Weighted squared distance of rows over ``2**exponent`` to what they are expressed by."""
    fitted = projection.divide(exponent)
    squares = kernel.square_residuals(rows, fitted, components, column_factors)
    return float(squares.sum() if row_weights is None else squares @ row_weights)


def scales_are_accurate(values: Array) -> bool:
    """Whether no scale (n,) or loading (n, k) is so small that it has lost digits to underflow."""
    limits = np.finfo(values.dtype)
    smallest = np.min(values, initial=np.inf, where=values > 0)
    return bool(smallest > limits.tiny / limits.eps)


def count_stored(kernel: Kernel[Any], rows: csr_array) -> Array:
    """(m,) how many entries of every column of a block are stored."""
    return np.bincount(rows.indices, minlength=rows.shape[1])


def nearest_block(kernel: Kernel[Any], rows: Any, directions: Array) -> tuple[Array, Array]:
    """The direction with the largest product of every row (b,), and that product (b,)."""
    products = kernel.multiply_directions(rows, directions)
    return products.argmax(axis=1), products.max(axis=1)
