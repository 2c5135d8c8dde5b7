import numpy as np
import pytest
from scipy.sparse import csr_array

from orthonmf.engine import pairs as pairs_module
from orthonmf.engine.pairs import close_pairs, merge_parallel, shared_ones


def positions(chunks):
    return [(i, j) for chunk in chunks for i, j in zip(chunk.first, chunk.second, strict=True)]


@pytest.mark.parametrize("block", [1, 7, 1 << 20])
@pytest.mark.parametrize("as_rows", [np.asarray, csr_array])
def test_close_pairs_are_those_of_the_full_matrix_in_lexicographic_order(
    monkeypatch, block, as_rows
):
    monkeypatch.setattr(pairs_module, "PRODUCTS_PER_BLOCK", block)
    rng = np.random.default_rng(0)
    X = rng.exponential(size=(25, 6)) * (rng.random((25, 6)) < 0.5)
    norms = np.linalg.norm(X, axis=1)
    cosines = (X @ X.T) / np.maximum(np.outer(norms, norms), 1e-300)
    expected = [tuple(pair) for pair in np.argwhere(np.triu(cosines, 1) >= 0.5)]
    chunks = list(close_pairs(as_rows(X), norms, 0.5))
    assert positions(chunks) == expected
    values = np.concatenate([chunk.values for chunk in chunks])
    np.testing.assert_allclose(values, [cosines[pair] for pair in expected], rtol=1e-14)


@pytest.mark.parametrize("overhead", [0, 10**9])
def test_sparse_and_dense_products_find_the_same_pairs(monkeypatch, overhead):
    monkeypatch.setattr(pairs_module, "SPARSE_OVERHEAD", overhead)
    X = (np.random.default_rng(1).random((30, 12)) < 0.3).astype(float)
    expected = np.triu(X @ X.T, 1)
    chunks = list(shared_ones(csr_array(X)))
    assert positions(chunks) == [tuple(pair) for pair in np.argwhere(expected)]
    values = np.concatenate([chunk.values for chunk in chunks])
    assert values.tolist() == expected[expected > 0].tolist()


@pytest.mark.parametrize("as_rows", [np.asarray, csr_array])
def test_exactly_parallel_rows_are_merged_and_no_others(as_rows):
    x = np.array([0.1, 0.7, 0.0, 3.3])
    nearly = x.copy()
    nearly[0] = np.nextafter(np.nextafter(x[0], 1), 1)
    integers = np.array([1.0, 2.0, 0.0, 7.0])
    rows = np.array([x, np.zeros(4), 4 * x, nearly, integers, 3 * integers, 49 * integers])
    assert merge_parallel(as_rows(rows)).tolist() == [0, -1, 0, 3, 4, 4, 4]
