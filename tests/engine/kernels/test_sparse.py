"""Sparse blocks: the same as dense ones, with zeros that are stored and rows without entries."""

import numpy as np
import pytest
from scipy.sparse import csr_array

from orthonmf.engine.kernels import sparse
from orthonmf.engine.kernels.dense import DENSE
from orthonmf.engine.kernels.sparse import SPARSE
from orthonmf.engine.units import NO_ENTRIES, SWITCHED_OFF, Units

RNG = np.random.default_rng(1)
X = RNG.exponential(size=(70, 30)) * (RNG.random((70, 30)) < 0.2)
X[:2] = 0.0
WEIGHTS = RNG.exponential(size=70)


def stored(array, dtype=np.float64, index=np.int32, zeros=True):
    """An array as CSR; with ``zeros`` some that are nothing are stored all the same."""
    filled = array.astype(dtype)
    marked = np.where((filled == 0) & zeros & (np.arange(30) % 7 == 0), -1, filled)
    rows = csr_array(marked)
    rows.data[rows.data == -1] = 0
    return csr_array((rows.data, rows.indices.astype(index), rows.indptr.astype(index)), X.shape)


@pytest.fixture(params=[np.int32, np.int64])
def rows(request):
    found = stored(X, index=request.param)
    assert found.nnz > np.count_nonzero(X), "zeros are stored"
    return found


@pytest.mark.parametrize("k", [3, 20])
@pytest.mark.parametrize("disjoint", [False, True])
def test_products_and_winners_are_those_of_the_dense_rows(rows, k, disjoint):
    directions = RNG.random((k, 30))
    if disjoint:
        directions *= np.arange(30) % k == np.arange(k)[:, None]
    products = X @ directions.T
    found = SPARSE.multiply_directions(rows, directions, disjoint=disjoint)
    np.testing.assert_allclose(found, products, rtol=1e-12)
    labels, best = SPARSE.find_winners(rows, directions, disjoint=disjoint)
    np.testing.assert_allclose(best, products.max(axis=1), rtol=1e-12)
    np.testing.assert_array_equal(labels, products.argmax(axis=1))


def test_updates_and_sums_spread_rows_over_their_labels(rows):
    directions, labels = RNG.random((4, 30)), RNG.integers(-1, 4, 70).astype(np.int32)
    mine = SPARSE.update(rows, directions, labels, WEIGHTS)
    theirs = DENSE.update(X, directions, labels, WEIGHTS)
    np.testing.assert_allclose(mine.products, theirs.products, rtol=1e-12)
    np.testing.assert_allclose(mine.sums, theirs.sums, rtol=1e-12)
    labels = np.maximum(labels, 0)
    found = SPARSE.sum_rows(rows, labels, WEIGHTS, 4)
    expected = np.zeros((4, 30))
    np.add.at(expected, labels, WEIGHTS[:, None] * X)
    np.testing.assert_allclose(found, expected, rtol=1e-12)


def test_places_beyond_32_bits_are_told_by_wider_indices():
    columns, ends = np.array([5, 2**20], np.int32), np.array([0, 1, 2], np.int32)
    rows = csr_array((np.ones(2), columns, ends), shape=(2, 2**20 + 1))
    assert rows.indices.dtype == np.int32
    spread = sparse._shift(rows, np.array([0, 4000]), 4001)
    assert spread.shape == (2, 4001 * (2**20 + 1))
    assert spread.indices.tolist() == [5, 4000 * (2**20 + 1) + 2**20]
    assert spread.indices.dtype == np.int64


@pytest.mark.parametrize("overhead", [1, 10**9])
@pytest.mark.parametrize("chunk", [40, 2**21])
def test_grams_of_sparse_and_of_full_rows_add_up(rows, overhead, chunk, monkeypatch):
    """Few rows or all of them are taken as full, and columns come in parts."""
    monkeypatch.setattr(sparse, "SPARSE_OVERHEAD", overhead)
    monkeypatch.setattr(sparse, "GRAM_CHUNK", chunk)
    gram = np.ones((30, 30))
    SPARSE.add_gram(rows, gram)
    np.testing.assert_allclose(gram, 1.0 + X.T @ X, rtol=1e-12)
    np.testing.assert_allclose(SPARSE.gram_rows(rows), X @ X.T, rtol=1e-12, atol=1e-14)


