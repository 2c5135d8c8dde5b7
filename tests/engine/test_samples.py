"""Rows as points, and columns as rows, at every scale; points by their products with each other."""

import numpy as np
import pytest
from scipy.sparse import csr_array

from orthonmf.engine.samples import (
    DENSE_PER_SECOND,
    SPARSE_PER_SECOND,
    Products,
    Samples,
    TransposedColumns,
    columns_of,
)
from orthonmf.engine.streamed_columns import StreamedColumns
from orthonmf.inputs.data import as_matrix
from orthonmf.kmeans.seeding import lines
from tests.engine.weighted import CASES, STORES, make, unit_rows

RNG = np.random.default_rng(4)


def some_rows(n=40, m=6):
    X = np.random.default_rng(0).exponential(size=(n, m))
    X[3] = 0.0
    return X


@pytest.mark.parametrize("form", ["gram", "rows"])
def test_products_are_those_of_the_gram_matrix(form):
    X = some_rows()
    G = X @ X.T
    products = Products(gram=G) if form == "gram" else Products(rows=X)
    picks = np.array([5, 3, 5, 39])
    combinations = np.random.default_rng(1).random((len(X), 7))
    np.testing.assert_allclose(products.energies, np.diag(G))
    np.testing.assert_allclose(products.times(combinations), G @ combinations)
    np.testing.assert_allclose(products.columns(picks), G[:, picks])
    lengths = np.linalg.norm(X[picks], axis=1)
    unit = X[picks] / np.where(lengths > 0, lengths, 1.0)[:, None]
    np.testing.assert_allclose(products.unit_columns(picks), X @ unit.T)


@pytest.mark.parametrize("store", [np.asarray, csr_array])
@pytest.mark.parametrize(("n", "m"), [(40, 6), (8, 6)])
@pytest.mark.parametrize("exact", [True, False])
def test_points_give_the_products_of_weighted_rows(store, n, m, exact):
    X = some_rows(n, m)
    weights = np.random.default_rng(2).integers(0, 4, size=n).astype(float)
    points = Samples(as_matrix(store(X), sample_weight=weights))
    chosen = np.flatnonzero(points.weights > 0)
    found = points.products_of(chosen, exact)
    weighted = X[chosen] * np.sqrt(weights[chosen])[:, None]
    scale = found.energies.max() / np.square(weighted).sum(axis=1).max()  # units of a power of two
    expected = scale * weighted @ weighted.T
    assert found.dtype == (np.float64 if exact else np.float32)
    np.testing.assert_allclose(
        found.times(np.eye(len(chosen), dtype=found.dtype)), expected, rtol=1e-5
    )


@pytest.mark.parametrize("by_chance", [False, True])
def test_sums_over_a_sample_are_right_on_average(by_chance):
    X = some_rows(200, 5)
    points = Samples(as_matrix(X))
    # A point without weight is never drawn.
    drawn_by = (np.random.default_rng(3).random(200) + 0.05) * (points.weights > 0)
    chances = drawn_by if by_chance else None
    direction = np.ones(5) / np.sqrt(5)
    share = np.square(X @ direction).sum() / np.square(X).sum()
    shares = []
    for seed in range(400):
        sample = points.sample(30, np.random.default_rng(seed), chances)
        captured = np.square(sample.rough_cosines_with(direction[None])[:, 0])
        shares.append(sample.weights @ captured / 30)
    assert np.mean(shares) == pytest.approx(share, rel=0.02)


@pytest.fixture(params=CASES)
def case(request):
    return CASES[request.param]


@pytest.fixture(params=STORES)
def example(case, request):
    return make(case, STORES[request.param])


def test_single_rows_are_normalized_and_empty_ones_stay_zero(example):
    points = Samples(example.matrix)
    wanted = np.array([3, 0, 8, 0])
    np.testing.assert_allclose(points.at(wanted), unit_rows(example.Y)[wanted], rtol=1e-12)
    np.testing.assert_allclose(points.whole(), example.Y_in_units, rtol=1e-14)
    directions = RNG.random((2, points.dimension))
    found = points.raw_products(directions) * np.sqrt(points.multipliers())[:, None]
    np.testing.assert_allclose(found, example.Y_in_units @ directions.T, rtol=1e-12)


def test_cosines_are_those_of_normalized_rows_with_their_weights_left_out(example, case):
    points, heavy = Samples(example.matrix), example.Y.any(axis=1)
    directions = unit_rows(RNG.random((2, points.dimension)))
    cosines, squares = points.cosines_with(3 * directions)
    expected = unit_rows(example.Y) @ directions.T
    np.testing.assert_allclose(cosines[heavy], 3 * expected[heavy], rtol=1e-12)
    np.testing.assert_allclose(squares, [9.0, 9.0])
    rough = points.rough_cosines_with(directions)
    assert rough.max() <= 1
    rtol = 1e-5 if case.dtype == np.float32 else 1e-12
    np.testing.assert_allclose(rough[heavy], expected[heavy], rtol=rtol)
    assert not rough[3].any()


