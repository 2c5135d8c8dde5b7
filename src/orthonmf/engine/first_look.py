"""The first look at a source: is every entry acceptable, how large, how heavy is every row.

Squares and sums of very large and very small numbers leave the range of floating point, so a matrix
that is not near 1 is divided by one power of two, which is exact. A row whose squared length, taken
in float64, still underflows next to the largest entry counts as zero.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np

from orthonmf.engine.executors import Executor, Work
from orthonmf.engine.kernels.interface import BlockLook, Kernel
from orthonmf.engine.sources import Source
from orthonmf.errors import InvalidInputError
from orthonmf.typing import Array

# Within these powers of two the largest entry, products of two entries summed over a block, and
# (in float64) squares of such sums neither overflow nor lose what matters to underflow.
SAFE_EXPONENT = {np.dtype(np.float32): 40, np.dtype(np.float64): 120}
# From this length on products of float32 rows with unit vectors keep their digits.
SHORTEST_IN_FLOAT32 = 2.0**-80
# Weights may differ by this power of two.
WIDEST_WEIGHTS = 400
# Entries without weight may be larger than others by this power of two before they set the scale.
LARGEST_WITHOUT_WEIGHT = 500
# The smallest number that has all its digits: below it a squared length has underflowed.
TINY = float(np.finfo(np.float64).tiny)


@dataclass(frozen=True, slots=True)
class Scan:
    """The result of looking at every entry of a source once."""

    row_squares: Any  # (n,) of the rows over 2**exponent, columns weighted and rows not
    offense: tuple[int, int, float] | None = None  # row, column, value of the first bad entry
    column_squares: Array | None = None  # (m,) of the weighted matrix, where known
    exponent: int = 0  # the power of two that all entries are divided by
    row_weights: Any = None  # (n,) divided by a power of four
    column_factors: Array | None = None  # (m,) square roots of weights, the same
    weight_power: int = 0  # of two, by which lengths were divided because of the weights
    # Numbers of the rows that count as zero though they hold something.
    underflown: Array = field(default_factory=lambda: np.zeros(0, dtype=np.int64))


def scan(
    source: Source,
    executor: Executor,
    row_weights: Array | None = None,
    column_weights: Array | None = None,
    prepare: Callable[[Any], Any] | None = None,
) -> Scan:
    """Check every entry, find the exponent, and take the squared lengths of the rows.

    ``prepare`` is what rows go through first.
    Weights are divided by a power of four that brings the largest near 1. A matrix within the safe
    range is used as it is, which takes one read; outside of it, or with weights that lead out of
    it, up to two more are needed.
    """
    powers = _largest_power(row_weights, "sample"), _largest_power(column_weights, "feature")
    if row_weights is not None:
        row_weights = source.kernel.place(np.ldexp(row_weights, -2 * powers[0]))
    factors = None
    if column_weights is not None:  # roots first, so that nothing underflows
        factors = np.ldexp(np.sqrt(column_weights), -powers[1])
    first = Scan(
        np.zeros(0), row_weights=row_weights, column_factors=factors, weight_power=sum(powers)
    )
    look = partial(_look, source, executor, prepare)
    largest, scanned = look(first)
    if scanned.offense is not None or largest == 0 or _is_safe(scanned, largest, source.dtype):
        return scanned
    # An exponent of 0 would mean rows as they are stored, in their own dtype.
    scaled = replace(first, exponent=_exponent_of(largest) or 1)
    _, scanned = look(scaled)
    heaviest = math.sqrt(float(_weigh(scanned).max(initial=0.0)))
    power = _exponent_of(heaviest) if heaviest > 0 else -LARGEST_WITHOUT_WEIGHT
    if power < -SAFE_EXPONENT[np.dtype(np.float64)]:  # what is large has little weight
        power = max(power, -LARGEST_WITHOUT_WEIGHT)
        scaled = replace(scaled, exponent=(scaled.exponent + power) or 1)
        _, scanned = look(scaled)
    return scanned


def _largest_power(weights: Array | None, what: str) -> int:
    """The power of four in the largest weight, 0 without weights; refused if they differ more."""
    if weights is None:
        return 0
    positive = weights[weights > 0]
    if len(positive) == 0:
        return 0
    smallest, largest = (_exponent_of(value) for value in (positive.min(), positive.max()))
    if largest - smallest > WIDEST_WEIGHTS:
        raise InvalidInputError(
            f"{what}_weight spans from {positive.min():g} to {positive.max():g}; weights may "
            f"differ by a factor of 2^{WIDEST_WEIGHTS} at most: make those that count for "
            "nothing 0"
        )
    return (largest - 1) // 2


def _exponent_of(value: float) -> int:
    """The power of two just above a positive number."""
    return int(np.frexp(value)[1])


def _is_safe(scanned: Scan, largest: float, dtype: np.dtype) -> bool:
    """Whether a matrix with this largest entry may be computed with as it is."""
    limit = SAFE_EXPONENT[dtype]
    if abs(_exponent_of(largest)) > limit:
        return False
    for squares in (scanned.row_squares, _weigh(scanned)):
        heaviest = float(squares.max(initial=0.0))
        if not 0 < heaviest < np.inf or abs(_exponent_of(math.sqrt(heaviest))) > limit:
            return False
    if dtype == np.float64:
        return True
    squares = scanned.row_squares
    lightest = float(np.min(squares, initial=np.inf, where=squares > 0))
    return lightest >= SHORTEST_IN_FLOAT32**2


def _weigh(scanned: Scan) -> Any:
    """(n,) squared lengths of the weighted rows; a row without weight is not looked at."""
    if scanned.row_weights is None:
        return scanned.row_squares
    with np.errstate(over="ignore", under="ignore"):
        counted = np.where(scanned.row_weights > 0, scanned.row_squares, 0.0)
        return counted * scanned.row_weights


def _look(
    source: Source,
    executor: Executor,
    prepare: Callable[[Any], Any] | None,
    scanned: Scan,
) -> tuple[float, Scan]:
    """One read in the units and with the weights of a scan: the largest entry, and the scan."""
    row_squares = source.kernel.room(source.shape[:1])
    offenses: list[tuple[int, int, float]] = []
    underflown: list[Array] = []
    largest = 0.0

    def absorb(rows: slice, block: tuple[BlockLook, Array]) -> None:
        nonlocal largest
        looked, light = block
        row_squares[rows] = looked.row_squares
        underflown.append(rows.start + light)
        largest = max(largest, looked.largest)
        if looked.offense is not None:
            row, column, value = looked.offense
            offenses.append((rows.start + row, column, value))

    factors = scanned.column_factors
    shared = {"column_weights": None if factors is None else np.square(factors)}
    executor.fold(source, Work(look_block, shared, {}, scanned.exponent, prepare), absorb)
    light = np.concatenate(underflown)
    if len(light):
        row_squares[light] = 0.0
    return largest, replace(
        scanned,
        offense=offenses[0] if offenses else None,
        row_squares=row_squares,
        underflown=light,
    )


def look_block(
    kernel: Kernel[Any], rows: Any, column_weights: Array | None
) -> tuple[BlockLook, Array]:
    """Look at every entry of a block that has not been checked yet.

    Also which rows have a squared length that has underflowed.
    """
    counted = np.ones(rows.shape[1]) if column_weights is None else column_weights > 0
    with np.errstate(all="ignore"):
        looked = kernel.look(rows, column_weights)
        light = looked.row_squares < TINY
        if not light.any():
            return looked, np.zeros(0, dtype=np.int64)
        sums = kernel.multiply_directions(rows, counted[None, :])[:, 0]
        return looked, np.flatnonzero(light & (sums > 0))
