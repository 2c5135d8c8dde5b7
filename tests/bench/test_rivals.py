"""Every contestant is judged by the same error, computed the long way here."""

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.cluster import KMeans

from orthonmf.bench.rivals import (
    CONTESTANTS,
    block_error,
    core_error,
    direction_error,
    error_of,
    three_lines,
)
from orthonmf.datasets import make_planted
from orthonmf.fitting import factorize
from tests.oracles.three_factors import captured_by_groups


def residual_share(X, approximation):
    return np.sum((X - approximation) ** 2) / np.sum(X**2)


@pytest.fixture(scope="module")
def X():
    return make_planted(40, 6, 3, 0.3, random_state=1).X


def test_three_lines_are_what_their_name_says(X):
    norms = np.linalg.norm(X, axis=1)
    found = KMeans(3, n_init=1, random_state=5).fit(X / norms[:, None], sample_weight=norms**2)
    approximation = np.zeros_like(X)
    for label in range(3):
        own = found.labels_ == label
        total = (norms[own, None] * X[own]).sum(axis=0)
        direction = total / np.linalg.norm(total)
        approximation[own] = np.outer(X[own] @ direction, direction)
    answer = three_lines(X, 3, 5)
    assert np.array_equal(answer.labels, found.labels_)
    assert error_of(X, answer) == pytest.approx(residual_share(X, approximation), rel=1e-6)


def test_sparse_rows_are_clustered_like_dense_ones(X):
    holes = X * (X > 0.3)
    dense, sparse = three_lines(holes, 3, 0), three_lines(csr_array(holes), 3, 0)
    assert error_of(csr_array(holes), sparse) == pytest.approx(error_of(holes, dense), rel=1e-9)


def test_the_error_of_directions_is_the_residual_of_projections(X):
    rng = np.random.default_rng(0)
    labels, directions = rng.integers(-1, 3, size=40), rng.random((3, 6))
    units = directions / np.linalg.norm(directions, axis=1)[:, None]
    approximation = np.zeros_like(X)
    for row, label in enumerate(labels):
        if label >= 0:
            approximation[row] = (X[row] @ units[label]) * units[label]
    expected = residual_share(X, approximation)
    assert direction_error(X, labels, directions) == pytest.approx(expected, rel=1e-12)
    assert direction_error(csr_array(X), labels, directions) == pytest.approx(expected, rel=1e-12)


def test_the_error_of_blocks_is_the_residual_of_rank_one_matrices(X):
    rows, columns = np.arange(40) % 3, np.array([0, 1, 2, 2, -1, 0])
    approximation = np.zeros_like(X)
    for label in range(3):
        block = np.ix_(rows == label, columns == label)
        left, values, right = np.linalg.svd(X[block], full_matrices=False)
        approximation[block] = values[0] * np.outer(left[:, 0], right[0])
    expected = residual_share(X, approximation)
    assert block_error(X, rows, columns) == pytest.approx(expected, rel=1e-12)


def test_the_error_of_a_core_is_that_of_the_best_scales(X):
    rows, columns = np.arange(40) % 3, np.array([0, 1, 1, 0, 2, 0])
    expected = captured_by_groups(X, np.eye(3)[rows], np.eye(3)[columns], np.ones(6))
    assert core_error(X, rows, columns) == pytest.approx(1 - expected / np.sum(X**2), rel=1e-8)
    found = factorize(X, (3, 2), orthogonal="both", random_state=0, certificate=None)
    again = core_error(csr_array(X), found.labels, found.feature_labels)
    assert again == pytest.approx(found.relative_squared_error, rel=1e-4)


def test_our_own_error_is_the_one_the_library_reports(X):
    answer = CONTESTANTS["orthonmf"](X, 3, 0)
    found = factorize(X, 3, random_state=0, certificate=None)
    assert error_of(X, answer) == pytest.approx(found.relative_squared_error, rel=1e-9)
    blocks = make_planted(60, 12, 3, 0.1, "both", random_state=0).X
    answer = CONTESTANTS["orthonmf both"](blocks, 3, 0)
    found = factorize(blocks, 3, orthogonal="both", random_state=0, certificate=None)
    assert error_of(blocks, answer) == pytest.approx(found.relative_squared_error, rel=1e-6)


@pytest.mark.parametrize("name", CONTESTANTS)
def test_every_contestant_gives_an_answer_with_an_error(name):
    X = make_planted(60, 12, 3, 0.1, "both", random_state=0).X
    error = error_of(X, CONTESTANTS[name](X, 3, 0))
    assert 0 < error < 1


def test_rows_without_entries_do_not_stop_three_lines(X):
    holes = X.copy()
    holes[7] = 0.0
    dense, sparse = three_lines(holes, 3, 0), three_lines(csr_array(holes), 3, 0)
    assert error_of(holes, dense) == pytest.approx(error_of(csr_array(holes), sparse), rel=1e-9)
