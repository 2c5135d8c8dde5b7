"""A point moves only when both components together capture more for it."""

import numpy as np
import pytest
from hypothesis import given

from orthonmf.onmf.exact_directions import find_exact_directions
from orthonmf.onmf.search.descent import descend
from orthonmf.onmf.search.moves import look_at_moves, move_points
from tests.onmf.small_points import CASES, drawn, never_rises, some_points
from tests.oracles.single_factor import squared_error_of_partition


@given(**CASES)
def test_every_accepted_pass_of_moves_captures_more(seed, k, sparse, weighted):
    X, points = some_points(seed, sparse=sparse, weighted=weighted)
    start = descend(points, drawn(points, k, seed), max_iter=3, tol=0.0)
    moved = move_points(points, start, max_passes=10, tol=0.0)
    assert moved.captured >= start.captured * (1 - 1e-12)
    assert never_rises(moved.history)
    # What is claimed is what the directions capture, or a little less, and never too much.
    sweep = points.sweep_directions(moved.directions)
    Y = X if points.matrix.row_weights is None else X * np.sqrt(points.matrix.row_weights)[:, None]
    best = np.sum(Y**2) - squared_error_of_partition(Y, sweep.labels)
    assert moved.captured * (1 - 1e-12) <= sweep.captured.sum() <= best * (1 + 1e-12)


def gains_of_single_moves(Y, labels, k):
    """What the best move of every row alone gains, by the singular values of all groups."""
    before = squared_error_of_partition(Y, labels)
    gains = []
    for row in range(len(Y)):
        others = (np.where(np.arange(len(Y)) == row, to, labels) for to in range(k))
        gains.append(max(before - squared_error_of_partition(Y, other) for other in others))
    return np.array(gains)


@pytest.mark.parametrize("weighted", [False, True])
def test_what_moves_promise_is_no_more_than_each_gains_alone(weighted):
    promising = 0
    for seed in range(8):
        X, points = some_points(seed, (12, 5), weighted=weighted)
        directions = find_exact_directions(points, drawn(points, 3, seed))
        labels = points.sweep_directions(directions).labels
        Y = X if not weighted else X * np.sqrt(points.matrix.row_weights)[:, None]
        gains = gains_of_single_moves(Y, labels, 3)
        sweep = points.sweep_directions(directions)
        promised, _ = look_at_moves(points, directions, sweep)
        assert 0.0 <= promised <= gains.sum() + 1e-9 * np.sum(Y**2)
        promising += promised > 0
    assert promising > 0
