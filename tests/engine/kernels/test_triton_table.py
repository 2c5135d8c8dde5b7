"""The table of tiles: a function of the shape, within what a GPU has."""

from hypothesis import given
from hypothesis import strategies as st

from orthonmf.engine.gpu.triton_table import (
    WIDEST,
    assign_tiles,
    look_tiles,
    pad,
    residual_tiles,
    slab_rows,
    sum_plan,
    sweep_plan,
)

SHARED_BYTES = 227 * 1024
REGISTERS = 2**16  # of all programs of one multiprocessor

ROWS = st.integers(1, 10**8)
COLUMNS, DIRECTIONS = st.integers(1, 4096), st.integers(1, 1024)


def staged_bytes(tiles, width):
    """Shared memory of a product: rows and directions of every stage, in float32."""
    return 4 * tiles.stages * (tiles.rows + width) * tiles.columns


@given(ROWS, COLUMNS, DIRECTIONS)
def test_tiles_fit(n, m, k):
    wide, many = pad(m), pad(k)
    assert wide >= m
    assert many >= k
    for plan in (sweep_plan(m, k), sum_plan(m, k)):
        slab = slab_rows(n, k, plan.sums.rows)
        assert slab % plan.sums.rows == 0
        assert slab * m < 2**31  # offsets inside a slab are 32 bits wide
        if plan.kind == "fused":
            assert wide * many <= REGISTERS // 8  # sums
            assert 4 * plan.sums.stages * plan.sums.rows * wide + 8 * wide * many <= SHARED_BYTES
        elif plan.held:
            held = 4 * wide * many + 4 * plan.assign.stages * plan.assign.rows * wide
            assert held <= SHARED_BYTES
            assert plan.assign.rows * many <= REGISTERS // 4
        else:
            width = min(many, WIDEST)
            assert staged_bytes(plan.assign, width) <= SHARED_BYTES
            assert plan.assign.rows * width <= REGISTERS // 2
    exact = assign_tiles(k)
    assert staged_bytes(exact, min(many, WIDEST)) <= SHARED_BYTES
    assert exact.rows * min(many, WIDEST) <= REGISTERS // 2
    for tiles in (look_tiles(m), residual_tiles(m)):
        assert tiles.rows * tiles.columns // tiles.warps <= REGISTERS // 16


@given(ROWS, COLUMNS, DIRECTIONS)
def test_tiles_are_powers_of_two_that_matrix_units_take(n, m, k):
    plan = sweep_plan(m, k)
    for tiles in (plan.assign, plan.sums, assign_tiles(k), look_tiles(m), residual_tiles(m)):
        for size in (tiles.rows, tiles.columns, tiles.warps):
            assert size & (size - 1) == 0
    if plan.kind != "sorted":
        assert min(plan.sums.rows, plan.sums.columns) >= 16
    assert min(plan.assign.rows, plan.assign.columns) >= 16
