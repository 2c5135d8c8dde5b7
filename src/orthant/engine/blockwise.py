"""What passes do with one block, whatever its kind: functions without state, for a Work."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from orthant.engine.kernels import kernel_of
from orthant.engine.kernels.blocks import BlockColumns, BlockLook, BlockSweep, Rows
from orthant.engine.metric import Metric
from orthant.engine.sources import Source
from orthant.engine.units import NO_ENTRIES, Units
from orthant.numerics.arrays import Array

# Below this a product with a unit vector may have lost digits to underflow.
LIGHT_PRODUCT = {np.dtype(np.float32): 2.0**-90, np.dtype(np.float64): 2.0**-950}
LIGHT_ENTRIES = 2**20
# Entries of a block that are copied to float64 at once.
PIECE_ENTRIES = 2**20
FEWEST_ROWS = 512


def by_kernel(rows: Rows, name: str, units: Units, **keywords: Any) -> Any:
    """Let the kernel of a block do the operation of this name on the rows in these units."""
    kernel = kernel_of(rows)
    return getattr(kernel, name)(kernel.scaled(rows, units), **keywords)


def on_scaled(rows: Rows, function: Callable[..., Any], units: Units, **keywords: Any) -> Any:
    """Apply a function to rows in these units."""
    return function(kernel_of(rows).scaled(rows, units), **keywords)


def scan_block(
    rows: Rows,
    units: Units,
    columns: bool,
    row_weights: Array | None,
    column_weights: Array | None,
) -> tuple[BlockLook, Array | None]:
    """Look at every entry of a block that has not been checked yet.

    Squares of columns (m,), rows weighted and columns not, where ``columns`` asks for them.
    """
    kernel = kernel_of(rows)
    with np.errstate(all="ignore"):
        scaled = kernel.scaled(rows, units)
        looked = kernel.look(scaled, column_weights)
        return looked, kernel.column_squares(scaled, row_weights) if columns else None


def powers_block(rows: Rows, columns: Array | None) -> Array:
    """(b,) powers of two just above the largest entry of every row, columns shifted first."""
    return kernel_of(rows).row_powers(rows, columns)


def sweep_block(
    rows: Rows,
    directions: Array,
    offsets: Array | None = None,
    lengths: Array | None = None,
    row_weights: Array | None = None,
    disjoint: bool = False,
    by_row: bool = True,
) -> BlockSweep:
    """Give every row to the direction with the highest score, and sum the rows of each.

    A row enters the sum with its product; with offsets and lengths, which lower its scores by
    ``offset * length``, it enters with its length. Both times its weight. Without ``by_row`` only
    the sums are given back.
    """
    kernel = kernel_of(rows)
    labels, best = kernel.winners_block(rows, directions, offsets, lengths, disjoint)
    products, coefficients = best, best
    if offsets is not None and lengths is not None:
        products = best + (offsets[labels] * lengths).astype(rows.dtype, copy=False)
        coefficients = lengths
    if row_weights is not None:
        coefficients = coefficients * row_weights
    sums = kernel.sums_block(rows, labels, coefficients, len(directions))
    return BlockSweep(labels, products, sums) if by_row else BlockSweep(None, None, sums)


def columns_block(rows: Rows, combinations: Array, exact: bool, row_weights: Array | None) -> Any:
    """Products of all columns with combinations of columns, in float64 if ``exact``."""
    kernel = kernel_of(rows)
    if not exact or rows.dtype == np.float64:
        return kernel.columns_block(rows, combinations, row_weights)
    products, squares = np.zeros(combinations.shape), np.zeros(len(combinations))
    for some in _pieces(rows):
        weights = None if row_weights is None else row_weights[some]
        found = kernel.columns_block(rows[some].astype(np.float64), combinations, weights)
        products += found.products
        squares += found.squares
    return BlockColumns(products, squares)


def _pieces(rows: Rows) -> Iterator[slice]:
    """Parts of a dense block whose float64 copies are small; a sparse block as a whole."""
    dense = isinstance(rows, np.ndarray)
    size = max(FEWEST_ROWS, PIECE_ENTRIES // rows.shape[1]) if dense else rows.shape[0]
    for start in range(0, rows.shape[0], size):
        yield slice(start, min(start + size, rows.shape[0]))


def entries_of(source: Source) -> Iterator[tuple[Array, Array, Array]]:
    """Rows, columns and values (float64) of all entries but zeros, some of them at a time."""
    for number, start in enumerate(source.boundaries[:-1]):
        block = source.block(number)
        for some in _pieces(block):
            rows, columns, values = kernel_of(block).entries(block[some])
            yield rows + int(start) + some.start, columns, values


def winners_block(raw: Rows, metric: Metric, units: Units) -> tuple[Array, Array]:
    """Winner of every row among components, -1 for none, and its scale in the units of X.

    Every row of the block has the same power in these units.
    """
    kernel = kernel_of(raw)
    rows = kernel.scaled(raw, units)
    labels, largest = kernel.winners_block(rows, metric.vectors)
    found = metric.scales(largest, labels, units.exponent)
    for light, products, exponents in _light_rows(raw, rows.dtype, largest, metric, units.columns):
        labels[light] = products.argmax(axis=1)
        found[light] = metric.scales(products.max(axis=1), labels[light], exponents)
    with np.errstate(over="ignore", under="ignore"):
        published = found.astype(raw.dtype, copy=False)  # where a scale may vanish
    return np.where(published > 0, labels, np.int32(-1)), published


def loadings_block(raw: Rows, metric: Metric, units: Units) -> Array:
    """Loadings of rows on components (k, m), in the units of X: (b, k) float64."""
    kernel = kernel_of(raw)
    rows = kernel.scaled(raw, units)
    block = kernel.products_block(rows, metric.vectors)
    everyone = slice(None)
    found = metric.scales(block, everyone, units.exponent)
    largest = block.max(axis=1, initial=0.0)
    for light, products, exponents in _light_rows(raw, rows.dtype, largest, metric, units.columns):
        found[light] = metric.scales(products, everyone, exponents[:, None])
    return found


def _light_rows(
    raw: Rows, dtype: np.dtype, largest: Array, metric: Metric, columns: Array | None
) -> Iterator[tuple[Array, Array, Array]]:
    """Rows of a block too small for the common scale, a few at a time, each by its own.

    ``largest`` (b,) are their largest products, computed in this dtype. Yields their positions in
    the block, their products with the vectors after scaling, and the exponents of those scales.
    Empty rows are left out.
    """
    kernel = kernel_of(raw)
    light = np.flatnonzero(largest < LIGHT_PRODUCT[dtype])
    if len(light):
        light = light[kernel.has_entries(raw)[light]]
    size = max(1, LIGHT_ENTRIES // raw.shape[1])
    vectors = metric.vectors.T.astype(np.float64)
    for start in range(0, len(light), size):
        some = light[start : start + size]
        rows = kernel.dense_rows(raw, some)
        exponents = kernel_of(rows).row_powers(rows, columns)
        exponents = np.where(exponents == NO_ENTRIES, 0, exponents)
        own = kernel_of(rows).scaled(rows, Units(0, exponents, columns))
        yield some, own @ vectors, exponents


def residual_block(
    rows: Rows,
    components: Array,
    powers: Array,
    column_factors: Array | None,
    units: Units,
    loadings: Any,
    row_weights: Array | None,
) -> float:
    """Weighted squared distance of rows to ``loadings @ components``, in these units.

    ``components`` (k, m) are divided by the columns' powers and by their own ``powers`` (k,);
    ``loadings`` are as published.
    """
    fitted = scaled_loadings(loadings, units, powers)
    kernel = kernel_of(rows)
    squares = kernel.residual_block(kernel.scaled(rows, units), fitted, components, column_factors)
    return float(squares.sum() if row_weights is None else squares @ row_weights)


def scaled_loadings(loadings: Any, units: Units, powers: Array) -> Any:
    """An array or a sparse array (b, k) in float64, rows in their units, columns times powers."""
    return kernel_of(loadings).scaled(loadings.astype(np.float64), units.of_loadings(powers))


def gram_block(rows: Rows, column_factors: Array, row_weights: Array | None) -> Array:
    """Gram matrix of the weighted columns of a block, (m, m) float64."""
    kernel = kernel_of(rows)
    scales = np.ones(rows.shape[0]) if row_weights is None else np.sqrt(row_weights)
    gram = np.zeros((rows.shape[1], rows.shape[1]))
    for some in _pieces(rows):
        gram += kernel.column_gram(kernel.multiplied(rows[some], scales[some], column_factors))
    return gram


def draw_block(
    rows: Rows,
    directions: Array,
    column_factors: Array,
    rate: float,
    distance: Callable[[Array, Array], Array],
    key: tuple[int, ...],
    first: int,
    row_weights: Array | None,
) -> tuple[Array, float]:
    """Rows drawn by weight times distance to the nearest direction, and the sum of that."""
    kernel = kernel_of(rows)
    squares = kernel.look(rows, np.square(column_factors)).row_squares
    products = kernel.products_block(rows, directions).max(axis=1)
    cosines = np.divide(products, np.sqrt(squares), out=np.zeros_like(squares), where=squares > 0)
    weights = squares if row_weights is None else squares * row_weights
    missed = weights * distance(np.minimum(cosines, 1.0)[:, None], np.ones(1))[:, 0]
    chances = np.random.default_rng((*key, first)).random(len(missed))
    drawn = np.flatnonzero(chances < rate * missed)
    return kernel.dense_rows(rows, drawn) * column_factors, float(missed.sum())


class FirstRow:
    """Stands for an array with one entry per row where only the first row of a block counts."""

    def __getitem__(self, rows: slice) -> int:
        """The number of the first row."""
        return int(rows.start)


def cells_block(rows: Rows, across: Sequence[Any], down: Any) -> list[Array]:
    """Sums of squared entries over cells: (r, c) for each pair of row and column groups.

    ``across`` holds (m, c) indicators, ``down`` the part of a :class:`Stacked` of (n, r) ones.
    """
    squares = rows * rows
    found = (groups.T @ (squares @ columns) for groups, columns in zip(down, across, strict=True))
    return [one.toarray() if hasattr(one, "toarray") else one for one in found]


class Stacked(list[Any]):
    """Several arrays of equally many rows, sliced together."""

    def __getitem__(self, rows: Any) -> Any:
        """The same rows of each, or, by a number, one of them."""
        if not isinstance(rows, slice):
            return super().__getitem__(rows)
        return [one[rows] for one in self]
