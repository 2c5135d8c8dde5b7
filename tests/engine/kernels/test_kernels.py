"""Every kernel against the plainest formula in float64, for every way that a size may choose."""

from importlib.util import find_spec

import numpy as np
import pytest
from scipy.sparse import csr_array

from orthonmf.engine.kernels import dense, sparse
from orthonmf.engine.kernels.dense import DENSE
from orthonmf.engine.kernels.sparse import SPARSE, gram_of_rows
from orthonmf.engine.loadings import Projection
from orthonmf.engine.missing import ObservedBlock, fill
from orthonmf.errors import InvalidInputError
from tests.arrays import to_array

RNG = np.random.default_rng(0)
N, M = 90, 13
X = RNG.exponential(size=(N, M)) * (RNG.random((N, M)) < 0.7)
X[4] = 0.0
WEIGHTS, FACTORS = RNG.exponential(size=N), RNG.exponential(size=M)
LENGTHS = np.linalg.norm(X, axis=1)
KERNELS = {"dense": (DENSE, np.ascontiguousarray), "sparse": (SPARSE, csr_array)}
if find_spec("torch") is not None:
    import torch

    from orthonmf.engine.gpu import kernel as gpu

    KERNELS["tensors"] = gpu.TensorKernel(torch.device("cpu")), torch.tensor


@pytest.fixture(params=KERNELS, name="made")
def _made(request, monkeypatch):
    """A kernel, and how its rows are made; steps are small, so that there are several."""
    monkeypatch.setattr(dense, "CHUNK_ENTRIES", 5 * M)
    monkeypatch.setattr(dense, "FEWEST_ROWS", 7)
    monkeypatch.setattr(dense, "SCORES_IN_CACHE", 1)
    monkeypatch.setattr(dense, "SMALL_MEMBERS", 0)
    monkeypatch.setattr(dense, "THIN", 0.4)
    monkeypatch.setattr(sparse, "MANY_DIRECTIONS", 3)
    monkeypatch.setattr(sparse, "CHUNK_ENTRIES", 5 * M)
    monkeypatch.setattr(sparse, "GRAM_CHUNK", 4 * M)
    if request.param == "tensors":
        monkeypatch.setattr(gpu, "CHUNK_ENTRIES", 7 * M)
    kernel, make = KERNELS[request.param]
    return kernel, lambda rows: kernel.scale(make(rows), 0)  # as a pass hands them over


@pytest.fixture(params=[np.float64, np.float32])
def dtype(request):
    return request.param


def close(computed, expected, dtype=np.float64):
    scale = np.abs(expected).max(initial=1e-300)
    rtol = 1e-11 if dtype == np.float64 else 2e-5
    np.testing.assert_allclose(np.asarray(computed), expected, rtol=rtol, atol=rtol * scale)


def sums_of(labels, coefficients, rows, k):
    sums = np.zeros((k, M))
    np.add.at(sums, labels, coefficients[:, None] * rows)
    return sums


@pytest.mark.parametrize("k", [1, 4, 40, 130])
@pytest.mark.parametrize("offset", [False, True])
def test_a_sweep_gives_rows_to_the_best_direction_and_sums_them(made, dtype, k, offset):
    kernel, make = made
    rows, directions = X.astype(dtype), RNG.random((k, M)).astype(dtype)
    offsets = RNG.random(k) if offset else None
    place = kernel.place
    lengths = place(LENGTHS) if offset else None
    products = rows.astype(np.float64) @ directions.T.astype(np.float64)
    scores = products - np.outer(LENGTHS, offsets) if offset else products
    swept = kernel.sweep(make(rows), directions, offsets, lengths, place(WEIGHTS))
    labels = np.asarray(swept.labels)
    assert labels.dtype == np.int32
    best = scores[np.arange(N), labels]
    close(best, scores.max(axis=1), dtype)
    own = products[np.arange(N), labels]
    close(swept.products, own, dtype)
    coefficients = (LENGTHS if offset else own) * WEIGHTS
    close(swept.sums, sums_of(labels, coefficients, rows, k), dtype)
    alone = kernel.sweep(make(rows), directions, offsets, lengths, place(WEIGHTS), by_row=False)
    assert alone.labels is None
    np.testing.assert_array_equal(np.asarray(alone.sums), np.asarray(swept.sums))


@pytest.mark.parametrize("k", [1, 4, 40])
def test_an_update_keeps_labels_and_leaves_out_rows_that_have_none(made, dtype, k):
    kernel, make = made
    rows, directions = X.astype(dtype), RNG.random((k, M)).astype(dtype)
    labels = RNG.integers(-1, k, N).astype(np.int32)
    places, weights = kernel.place(labels), kernel.place(WEIGHTS)
    computed, sums = kernel.update(make(rows), directions, places, weights)
    products = np.einsum("ij,ij->i", rows, directions[np.maximum(labels, 0)])
    own = np.where(labels >= 0, products, 0.0)
    close(computed, own, dtype)
    close(sums, sums_of(np.maximum(labels, 0), own * WEIGHTS, rows, k), dtype)


def test_of_equal_scores_the_lowest_direction_wins(made):
    kernel, make = made
    whole = RNG.integers(1, 9, size=(N, M)).astype(float)  # products and ties are exact
    for k in (4, 130):
        directions = RNG.integers(0, 3, size=(k, M)).astype(float)
        directions[1], directions[k - 1] = 3.0, 3.0
        labels, _ = kernel.find_winners(make(whole), directions)
        np.testing.assert_array_equal(np.asarray(labels), (whole @ directions.T).argmax(axis=1))


