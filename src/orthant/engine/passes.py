"""What passes do with one block: plain functions of a kernel, its rows and keywords, for a Work."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from orthant.engine.kernels.dense import DENSE
from orthant.engine.kernels.interface import BlockColumns, BlockLook, BlockSweep, Kernel, Rows
from orthant.engine.units import NO_ENTRIES, Metric, Units
from orthant.numerics.arrays import Array

# Below this a product with a unit vector may have lost digits to underflow.
LIGHT_PRODUCT = {np.dtype(np.float32): 2.0**-90, np.dtype(np.float64): 2.0**-950}
LIGHT_ENTRIES = 2**20


def scan_block(
    kernel: Kernel,
    rows: Rows,
    units: Units,
    columns: bool,
    row_weights: Array | None,
    column_weights: Array | None,
) -> tuple[BlockLook, Array | None]:
    """Look at every entry of a block that has not been checked yet.

    Squares of columns (m,), rows weighted and columns not, where ``columns`` asks for them.
    """
    with np.errstate(all="ignore"):
        scaled = kernel.scale(rows, units)
        looked = kernel.look(scaled, column_weights)
        return looked, kernel.square_columns(scaled, row_weights) if columns else None


def powers_block(kernel: Kernel, rows: Rows, columns: Array | None) -> Array:
    """(b,) powers of two just above the largest entry of every row, columns shifted first."""
    return kernel.find_row_powers(rows, columns)


def missing_block(kernel: Kernel, rows: Rows) -> bool:
    """Whether a block has missing entries."""
    return kernel.any_missing(rows)


def sweep_block(kernel: Kernel, rows: Rows, units: Units, **keywords: Any) -> BlockSweep:
    """Winners of all rows, and sums of the rows of each direction."""
    return kernel.sweep(kernel.scale(rows, units), **keywords)


def step_block(kernel: Kernel, rows: Rows, units: Units, **keywords: Any) -> BlockSweep:
    """Products of rows with the directions of their labels, and sums of product times row."""
    return kernel.step(kernel.scale(rows, units), **keywords)


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


def winners_block(kernel: Kernel, raw: Rows, metric: Metric, units: Units) -> tuple[Array, Array]:
    """Winner of every row among components, -1 for none, and its scale in the units of X.

    Every row of the block has the same power in these units.
    """
    rows = kernel.scale(raw, units)
    labels, largest = kernel.find_winners(rows, metric.vectors)
    found = metric.scales(largest, labels, units.exponent)
    dtype = dtype_of(rows)
    for light, products, exponents in _light_rows(kernel, raw, dtype, largest, metric, units):
        labels[light] = products.argmax(axis=1)
        found[light] = metric.scales(products.max(axis=1), labels[light], exponents)
    with np.errstate(over="ignore", under="ignore"):
        published = found.astype(dtype_of(raw), copy=False)  # where a scale may vanish
    return np.where(published > 0, labels, np.int32(-1)), published


def loadings_block(kernel: Kernel, raw: Rows, metric: Metric, units: Units) -> Array:
    """Loadings of rows on components (k, m), in the units of X: (b, k) float64."""
    rows = kernel.scale(raw, units)
    block = kernel.multiply_directions(rows, metric.vectors)
    everyone = slice(None)
    found = metric.scales(block, everyone, units.exponent)
    largest = block.max(axis=1, initial=0.0)
    dtype = dtype_of(rows)
    for light, products, exponents in _light_rows(kernel, raw, dtype, largest, metric, units):
        found[light] = metric.scales(products, everyone, exponents[:, None])
    return found


def dtype_of(rows: Rows) -> np.dtype:
    """The dtype of a block; tensors have the same names for theirs."""
    return np.dtype(str(rows.dtype).removeprefix("torch."))


def _light_rows(
    kernel: Kernel, raw: Rows, dtype: np.dtype, largest: Array, metric: Metric, units: Units
) -> Iterator[tuple[Array, Array, Array]]:
    """Rows of a block too small for the common scale, a few at a time, each by its own.

    ``largest`` (b,) are their largest products, computed in this dtype. Yields their positions in
    the block, their products with the vectors after scaling, and the exponents of those scales.
    Empty rows are left out.
    """
    light = np.flatnonzero(largest < LIGHT_PRODUCT[dtype])
    if len(light):
        light = light[kernel.find_filled(raw)[light]]
    size = max(1, LIGHT_ENTRIES // raw.shape[1])
    vectors = metric.vectors.T.astype(np.float64)
    for start in range(0, len(light), size):
        some = light[start : start + size]
        rows = kernel.take_dense(raw, some)
        exponents = DENSE.find_row_powers(rows, units.columns)
        exponents = np.where(exponents == NO_ENTRIES, 0, exponents)
        own = DENSE.scale(rows, Units(0, exponents, units.columns))
        yield some, own @ vectors, exponents


def residual_block(
    kernel: Kernel,
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
    fitted = units.scale_loadings(loadings, powers)
    squares = kernel.square_residuals(kernel.scale(rows, units), fitted, components, column_factors)
    return float(squares.sum() if row_weights is None else squares @ row_weights)


def draw_block(
    kernel: Kernel,
    rows: Rows,
    units: Units,
    directions: Array,
    column_factors: Array,
    rate: float,
    distance: Callable[[Array, Array], Array],
    key: tuple[int, ...],
    first: int,
    row_weights: Array | None,
) -> tuple[Array, float]:
    """Rows drawn by weight times distance to the nearest direction, and the sum of that."""
    rows = kernel.scale(rows, units)
    squares = kernel.look(rows, np.square(column_factors)).row_squares
    products = kernel.multiply_directions(rows, directions).max(axis=1)
    cosines = np.divide(products, np.sqrt(squares), out=np.zeros_like(squares), where=squares > 0)
    weights = squares if row_weights is None else squares * row_weights
    missed = weights * distance(np.minimum(cosines, 1.0)[:, None], np.ones(1))[:, 0]
    chances = np.random.default_rng((*key, first)).random(len(missed))
    drawn = np.flatnonzero(chances < rate * missed)
    return kernel.take_dense(rows, drawn) * column_factors, float(missed.sum())


class FirstRow:
    """Stands for an array with one entry per row where only the first row of a block counts."""

    def __getitem__(self, rows: slice) -> int:
        """The number of the first row."""
        return int(rows.start)


class Stacked(list[Any]):
    """Several arrays of equally many rows, sliced together."""

    def __getitem__(self, rows: Any) -> Any:
        """The same rows of each, or, by a number, one of them."""
        if not isinstance(rows, slice):
            return super().__getitem__(rows)
        return [one[rows] for one in self]
