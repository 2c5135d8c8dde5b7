"""What the kernels return for one block of rows, and the rules of a sweep."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from orthant.engine.units import Units
from orthant.numerics.arrays import Array

Rows = Any  # a C-ordered (b, m) array or a (b, m) csr_array: only the kernels ask which


@dataclass(frozen=True, slots=True)
class BlockLook:
    """What one look at a block tells: is it acceptable, how large, how heavy are its rows."""

    offense: tuple[int, int, float] | None  # row in the block, column, value
    largest: float
    row_squares: Array  # (b,) float64


@dataclass(frozen=True, slots=True)
class BlockSweep:
    """Winners of the rows of a block, and the sums that make the next directions."""

    labels: Any  # (b,) the winning direction, or None
    products: Any  # (b,) the inner product with it, or None
    sums: Array  # (k, m) float64, sum of coefficient times row over the winners' rows


@dataclass(frozen=True, slots=True)
class BlockColumns:
    """Products of all columns with k combinations of columns, from one block of rows."""

    products: Array  # (k, m) float64
    squares: Array  # (k,) float64, squared length of each combination within this block


class Kernel(Protocol):
    """The operations on one block; arrays in, arrays out, arguments never changed.

    They keep nothing that results depend on and are known by name, so a block may be worked on in
    another process.

    Modules satisfy it: ``dense`` and ``sparse`` beside this file.
    """

    scaled: Callable[[Rows, Units], Rows]
    row_powers: Callable[[Rows, Array | None], Array]
    look: Callable[[Rows, Array | None], BlockLook]
    column_squares: Callable[[Rows, Array | None], Array]
    products_block: Callable[..., Array]
    winners_block: Callable[..., tuple[Array, Array]]
    step_block: Callable[..., BlockSweep]
    columns_block: Callable[[Rows, Array, Array | None], BlockColumns]
    sums_block: Callable[[Rows, Array, Array, int], Array]
    dense_rows: Callable[[Rows, Array], Array]
    multiplied: Callable[[Rows, Array, Array], Rows]
    normalized: Callable[[Rows, Array, Array | None], Rows]
    stacked: Callable[[list[Rows], bool], Rows]
    residual_block: Callable[[Rows, Any, Array, Array | None], Array]
    has_entries: Callable[[Rows], Array]
    entries: Callable[[Rows], tuple[Array, Array, Array]]
    column_gram: Callable[[Rows], Array]


def first_offense(values: Array) -> int | None:
    """Position of the first value that is NaN, infinite or negative; None if all are fine."""
    bad = ~((values >= 0) & np.isfinite(values))
    position = int(bad.argmax())
    return position if bad[position] else None
