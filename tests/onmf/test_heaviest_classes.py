"""Theorem 9 does the same for dense and sparse rows, and for rows that are parallel."""

import numpy as np
import pytest
from scipy.sparse import csr_array

from orthonmf.onmf.heaviest_classes import factorize_heaviest


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
