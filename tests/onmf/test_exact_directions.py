"""Exact directions are the top singular vectors of the blocks they win."""

import numpy as np
import pytest

from orthonmf.engine.points import Samples
from orthonmf.inputs.data import as_matrix
from orthonmf.onmf.exact_directions import find_exact_directions, find_top_directions
from tests.onmf.small_points import drawn, some_points
from tests.oracles.single_factor import squared_error_of_partition


@pytest.mark.parametrize("k", [3, 30])
def test_top_directions_are_the_singular_vectors_of_the_blocks(k):
    X, points = some_points(3, (120, 15), weighted=True)
    labels = np.random.default_rng(0).integers(k, size=120).astype(np.int32)
    Y = X * np.sqrt(points.matrix.row_weights)[:, None]
    found = find_top_directions(Y, labels, points.sums(labels, k))
    for block in range(k):
        expected = np.abs(np.linalg.svd(Y[labels == block], full_matrices=False)[2][0])
        np.testing.assert_allclose(found[block], expected, atol=1e-10)


def test_top_directions_keep_to_their_support():
    X, points = some_points(4, (60, 12))
    labels = (np.arange(60) % 2).astype(np.int32)
    support = np.zeros((2, 12), dtype=bool)
    support[0, :5] = support[1, 5:] = True
    found = find_top_directions(X, labels, points.sums(labels, 2), support)
    for block in range(2):
        inside = X[labels == block][:, support[block]]
        expected = np.abs(np.linalg.svd(inside, full_matrices=False)[2][0])
        np.testing.assert_allclose(found[block, support[block]], expected, atol=1e-10)
        assert not found[block, ~support[block]].any()


@pytest.mark.parametrize("n_columns", [2, 5])
def test_of_equal_singular_values_the_nearest_vector_is_taken(n_columns):
    rows, near = np.eye(2, n_columns), np.zeros((1, n_columns))
    near[0, :2] = [0.6, 0.8]
    found = find_top_directions(rows, np.zeros(2, dtype=np.int32), near)
    np.testing.assert_allclose(found, near, atol=1e-14)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_exact_directions_capture_what_their_labels_allow_and_never_less(dtype):
    rounding = 1e-5 if dtype is np.float32 else 1e-10
    for seed in range(5):
        rng = np.random.default_rng(seed)
        X, weights = rng.exponential(size=(20, 6)).astype(dtype), rng.integers(0, 3, 20)
        X[4] = 0.0
        points = Samples(as_matrix(X, sample_weight=weights))
        start = drawn(points, 3, seed)
        found = points.sweep_directions(find_exact_directions(points, start))
        Y = X * np.sqrt(weights)[:, None]
        best = np.sum(Y**2) - squared_error_of_partition(Y, found.labels)
        assert found.captured.sum() == pytest.approx(best, rel=rounding)
        assert found.captured.sum() >= points.sweep_directions(start).captured.sum()