def test_sums_and_gram_matrices_over_some_points(example):
    points, Y = Samples(example.matrix), example.Y_in_units
    some, labels = np.array([7, 1, 3, 12]), np.array([1, 0, 0, 1])
    np.testing.assert_allclose(points.gram_of(some), Y[some] @ Y[some].T, rtol=1e-12)
    coefficients = np.array([0.5, 2.0, 1.0, 3.0]) * example.row_roots[some]
    found = points.sums_of(some, labels, coefficients, 3)
    expected = [2.0 * Y[1] + Y[3], 0.5 * Y[7] + 3.0 * Y[12], np.zeros(points.dimension)]
    np.testing.assert_allclose(found, expected, rtol=1e-12)
    centers = RNG.random((3, points.dimension))
    np.testing.assert_array_equal(points.gram(centers), centers @ centers.T)


def test_a_cut_is_the_points_of_every_slice(example):
    parts = Samples(example.matrix).cut([slice(4), slice(4, 5), slice(5, None)])
    assert [len(part.weights) for part in parts] == [4, 1, len(example.base) - 5]
    found = np.concatenate([part.whole() for part in parts])
    np.testing.assert_allclose(found, example.Y_in_units, rtol=1e-14)


def test_draws_by_what_is_missed_are_unit_rows(example):
    points = Samples(example.matrix)
    squares = np.square(example.Y_in_units).sum(axis=1)
    nothing = np.zeros((1, points.dimension))  # a center of no length captures nothing
    drawn, told = points.draw_missed(nothing, 1e9 / squares.sum(), lines, (1,))
    assert told == pytest.approx(squares.sum(), rel=1e-12)
    heavy = squares > 1e-9 * squares.sum()
    np.testing.assert_allclose(drawn, unit_rows(example.Y)[heavy], rtol=1e-12)


def test_columns_as_rows_of_the_transpose_are_those_that_are_streamed(example, case):
    flipped, streamed = columns_of(example.matrix), StreamedColumns(example.matrix)
    assert isinstance(flipped, TransposedColumns)
    np.testing.assert_allclose(flipped.weights, streamed.weights, rtol=1e-12)
    chosen = np.flatnonzero(streamed.weights)[:3]
    rtol = 1e-5 if case.dtype == np.float32 else 1e-11
    labels = np.array([0, 1, 2, -1, 0, 1, 2], dtype=np.int32)
    for one, other in (
        (flipped.components(flipped.at(chosen)), streamed.components(streamed.at(chosen))),
        (
            flipped.components_of(labels, flipped.at(chosen)),
            streamed.components_of(labels, streamed.at(chosen)),
        ),
    ):
        # Components have any length.
        found, expected = unit_rows(one), unit_rows(other)
        np.testing.assert_allclose(found, expected, rtol=rtol, atol=1e-14)


def test_components_stand_for_the_same_directions_over_columns_of_either_kind(example):
    """Column h of X has the scale of component s as its coefficient, with its weight."""
    components = np.where(example.columns > 0, RNG.random((2, len(example.columns))), 0.0)
    streamed = StreamedColumns(example.matrix).directions_of(components)
    found = unit_rows(columns_of(example.matrix).directions_of(components))
    expected = unit_rows(streamed @ example.Y_in_units.T)
    np.testing.assert_allclose(found, expected, rtol=1e-11, atol=1e-13)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_rounding_makes_no_rough_cosine_of_more_than_1(dtype):
    points = Samples(as_matrix(np.random.default_rng(0).random((100, 3)).astype(dtype)))
    cosines = np.diag(points.rough_cosines_with(points.at(np.arange(100))))
    assert cosines.max() <= 1
    np.testing.assert_allclose(cosines, 1.0, rtol=1e-6)


def test_a_matrix_on_disk_has_its_columns_streamed(tmp_path):
    np.save(tmp_path / "x.npy", some_rows())
    matrix = as_matrix(np.load(tmp_path / "x.npy", mmap_mode="r"))
    assert isinstance(columns_of(matrix), StreamedColumns)
    assert Samples(matrix).access is None
    assert Samples(matrix).draws is not None
    assert Samples(as_matrix(some_rows())).access is not None


def test_what_a_sweep_and_products_take_follows_from_their_number():
    dense, sparse = Samples(as_matrix(some_rows())), Samples(as_matrix(csr_array(np.eye(40))))
    assert dense.sweep_seconds(6) == 2 * dense.sweep_seconds(3) == 6 * 240 / DENSE_PER_SECOND
    assert sparse.sweep_seconds(3) == 3 * 40 / SPARSE_PER_SECOND
    # Of 40 rows of 6 entries the rows are what is multiplied, of 8 the Gram matrix.
    assert dense.products_seconds(40) == (240 / DENSE_PER_SECOND, 480 / DENSE_PER_SECOND)
    assert dense.products_seconds(10**9) == dense.products_seconds(40)
    assert dense.products_seconds(8) == (64 * 3 / DENSE_PER_SECOND, 64 / DENSE_PER_SECOND)
    forming, multiplying = sparse.products_seconds(40)
    assert forming == pytest.approx(40 * min(1 / SPARSE_PER_SECOND, multiplying))
    assert multiplying == 1600 / DENSE_PER_SECOND
