"""Sources hand out the rows they were given, in blocks whose boundaries follow from the shape."""

import numpy as np
import pytest
from scipy.sparse import csr_array

from orthonmf.engine import sources
from orthonmf.engine.sources import (
    ArraySource,
    CsrSource,
    SlicedSource,
    block_rows,
    dense_boundaries,
    in_memory,
    sparse_boundaries,
)
from tests.engine.stores import Slices, mapped
from tests.engine.weighted import dense, some_numbers


@pytest.fixture(params=["array", "columns first", "big-endian", "map", "slices", "csr"])
def source(request, tmp_path, monkeypatch):
    monkeypatch.setattr(sources, "FEWEST_ENTRIES", 30)
    monkeypatch.setattr(sources, "SPARSE_ENTRIES", 20)
    X = some_numbers()
    return {
        "array": lambda: ArraySource(X),
        "columns first": lambda: ArraySource(np.asfortranarray(X)),
        "big-endian": lambda: ArraySource(X.astype(">f8")),
        "map": lambda: ArraySource(mapped(X, tmp_path)),
        "slices": lambda: SlicedSource(Slices(X)),
        "csr": lambda: CsrSource(csr_array(X)),
    }[request.param]()


def all_of(source):
    blocks = [dense(source.block(index)) for index in range(len(source.boundaries) - 1)]
    assert [len(block) for block in blocks] == np.diff(source.boundaries).tolist()
    return np.concatenate(blocks)


def test_blocks_put_together_are_the_matrix(source):
    X = some_numbers()
    assert len(source.boundaries) > 3
    np.testing.assert_array_equal(all_of(source), X)
    block = source.block(1)
    assert block.dtype == source.dtype == np.float64
    if isinstance(block, np.ndarray):
        assert block.flags.c_contiguous
        assert block.dtype.isnative
    span = block_rows(source, 2)
    np.testing.assert_array_equal(dense(source.block(2)), X[span])
    assert source.n_entries == (np.count_nonzero(X) if isinstance(source, CsrSource) else X.size)


def test_some_rows_come_in_the_order_asked_for(source):
    X, wanted = some_numbers(), np.array([20, 0, 3, 20, 7])
    found = source.rows(wanted)
    np.testing.assert_array_equal(found, X[wanted])
    assert found.dtype == np.float64
    assert source.rows(wanted[:0]).shape == (0, X.shape[1])


@pytest.mark.parametrize("rows", [slice(4, 19), slice(None), np.array([9, 2, 9])])
def test_rows_that_are_taken_make_a_source_of_their_own_in_memory(source, rows):
    part = in_memory(source.take(rows))
    np.testing.assert_array_equal(all_of(part), some_numbers()[rows])
    assert part.in_memory
    assert part.dtype == source.dtype


def test_columns_are_rows_of_the_transpose_where_that_is_in_memory(source):
    flipped = source.transpose()
    if not source.can_transpose:
        assert flipped is None
        assert not source.in_memory
        assert source.transpose(many_passes=False) is None
        return
    np.testing.assert_array_equal(all_of(flipped), some_numbers().T)


def test_an_array_too_large_to_copy_is_flipped_for_a_single_pass_alone(monkeypatch):
    X = some_numbers()
    monkeypatch.setattr(sources, "MOST_BYTES_TO_COPY", X.nbytes - 1)
    source = ArraySource(X)
    assert source.transpose() is None
    np.testing.assert_array_equal(all_of(source.transpose(many_passes=False)), X.T)
    monkeypatch.setattr(sources, "MOST_BYTES_TO_COPY", X.nbytes)
    np.testing.assert_array_equal(all_of(ArraySource(X).transpose()), X.T)


def test_a_block_of_an_array_in_order_is_no_copy():
    X = some_numbers()
    assert np.shares_memory(ArraySource(X).block(0), X)
    held = csr_array(X)
    assert np.shares_memory(CsrSource(held).block(0).data, held.data)


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
