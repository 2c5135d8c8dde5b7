"""Blocks follow from the shape alone, and what is in memory is seldom copied."""

import numpy as np
import pytest
from scipy.sparse import csr_array

from orthonmf.engine import sources
from orthonmf.engine.sources import ArraySource, CsrSource, dense_boundaries, sparse_boundaries
from tests.engine.weighted import some_numbers


def test_an_array_too_large_to_copy_is_flipped_for_a_single_pass_alone(monkeypatch):
    X = some_numbers()
    monkeypatch.setattr(sources, "MOST_BYTES_TO_COPY", X.nbytes - 1)
    source = ArraySource(X)
    assert source.transpose() is None
    np.testing.assert_array_equal(source.transpose(many_passes=False).block(0), X.T)
    monkeypatch.setattr(sources, "MOST_BYTES_TO_COPY", X.nbytes)
    np.testing.assert_array_equal(ArraySource(X).transpose().block(0), X.T)


def test_a_block_of_an_array_in_order_is_no_copy():
    X = some_numbers()
    assert np.shares_memory(ArraySource(X).block(0), X)
    sparse = csr_array(X)
    assert np.shares_memory(CsrSource(sparse).block(0).data, sparse.data)


def test_block_boundaries_depend_on_the_shape_alone():
    for n, m in [(1, 1), (7, 100_000), (5000, 100), (200_000, 100), (50_000, 1000), (10**6, 3)]:
        edges = dense_boundaries(n, m)
        assert edges[0] == 0
        assert edges[-1] == n
        assert np.all(np.diff(edges) > 0)
        assert np.diff(edges).max() <= sources.MOST_ROWS
        assert np.diff(edges).max() == 1 or np.diff(edges).max() * m <= sources.MOST_ENTRIES


@pytest.mark.parametrize("counts", [[0, 0, 0], [10**7, 0, 0, 0], [0, 0, 0, 10**7], [3], []])
def test_no_sparse_block_is_without_rows_wherever_the_entries_are(counts):
    edges = sparse_boundaries(np.append(0, np.cumsum(counts, dtype=np.int64)))
    assert edges[0] == 0
    assert edges[-1] == len(counts)
    assert (np.diff(edges) > 0).all()
