"""The first look at a source: is every entry acceptable, how large, how heavy is every row."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from orthonmf.engine.executors import Executor, Work, with_units
from orthonmf.engine.kernels.interface import BlockLook, Kernel, Rows
from orthonmf.engine.placement import on_host
from orthonmf.engine.sources import Source
from orthonmf.engine.units import (
    AT_REST,
    NO_ENTRIES,
    SWITCHED_OFF,
    Units,
    exponent_of,
    is_safe,
    largest_power,
    split_weights,
)
from orthonmf.numerics.arrays import Array

# The smallest number that has all its digits.
TINY = float(np.finfo(np.float64).tiny)


@dataclass(frozen=True, slots=True)
class Scan:
    """The result of looking at every entry of a source once."""

    offense: tuple[int, int, float] | None  # row, column, value of the first bad entry
    row_squares: Array  # (n,) of the rows in these units, columns weighted and rows not
    column_squares: Array | None = None  # (m,) of the weighted matrix, where wanted
    units: Units = AT_REST  # of the passes
    units_of_rows: Units = AT_REST  # of the rows by themselves, whatever weight they have
    row_weights: Array | None = None  # (n,) that go with the units
    column_factors: Array | None = None  # (m,) square roots of weights that go with the units
    weight_power: int = 0  # of two, by which lengths were divided because of the weights


def scan(
    source: Source,
    executor: Executor,
    row_weights: Array | None = None,
    column_weights: Array | None = None,
    columns: bool = True,
) -> Scan:
    """Check every entry, find the units, and take the squared norms of rows and columns.

    Those of the columns only where ``columns`` says so. Weights are divided by a power of four
    that brings the largest near 1. A matrix within the safe range is used as it is, which takes
    one read; outside of it, or with weights that lead out of it, up to two more are needed.
    """
    powers = largest_power(row_weights), largest_power(column_weights)
    at_rest = Scan(
        None,
        np.zeros(0),
        row_weights=None
        if row_weights is None
        else source.kernel.place(np.ldexp(row_weights, -2 * powers[0])),
        column_factors=None if column_weights is None else _roots(column_weights, powers[1]),
        weight_power=sum(powers),
    )
    looked, found = _look(source, executor, at_rest, columns)
    if looked.offense is not None or looked.largest == 0:
        return found
    safe = is_safe(looked.largest, source.dtype) and _squares_are_safe(found.row_squares, source)
    safe = safe and _keeps_digits(column_weights, powers[1])
    heavy = _squares_are_safe(_weigh(found), source) and _keeps_digits(row_weights, powers[0])
    if safe and heavy:
        return found
    units = _units_for(source, executor, safe, looked.largest, row_weights, column_weights, powers)
    return _look(source, executor, units, columns)[1]


def _roots(weights: Array, power: int) -> Array:
    """Square roots of weights divided by ``4**power``; taken first, so that nothing underflows."""
    return np.ldexp(np.sqrt(weights), -power)


def _weigh(found: Scan) -> Array:
    """(n,) squared lengths of the weighted rows; a row without weight is not looked at."""
    if found.row_weights is None:
        return found.row_squares
    with np.errstate(over="ignore", under="ignore"):
        counted = np.where(found.row_weights > 0, found.row_squares, 0.0)
        return counted * found.row_weights


def _keeps_digits(weights: Array | None, power: int) -> bool:
    """Whether no positive weight loses digits when it is divided by ``4**power``."""
    if weights is None:
        return True
    return bool(((np.ldexp(weights, -2 * power) >= TINY) | (weights == 0)).all())


def _squares_are_safe(squares: Array, source: Source) -> bool:
    """Whether the largest of some squared lengths is that of rows in safe range."""
    largest = float(squares.max(initial=0.0))
    return math.isfinite(largest) and is_safe(math.sqrt(largest), source.dtype) and largest > 0


def _units_for(
    source: Source,
    executor: Executor,
    safe: bool,
    largest: float,
    row_weights: Array | None,
    column_weights: Array | None,
    powers: tuple[int, int],
) -> Scan:
    """The units in which the largest entry of the weighted matrix is near 1, and the weights.

    The first read has told the largest entry, and whether the rows by themselves, weights of rows
    left out, are in safe range.
    """
    factors, columns = None, None
    if column_weights is not None:
        factors = _roots(column_weights, powers[1])
        if not safe:
            fractions, halves = split_weights(column_weights)
            factors, columns = np.sqrt(fractions), powers[1] - halves
            columns = np.where(column_weights > 0, columns, SWITCHED_OFF).astype(np.int32)
    if row_weights is None and columns is None:
        units = Units(exponent_of(largest))
        return Scan(None, np.zeros(0), None, units, units, None, factors, sum(powers))
    of_rows = _row_powers(source, executor, columns)
    alone = Units()
    if not safe:
        alone = Units(_largest(of_rows), None, columns)
    if row_weights is None:
        return Scan(None, np.zeros(0), None, alone, alone, None, factors, sum(powers))
    fractions, halves = split_weights(row_weights)
    halves = halves - powers[0]
    heavy = (row_weights > 0) & (of_rows > NO_ENTRIES)
    exponent = _largest((of_rows + halves)[heavy])
    # A row without weight is in nobody's way: it has a power of its own.
    own = np.where(of_rows > NO_ENTRIES, of_rows - exponent, 0)
    rows = np.where(row_weights > 0, -halves, own).astype(np.int32)
    units = Units(exponent, rows, columns)
    placed = source.kernel.place(fractions)
    return Scan(None, np.zeros(0), None, units, alone, placed, factors, sum(powers))


def _largest(powers: Array) -> int:
    """The largest of some powers of rows; 0 where no row has entries."""
    largest = int(powers.max(initial=NO_ENTRIES))
    return largest if largest > NO_ENTRIES else 0


def _row_powers(source: Source, executor: Executor, columns: Array | None) -> Array:
    """(n,) the power of two just above the largest entry of every row, columns shifted first."""
    found = np.empty(source.shape[0], dtype=np.int32)

    def absorb(rows: slice, block: Array) -> None:
        found[rows] = block

    executor.fold(source, Work(powers_block, {"columns": columns}), absorb)
    return found


def _look(
    source: Source, executor: Executor, scanned: Scan, columns: bool
) -> tuple[BlockLook, Scan]:
    """One read in the units and with the weights of a scan; the scan with what it found."""
    row_squares = source.kernel.room((source.shape[0],))
    column_squares = np.zeros(source.shape[1]) if columns else None
    offenses: list[tuple[int, int, float]] = []
    largest = 0.0

    def absorb(rows: slice, block: tuple[BlockLook, Array | None]) -> None:
        nonlocal largest, column_squares
        looked, squares = block
        row_squares[rows] = looked.row_squares
        if column_squares is not None and squares is not None:
            with np.errstate(all="ignore"):
                column_squares += on_host(squares)
        largest = max(largest, looked.largest)
        if looked.offense is not None:
            row, column, value = looked.offense
            offenses.append((rows.start + row, column, value))

    factors = scanned.column_factors
    column_weights = None if factors is None else np.square(factors)
    shared = {"columns": columns, "column_weights": column_weights}
    work = with_units(scan_block, scanned.units, shared, {"row_weights": scanned.row_weights})
    executor.fold(source, work, absorb)
    looked = BlockLook(offenses[0] if offenses else None, largest, row_squares)
    if column_squares is not None and column_weights is not None:
        with np.errstate(all="ignore"):
            column_squares = column_squares * column_weights
    found = replace(
        scanned, offense=looked.offense, row_squares=row_squares, column_squares=column_squares
    )
    return looked, found


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
