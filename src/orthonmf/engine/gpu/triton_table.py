"""Which fused kernel a sweep takes, and its tiles: a table over the shape, never a timing.

Measured on one GPU and fixed: what is chosen decides how sums round, so it may depend on nothing
but the number of rows, columns and directions.
"""

from __future__ import annotations

from dataclasses import dataclass

# Padded sizes: tiles of matrix units have powers of two, this at the least.
SMALLEST = 16
# A fused kernel holds whole rows, and the sums of all directions, in registers.
WIDEST_FUSED = 128
# So many directions of short rows are held in shared memory.
MOST_HELD = 256
# With so many directions or fewer it is the indicators of a fused kernel that are multiplied by
# coefficients, else the rows: whichever are less.
MOST_SCALED = 32
# With more directions than this rows are sorted by label before they are summed.
MOST_INDICATED = 64
# So many directions are multiplied at once.
WIDEST = 128
# Rows of one label that are summed by one program.
CHUNK = 1024
# A slab of rows has sums of its own. Many slabs keep all of a GPU at work; of large sums there are
# fewer, as each takes so many rows for every direction to read that writing it costs little.
MOST_SLABS = 4096
FEWEST_SLABS = 512
ROWS_PER_DIRECTION = 64


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
    held: bool = False  # whether all directions stay in shared memory while rows are assigned


def pad(size: int) -> int:
    """The power of two that a side of a tile has for so many columns or directions."""
    return max(SMALLEST, 1 << max(0, size - 1).bit_length())


def sweep_plan(m: int, k: int) -> Plan:
    """The kernels of a sweep."""
    wide, many = pad(m), pad(k)
    if many <= MOST_INDICATED and wide <= WIDEST_FUSED:
        tiles = Tiles(64, wide, 4, 3 if many <= MOST_SCALED else 2)
        return Plan("fused", True, tiles, tiles)
    if many <= MOST_SCALED:
        return Plan("indicated", True, Tiles(64, 64, 4, 3), Tiles(128, 64, 4, 3))
    if many <= MOST_INDICATED:
        return Plan("indicated", False, Tiles(128, 64, 4, 3), Tiles(32, 128, 4, 3))
    sums = Tiles(8, min(128, wide), 4, 2)
    if wide <= WIDEST_FUSED and many <= MOST_HELD:
        tiles = Tiles(64, wide, 4, 2) if many < MOST_HELD else Tiles(64, wide, 8, 3)
        return Plan("sorted", False, tiles, sums, held=True)
    return Plan("sorted", False, Tiles(64, 32, 4, 3), sums)


def sum_plan(m: int, k: int) -> Plan:
    """The kernels that sum rows by given labels."""
    return sweep_plan(max(m, 2 * WIDEST_FUSED), k)  # which is not fused


def assign_tiles(k: int) -> Tiles:
    """The tiles of the final assignment, with all digits of float32."""
    return Tiles(64, 32, 4, 3) if pad(k) <= 64 else Tiles(128, 64, 8, 3)


def look_tiles(m: int) -> Tiles:
    """The tiles of the first look: a warp for every row where loads are short."""
    if m % 4:
        return Tiles(16, 128, 1, 2)
    return Tiles(64, 128, 4, 2) if m % 64 else Tiles(16, 64, 4, 2)


def residual_tiles(m: int) -> Tiles:
    """The tiles of the residual."""
    return Tiles(8, 128, 1, 2) if m % 4 else Tiles(8, 64, 2, 2)


def slab_rows(n: int, k: int, rows: int) -> int:
    """How many rows of n have sums of their own, a multiple of the rows of a tile."""
    enough = min(ROWS_PER_DIRECTION * pad(k), -(-n // FEWEST_SLABS))
    wanted = max(4 * rows, -(-n // MOST_SLABS), enough)
    return -(-wanted // rows) * rows
