"""What else passes do with a block: differences, draws in rounds, entries, when a Gram is rough."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from orthonmf.engine.kernels.interface import Kernel, Rows, piece_rows
from orthonmf.engine.units import Units
from orthonmf.numerics.arrays import Array

if TYPE_CHECKING:
    from orthonmf.engine.geometry import Geometry

# Multiplications from which a Gram matrix in float32 is worth a pass of products in float64.
WORTH_A_ROUGH_GRAM = 2**33


def square_residuals(kernel: Kernel, rows: Rows, *given: Any) -> Array:
    """(b,) squared distances of rows to ``loadings @ components``; see the kernel."""
    return kernel.square_residuals(rows, *given)


def residual_block(
    kernel: Kernel,
    rows: Rows,
    square: Callable[..., Array],
    components: Array,
    powers: Array,
    column_factors: Array | None,
    units: Units,
    loadings: Any,
    row_weights: Array | None,
) -> float:
    """Weighted squared distance of rows to ``loadings @ components``, in these units.

    ``components`` (k, m) are divided by the columns' powers and by their own ``powers`` (k,);
    ``loadings`` are as published. ``square`` gives the distances, as `square_residuals` does.
    """
    fitted = units.scale_loadings(loadings, powers)
    squares = square(kernel, kernel.scale(rows, units), fitted, components, column_factors)
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


def short_sums(matrix: Geometry) -> int | None:
    """How many numbers a rough Gram matrix sums up in float32; None where that saves little."""
    n, m = matrix.shape
    kernel = matrix.source.kernel
    if kernel.sparse or kernel.on_device or n * m * m < WORTH_A_ROUGH_GRAM:
        return None
    return min(n, piece_rows(m))


def list_entries(matrix: Geometry) -> Iterator[tuple[Array, Array, Array]] | None:
    """Rows, columns and values of all entries of X but zeros, as they are, some at a time.

    None where reading them costs a pass.
    """
    return _entries(matrix) if matrix.source.in_memory else None


def _entries(matrix: Geometry) -> Iterator[tuple[Array, Array, Array]]:
    source, kernel = matrix.source, matrix.source.kernel
    for number, start in enumerate(source.boundaries[:-1]):
        block = source.block(number)
        for some in kernel.pieces(block):
            rows, columns, values = kernel.list_entries(block[some])
            yield rows + int(start) + some.start, columns, values
