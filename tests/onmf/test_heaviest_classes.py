"""Theorem 9 does the same for every form of its input, and from the smaller side."""

import numpy as np
import pytest
from scipy.sparse import csr_array

from orthonmf.inputs.data import as_matrix
from orthonmf.onmf.heaviest_classes import factorize_heaviest, solve_heaviest
from tests.oracles.double_factor import best_double_factor_error


@pytest.mark.parametrize("seed", range(10))
def test_sparse_rows_are_factorized_as_dense_ones(seed):
    rng = np.random.default_rng(seed)
    X = rng.exponential(size=(20, 15)) * (rng.random((20, 15)) < 0.3)
    from_dense, from_sparse = factorize_heaviest(X), factorize_heaviest(csr_array(X))
    expected = from_dense.directions.toarray()
    np.testing.assert_allclose(from_sparse.directions.toarray(), expected, rtol=1e-13)
    assert np.array_equal(from_sparse.labels, from_dense.labels)
    np.testing.assert_allclose(from_sparse.scales, from_dense.scales, rtol=1e-13)
    assert from_sparse.lower_bound == pytest.approx(from_dense.lower_bound, rel=1e-12)


def test_parallel_rows_count_as_one_heavy_row():
    X = np.array([[3.0, 0.0, 1.0], [1.0, 1.0, 0.0], [6.0, 0.0, 2.0]])
    merged = factorize_heaviest(np.array([[np.sqrt(45), 0, np.sqrt(5)], [1, 1, 0]]))
    result = factorize_heaviest(X)
    np.testing.assert_allclose(result.directions.toarray(), merged.directions.toarray(), rtol=1e-14)
    assert result.lower_bound == pytest.approx(merged.lower_bound, rel=1e-12)


def captured_share(X, directions):
    """Of the energy of X, what the best scales of its rows on their best directions capture."""
    lengths = np.linalg.norm(directions, axis=1)[:, None]
    units = np.divide(directions, lengths, out=np.zeros_like(directions), where=lengths > 0)
    return np.square(X @ units.T).max(axis=1).sum() / np.sum(X**2)


@pytest.mark.parametrize("store", [np.asarray, csr_array])
def test_a_tall_matrix_is_solved_as_the_wide_one_that_it_is_transposed(store):
    for seed in range(10):
        rng = np.random.default_rng(seed)
        X = rng.exponential(size=(3, 5)) ** 2 * (rng.random((3, 5)) < 0.8)
        X[0, 0] = 1.0
        wide, tall = solve_heaviest(as_matrix(store(X))), solve_heaviest(as_matrix(store(X.T)))
        assert wide.packed == pytest.approx(tall.packed, rel=1e-12)
        assert wide.packed <= best_double_factor_error(X, 3) + 1e-12
        for Y, solution in ((X, wide), (X.T, tall)):
            assert solution.directions.shape[1] == Y.shape[1]
            assert np.all(np.count_nonzero(solution.directions, axis=0) <= 1)
        # The scales found for the rows of one are the directions of the other: a step further.
        least = captured_share(X, wide.directions)
        assert captured_share(X.T, tall.directions) >= least * (1 - 1e-12)