def test_grams_of_whole_numbers_are_exact_though_summed_in_float32():
    counts = RNG.poisson(0.5, (70, 30)).astype(np.float64)
    gram = np.zeros((30, 30))
    SPARSE.add_gram(csr_array(counts), gram)
    np.testing.assert_array_equal(gram, counts.T @ counts)


@pytest.mark.parametrize("value", [np.nan, -2.0, np.inf])
@pytest.mark.parametrize("number", [0, 11])
def test_the_first_bad_entry_is_named_behind_rows_without_entries(value, number):
    bad = X.copy()
    row, column = np.argwhere(X > 0)[number]
    bad[row, column] = value
    bad[60, 29] = np.nan
    found = SPARSE.look(stored(bad, zeros=False), None).offense
    assert found[:2] == (row, column)
    np.testing.assert_equal(found[2], value)


def test_nothing_stored_is_nothing_wrong():
    empty = csr_array((5, 30))
    looked = SPARSE.look(empty, None)
    assert looked.offense is None
    assert looked.largest == 0.0
    assert not looked.row_squares.any()
    labels, best = SPARSE.find_winners(empty, np.ones((3, 30)))
    assert not labels.any()
    assert not best.any()
    np.testing.assert_array_equal(SPARSE.find_row_powers(empty, None), np.full(5, NO_ENTRIES))


def test_stored_zeros_are_entries_for_counting_alone(rows):
    np.testing.assert_array_equal(SPARSE.find_filled(rows), X.any(axis=1))
    places, columns, values = SPARSE.list_entries(rows)
    assert (values > 0).all()
    np.testing.assert_array_equal(csr_array((values, (places, columns)), X.shape).toarray(), X)
    counts = SPARSE.count_entries(rows)
    assert counts.sum() == rows.nnz
    np.testing.assert_array_equal(counts[np.arange(30) % 7 == 0], 70)


def test_units_shift_every_entry_by_its_row_and_its_column(rows):
    of_rows, of_columns = np.arange(70, dtype=np.int32), np.arange(30, dtype=np.int32)
    units = Units(-4, of_rows, of_columns)
    found = SPARSE.scale(rows, units).toarray()
    np.testing.assert_array_equal(found, np.ldexp(X, 4 - np.add.outer(of_rows, of_columns)))
    assert SPARSE.scale(rows, Units()) is rows
    off = np.where(np.arange(30) < 29, SWITCHED_OFF, 0).astype(np.int32)
    powers = SPARSE.find_row_powers(rows, off)
    expected = np.where(X[:, 29] > 0, np.frexp(X[:, 29])[1], NO_ENTRIES)
    np.testing.assert_array_equal(powers, expected)


def test_float32_stays_float32_where_it_is_allowed():
    rows, directions = stored(X, np.float32), RNG.random((3, 30))
    assert SPARSE.multiply_directions(rows, directions).dtype == np.float64
    assert SPARSE.multiply_directions(rows, directions, exact=False).dtype == np.float32
    assert SPARSE.normalize(rows, WEIGHTS, None).dtype == np.float32
    assert SPARSE.update(rows, directions, np.zeros(70, np.int32)).sums.dtype == np.float64
    exact = SPARSE.combine_columns(rows, directions, WEIGHTS, exact=True)
    wide = X.astype(np.float32).astype(np.float64)
    combined = wide @ directions.T
    np.testing.assert_allclose(exact.products, (combined * WEIGHTS[:, None]).T @ wide, rtol=1e-12)


def test_residuals_by_parts_are_those_of_the_whole(rows, monkeypatch):
    monkeypatch.setattr(sparse, "CHUNK_ENTRIES", 30 * 8)
    loadings, components, factors = RNG.random((70, 2)), RNG.random((2, 30)), RNG.random(30)
    found = SPARSE.square_residuals(rows, csr_array(loadings), components, factors)
    expected = (((X - loadings @ components) * factors) ** 2).sum(axis=1)
    np.testing.assert_allclose(found, expected, rtol=1e-12)


def test_the_place_of_an_entry_counts_among_its_bits(rows):
    moved = rows.copy()
    moved.indices = moved.indices[::-1].copy()
    same_places = rows.copy()
    assert SPARSE.add_bits(same_places) == SPARSE.add_bits(rows) != SPARSE.add_bits(moved)
