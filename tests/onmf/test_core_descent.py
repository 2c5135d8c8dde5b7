"""Groups of rows, groups of columns and the core between them: each half is exact."""

import numpy as np
import pytest
from scipy.sparse import csr_array

import orthonmf
from orthonmf.inputs.data import as_matrix
from orthonmf.onmf.core.descent import descend_core
from orthonmf.onmf.solution import CoreSolution
from tests.onmf.small_points import never_rises, random_factors
from tests.oracles.three_factors import best_three_factor_error


def test_a_row_and_a_column_outside_the_groups_that_belong_together_are_found():
    X = np.zeros((16, 16))
    for block in range(4):
        part = slice(4 * block, 4 * block + 4)
        X[part, part] = np.outer(np.arange(1, 5), np.arange(2, 6)) * (block + 1)
    known = np.where(X[[0, 5, 10]] > 0, 1.0, 0.0)
    found = orthonmf.factorize(
        X, (4, 4), orthogonal="both", init=known, random_state=0, certificate=None
    )
    assert found.relative_squared_error < 1e-28
    groups = known / np.linalg.norm(known, axis=1)[:, None]
    empty = np.zeros((1, 16))
    start = CoreSolution(np.concatenate([groups, empty]), np.eye(4) * [1, 1, 1, 0])
    again = descend_core(as_matrix(X), start, max_iter=20, tol=1e-6)
    assert again.history[-1] < 1e-14


@pytest.mark.parametrize("store", [np.asarray, csr_array])
@pytest.mark.parametrize("weighted", [False, True])
def test_no_round_raises_the_error_and_the_last_is_that_of_the_projection(store, weighted):
    for seed in range(3):
        rng = np.random.default_rng(seed)
        X, start = rng.exponential(size=(10, 8)) ** 2, random_factors(rng, 2, 3, 8)
        X[4], X[:, 6] = 0.0, 0.0
        weights = rng.integers(0, 3, 10).astype(float) if weighted else np.ones(10)
        matrix = as_matrix(store(X), sample_weight=weights)
        found = descend_core(matrix, start, max_iter=12, tol=0.0)
        assert never_rises(found.history)
        Y = X * np.sqrt(weights)[:, None]
        groups, core = found.directions.groups, found.directions.core
        assert np.all(np.count_nonzero(groups, axis=0) <= 1)
        units = core / np.linalg.norm(core, axis=1)[:, None]
        captured = np.square(Y @ groups.T @ units.T).max(axis=1).sum()
        assert found.captured <= captured * (1 + 1e-10)
        assert found.history[-1] == pytest.approx(1 - found.captured / np.sum(Y**2), abs=1e-12)


def test_descent_from_many_starts_reaches_the_optimum_of_a_tiny_matrix_and_never_more():
    X = np.random.default_rng(1).exponential(size=(5, 4)) ** 2
    optimum = best_three_factor_error(X, 2, 2, n_starts=1)
    rng = np.random.default_rng(0)
    errors = [
        descend_core(as_matrix(X), random_factors(rng, 2, 2, 4), max_iter=40, tol=1e-10)
        for _ in range(8)
    ]
    least = min(found.history[-1] for found in errors) * np.sum(X**2)
    assert least == pytest.approx(optimum, rel=1e-6)


def test_rows_that_no_group_sees_are_opened_by_weight_the_heaviest_first():
    X = np.diag([5.0, 1.0, 2.0, 3.0])
    start = CoreSolution(np.eye(3, 4) * [[1], [0], [0]], np.eye(3) * [1, 0, 0])
    found = descend_core(as_matrix(X), start, max_iter=20, tol=0.0)
    assert found.history[-1] == pytest.approx(1 / 39)
    # With weights the second row is the heaviest but for the first, and the last has none.
    weighted = as_matrix(X, sample_weight=[1.0, 16.0, 1.0, 0.0])
    fewer = CoreSolution(start.groups[:2], start.core[:2, :2])
    found = descend_core(weighted, fewer, max_iter=20, tol=0.0)
    assert found.history[-1] == pytest.approx(4 / 45)