@pytest.mark.parametrize("k", [3, 13])
def test_directions_that_share_no_column_give_the_same(made, dtype, k):
    kernel, make = made
    directions = np.where(np.arange(M) % k == np.arange(k)[:, None], RNG.random((k, M)) + 0.1, 0.0)
    directions[1] = 0.0  # one without columns
    directions[0] *= -1
    rows = X.astype(dtype)
    products = rows.astype(np.float64) @ directions.T
    close(kernel.multiply_directions(make(rows), directions), products)
    labels, best = kernel.find_winners(make(rows), directions)
    close(best, products.max(axis=1), dtype)
    close(products[np.arange(N), np.asarray(labels)], products.max(axis=1), dtype)


def test_what_is_proven_is_computed_in_float64(made, dtype):
    kernel, make = made
    rows = (1e-3 * X).astype(dtype)
    wide, given = rows.astype(np.float64), make(rows)
    directions = RNG.random((3, M))
    close(kernel.multiply_directions(given, directions), wide @ directions.T)
    assert kernel.multiply_directions(given, directions, exact=False).dtype == dtype
    looked = kernel.look(given, FACTORS)
    assert (looked.offense, looked.largest) == (None, float(rows.max()))
    close(looked.row_squares, wide**2 @ FACTORS)
    close(kernel.square_columns(given, kernel.place(WEIGHTS)), WEIGHTS @ wide**2)
    scaled = WEIGHTS[:, None] * wide * FACTORS
    close(kernel.gram(given, kernel.place(WEIGHTS), FACTORS), scaled.T @ scaled)
    combined = wide @ directions.T
    columns = kernel.combine_columns(given, directions, kernel.place(WEIGHTS), exact=True)
    close(columns[0], (WEIGHTS[:, None] * combined).T @ wide)
    close(columns[1], WEIGHTS @ combined**2)
    rough, _ = kernel.combine_columns(given, directions, None, exact=False)
    close(rough, combined.T @ wide, dtype)


def test_residuals_compare_every_entry_however_loadings_are_held(made, dtype):
    kernel, make = made
    rows, components = X.astype(dtype), RNG.random((4, M))
    labels = RNG.integers(-1, 4, N).astype(np.int32)
    scales = np.where(labels >= 0, RNG.random(N), 0.0)
    loadings = Projection(None, labels, scales, 4).loadings.toarray()
    placed = Projection(None, kernel.place(labels), kernel.place(scales), 4)
    for fitted in (placed, Projection(loadings)):
        for factors in (None, FACTORS):
            difference = rows.astype(np.float64) - loadings @ components
            expected = np.square(difference * (1.0 if factors is None else factors)).sum(axis=1)
            close(kernel.square_residuals(make(rows), fitted, components, factors), expected)


def test_rows_are_scaled_taken_and_multiplied_exactly(made, dtype):
    kernel, make = made
    rows = X.astype(dtype)
    given = make(rows)
    assert kernel.scale(given, 0) is given
    wide = DENSE.scale(rows.astype(np.float64), 1) * 2
    for exponent in (-900, -3, 700):
        scaled = to_array(kernel.take(kernel.scale(given, exponent), slice(None)))
        np.testing.assert_array_equal(scaled, np.ldexp(wide, -exponent))
    some = to_array(kernel.take(given, np.array([8, 0, 8])))
    np.testing.assert_array_equal(some, rows[[8, 0, 8]])
    multiplied = to_array(kernel.multiply(given, kernel.place(WEIGHTS), FACTORS))
    close(multiplied, WEIGHTS[:, None] * rows * FACTORS)


@pytest.mark.parametrize("value", [np.nan, -1.0, np.inf])
def test_the_first_bad_entry_is_named(made, dtype, value):
    kernel, make = made
    bad = X.astype(dtype)
    bad[7, 3] = bad[9, 1] = value
    row, column, told = kernel.look(make(bad)).offense
    assert (row, column) == (7, 3)
    np.testing.assert_equal(told, value)


def test_a_gram_matrix_of_rows_is_that_of_their_products():
    for store in (np.asarray, csr_array):
        close(gram_of_rows(store(X)), X @ X.T)


@pytest.mark.parametrize("store", [np.asarray, csr_array])
def test_missing_entries_take_no_part_in_any_sum(store):
    gaps = RNG.random((N, M)) < 0.3
    gaps[8], gaps[:, 6], gaps[0] = True, True, False
    rows = store(np.where(gaps, np.nan, X + 0.1))
    filled = np.where(gaps, 0.0, X + 0.1)
    np.testing.assert_array_equal(to_array(fill(rows)), filled)
    block, seen = ObservedBlock(rows), (~gaps).astype(float)
    vectors, loadings = RNG.random((3, M)), RNG.random((N, 3))
    vectors[:, 2] = 1e20  # what is left when it is missing must keep its digits
    np.testing.assert_allclose(block.sum_observed(vectors), seen @ vectors.T, rtol=1e-11)
    np.testing.assert_allclose(block.sum_observed_rows(loadings), loadings.T @ seen, rtol=1e-11)


@pytest.mark.skipif("tensors" not in KERNELS, reason="torch is not installed")
def test_what_the_user_set_for_products_stays_and_nothing_is_proven_by_emulation(monkeypatch):
    settings = torch.backends.cuda.matmul
    before, settings.fp32_precision = settings.fp32_precision, "tf32"
    try:
        with gpu.float32_as_it_is():
            assert settings.fp32_precision == "ieee"
        assert settings.fp32_precision == "tf32"
    finally:
        settings.fp32_precision = before
    monkeypatch.setenv(gpu.EMULATION, "1")
    with pytest.raises(InvalidInputError, match="emulated"):
        KERNELS["tensors"][0].gram(torch.tensor(X), np.ones(N), np.ones(M))
