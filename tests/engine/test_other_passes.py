"""Differences, draws and entries of single blocks, against the plainest formula."""

import numpy as np
import pytest
from scipy.sparse import csr_array

from orthonmf.engine import other_passes, sources
from orthonmf.engine.kernels.dense import DENSE
from orthonmf.engine.kernels.interface import piece_rows
from orthonmf.engine.kernels.sparse import SPARSE
from orthonmf.engine.other_passes import (
    FirstRow,
    Stacked,
    draw_block,
    list_entries,
    residual_block,
    short_sums,
    square_residuals,
)
from orthonmf.engine.units import Units
from orthonmf.inputs.data import as_matrix
from orthonmf.kmeans.seeding import lines
from tests.engine.weighted import STORES, some_numbers

RNG = np.random.default_rng(3)
X = some_numbers()
N, M = X.shape
KERNELS = {"dense": (DENSE, np.asarray), "sparse": (SPARSE, csr_array)}


@pytest.fixture(params=KERNELS)
def kernel(request):
    return KERNELS[request.param]


@pytest.mark.parametrize("loadings", [np.asarray, csr_array])
@pytest.mark.parametrize("weights", [None, np.linspace(0, 2, N)])
@pytest.mark.parametrize("factors", [None, np.linspace(0, 3, M)])
def test_a_residual_is_the_weighted_difference_in_units(kernel, loadings, weights, factors):
    """Rows, columns and components each have powers of two of their own, which cancel."""
    kernel, store = kernel
    rows, columns = RNG.integers(-40, 40, size=N), RNG.integers(-40, 40, size=M)
    powers = np.array([5, -7])
    L, C = RNG.random((N, 2)), RNG.random((2, M))
    found = residual_block(
        kernel,
        store(np.ldexp(X, 9 + rows[:, None] + columns)),
        square_residuals,
        np.ldexp(C, -powers[:, None]),
        powers,
        factors,
        Units(9, rows.astype(np.int32), columns.astype(np.int32)),
        loadings(np.ldexp(L, 9 + rows[:, None])),
        weights,
    )
    squares = np.square((X - L @ C) * (1.0 if factors is None else factors)).sum(axis=1)
    assert found == pytest.approx(squares.sum() if weights is None else weights @ squares)


def draw(kernel, rate, key=(1,), first=0, weights=None):
    factors = np.linspace(0, 2, M)
    directions = np.eye(M)[[1, 4]]
    given = (Units(), directions * factors, factors, rate, lines, key, first, weights)
    return draw_block(kernel[0], kernel[1](X), *given)


def test_draws_follow_from_the_key_and_the_first_row_alone(kernel):
    rows, told = draw(kernel, 0.3)
    np.testing.assert_array_equal(draw(kernel, 0.3)[0], rows)
    for key, first in (((2,), 0), ((1,), 5), ((1, 2), 0)):
        other, same = draw(kernel, 0.3, key, first)
        assert other.tolist() != rows.tolist()
        assert same == told


def test_rows_without_weight_or_length_are_never_drawn(kernel):
    factors = np.linspace(0, 2, M)
    weights = np.where(np.arange(N) % 2 == 0, 0.5, 0.0)
    rows, told = draw(kernel, 1e12, weights=weights)
    Y = X * factors
    missed = np.square(Y).sum(axis=1) - np.square(Y[:, [1, 4]].max(axis=1))
    assert told == pytest.approx(weights @ missed)
    np.testing.assert_allclose(rows, Y[(missed > 1e-9) & (weights > 0)])


def test_a_part_of_arrays_is_the_same_rows_of_each_and_a_number_is_one_of_them():
    held = Stacked([np.arange(5), np.arange(10).reshape(5, 2)])
    assert [one.tolist() for one in held[1:3]] == [[1, 2], [[2, 3], [4, 5]]]
    assert held[1].shape == (5, 2)
    assert FirstRow()[7:9] == 7


@pytest.mark.parametrize("store", STORES.values())
@pytest.mark.parametrize("scale", [1.0, 2.0**900])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_entries_are_those_of_x_as_they_are_from_all_blocks(store, scale, dtype, monkeypatch):
    monkeypatch.setattr(sources, "FEWEST_ENTRIES", 30)
    monkeypatch.setattr(sources, "SPARSE_ENTRIES", 20)
    given = (X * (scale if dtype == np.float64 else 1.0)).astype(dtype)
    matrix = as_matrix(store(given), sample_weight=np.linspace(0, 1, N))
    assert len(matrix.source.boundaries) > 2
    parts = list(list_entries(matrix))
    rows, columns, values = (np.concatenate(one) for one in zip(*parts, strict=True))
    order = np.lexsort((columns, rows))
    expected = np.nonzero(given)
    np.testing.assert_array_equal((rows[order], columns[order]), expected)
    np.testing.assert_array_equal(values[order], given[expected])


def test_entries_on_disk_are_not_listed(tmp_path):
    np.save(tmp_path / "x.npy", X)
    assert list_entries(as_matrix(np.load(tmp_path / "x.npy", mmap_mode="r"))) is None


def test_a_rough_gram_matrix_is_for_much_work_on_dense_rows(monkeypatch):
    assert short_sums(as_matrix(X)) is None
    monkeypatch.setattr(other_passes, "WORTH_A_ROUGH_GRAM", N * M * M)
    assert short_sums(as_matrix(X)) == N
    assert short_sums(as_matrix(csr_array(X))) is None
    tall = as_matrix(np.ones((piece_rows(2) + 1, 2)))
    assert short_sums(tall) == piece_rows(2)
