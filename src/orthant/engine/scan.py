"""The first look at a source: is every entry acceptable, how large, how heavy are its sides."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from orthant.arrays import Array
from orthant.engine.blockwise import scan_block
from orthant.engine.executors import Executor
from orthant.engine.kernels.blocks import BlockLook
from orthant.engine.sources import Source
from orthant.engine.work import Work

# Within these powers of two the largest entry, products of two entries summed over a block, and
# (in float64) squares of such sums neither overflow nor lose what matters to underflow.
SAFE_EXPONENT = {np.dtype(np.float32): 40, np.dtype(np.float64): 120}


@dataclass(frozen=True, slots=True)
class Scan:
    """The result of looking at every entry of a source once."""

    offence: tuple[int, int, float] | None  # row, column, value of the first bad entry
    exponent: int  # of the power of two that brings the largest entry below 1; 0 in safe range
    row_squares: Array  # (n,)
    column_squares: Array | None  # (m,), where wanted


def scan(
    source: Source,
    executor: Executor,
    row_weights: Array | None,
    column_weights: Array | None,
    columns: bool = True,
) -> Scan:
    """Check every entry, find the scale, and take the squared norms of rows and columns.

    Those of the columns only where ``columns`` says so.
    """
    weights = (row_weights, column_weights)
    looked, column_squares = _scan_at(source, executor, *weights, columns, exponent=0)
    largest, exponent = looked.largest, 0
    if looked.offence is None and largest > 0:
        _, power = np.frexp(largest)
        if abs(int(power)) > SAFE_EXPONENT[source.dtype]:
            exponent = int(power)
            looked, column_squares = _scan_at(source, executor, *weights, columns, exponent)
    if column_squares is not None and column_weights is not None:
        column_squares = column_squares * column_weights
    return Scan(looked.offence, exponent, looked.row_squares, column_squares)


def _scan_at(
    source: Source,
    executor: Executor,
    row_weights: Array | None,
    column_weights: Array | None,
    columns: bool,
    exponent: int,
) -> tuple[BlockLook, Array | None]:
    row_squares = np.empty(source.shape[0])
    column_squares = np.zeros(source.shape[1]) if columns else None
    offences: list[tuple[int, int, float]] = []
    largest = 0.0

    def absorb(rows: slice, block: tuple[BlockLook, Array | None]) -> None:
        nonlocal largest, column_squares
        looked, squares = block
        row_squares[rows] = looked.row_squares
        if column_squares is not None and squares is not None:
            with np.errstate(all="ignore"):
                column_squares += squares
        largest = max(largest, looked.largest)
        if looked.offence is not None:
            row, column, value = looked.offence
            offences.append((rows.start + row, column, value))

    shared = {"exponent": exponent, "columns": columns, "column_weights": column_weights}
    executor.fold(source, Work(scan_block, shared, {"row_weights": row_weights}), absorb)
    looked = BlockLook(offences[0] if offences else None, largest, row_squares)
    return looked, column_squares
