"""Which fused kernel a sweep takes, and its tiles: a table over the shape, never a timing.

Measured on one GPU and fixed: what is chosen decides how sums round, so it may depend on nothing
but the number of rows, columns and directions.
"""

from __future__ import annotations

from dataclasses import dataclass

# Padded sizes: tiles of matrix units have powers of two, this at the least.
SMALLEST = 16
# The sums of a fused kernel are held in registers, so many of them at most.
MOST_SUMS = 2**13
# With more directions than this rows are sorted by label before they are summed.
MOST_INDICATED = 64
# All directions of a tile are multiplied at once.
WIDEST = 256
# Rows of one label that are summed by one program.
CHUNK = 1024
# A slab of rows has sums of its own: so many rows for every direction, and so many slabs or fewer.
ROWS_PER_DIRECTION = 64
MOST_SLABS = 1024


@dataclass(frozen=True, slots=True)
class Tiles:
    """How one kernel cuts its work."""

    rows: int
    columns: int
    warps: int
    stages: int


@dataclass(frozen=True, slots=True)
class Plan:
    """How a sweep by k directions over m columns is done.

    ``halves`` says whether products are made of three with halves of 8 digits each (bfloat16); else
    operands are rounded to 11 digits (tf32), once.
    """

    kind: str  # "fused", "indicated" or "sorted"
    halves: bool
    assign: Tiles
    sums: Tiles


def padded(size: int) -> int:
    """The power of two that a side of a tile has for so many columns or directions."""
    return max(SMALLEST, 1 << max(0, size - 1).bit_length())


def sweep_plan(m: int, k: int) -> Plan:
    """The kernels of a sweep."""
    wide, many = padded(m), padded(k)
    if many <= 64 and wide <= 128:
        tiles = fused_tiles(wide, many)
        return Plan("fused", many <= 32, tiles, tiles)
    if many <= 32:
        return Plan("indicated", True, Tiles(128, 64, 8, 3), Tiles(128, 64, 4, 3))
    if many <= MOST_INDICATED:
        return Plan("indicated", False, Tiles(128, 64, 4, 3), Tiles(64, 128, 4, 3))
    rows = 128 if many < 256 else 64
    return Plan("sorted", False, Tiles(rows, 32, 8, 3), Tiles(16, min(512, wide), 4, 2))


def fused_tiles(wide: int, many: int) -> Tiles:
    """The tiles of a fused sweep, for padded sizes."""
    if many == 64:
        return Tiles(64, wide, 4, 2)
    return Tiles(128 if wide <= 64 else 64, wide, 4, 3)


def sum_plan(m: int, k: int) -> Plan:
    """The kernels that sum rows by given labels."""
    if padded(k) <= 32:
        return Plan("indicated", True, Tiles(128, 64, 8, 3), Tiles(128, 64, 4, 3))
    return sweep_plan(max(m, 129), k)


def assign_tiles(k: int) -> Tiles:
    """The tiles of the final assignment, with all digits of float32."""
    return Tiles(64, 32, 4, 3) if padded(k) <= 64 else Tiles(128 if k <= 128 else 64, 32, 8, 2)


def row_tiles(m: int) -> Tiles:
    """The tiles of passes that read every row once: a warp for every row where loads are short."""
    columns = min(padded(m), 128)
    if m % 4:
        return Tiles(4, columns, 1, 2)
    return Tiles(32, columns, 4, 3)


def slab_rows(n: int, k: int, rows: int) -> int:
    """How many rows of n have sums of their own, a multiple of the rows of a tile."""
    wanted = min(ROWS_PER_DIRECTION * padded(k), max(4 * rows, -(-n // MOST_SLABS)))
    return -(-wanted // rows) * rows
