"""Every pass over the rows gives what NumPy gives for Y, whatever the scales and weights."""

import numpy as np
import pytest

from orthonmf.engine.points import FALLS_TO, Samples
from orthonmf.engine.sampling import draw_sample
from orthonmf.inputs.data import as_matrix
from orthonmf.kmeans.seeding import lines
from tests.arrays import to_array
from tests.engine.weighted import CASES, make, some_numbers

RNG = np.random.default_rng(5)
N, M = some_numbers().shape
DIRECTIONS = RNG.random((3, M))


@pytest.fixture(params=CASES)
def case(request):
    return CASES[request.param]


@pytest.fixture
def example(case, store):
    made = make(case, store)
    assert len(made.matrix.source.boundaries) > 2
    return made


@pytest.fixture
def rough(case):
    """The rounding that float32 leaves, where entries are used as they are stored."""
    return {"rtol": 2e-6 if case.dtype == np.float32 else 1e-12, "atol": 1e-12}


def test_the_whole_matrix_is_y_either_way_around(example):
    Y, matrix = example.Y_in_units, example.matrix
    np.testing.assert_allclose(matrix.dense(), Y, rtol=1e-14)
    np.testing.assert_allclose(to_array(matrix.whole(transposed=True)), Y.T, rtol=1e-14)
    rows, columns = RNG.random(N), RNG.random(M)
    scaled = to_array(matrix.whole(rows * example.row_roots, columns))
    np.testing.assert_allclose(scaled, rows[:, None] * Y * columns, rtol=1e-13)


def test_products_with_directions_are_those_of_unweighted_rows(example, rough):
    expected = example.Y_in_units @ DIRECTIONS.T
    for exact, tolerance in ((True, {"rtol": 1e-12}), (False, rough)):
        products = example.matrix.products(DIRECTIONS, exact=exact)
        assert products.dtype == (np.float64 if exact else example.matrix.pass_dtype)
        np.testing.assert_allclose(products * example.row_roots[:, None], expected, **tolerance)
    apart = np.where(np.arange(M) % 3 == np.arange(3)[:, None], DIRECTIONS, 0.0)
    products = example.matrix.products(apart) * example.row_roots[:, None]
    np.testing.assert_allclose(products, example.Y_in_units @ apart.T, rtol=1e-12)


def test_rows_that_are_taken_are_those_of_y_in_the_order_asked_for(example):
    wanted = np.array([8, 0, 8, 3])
    matrix = example.matrix
    rows = matrix.weigh_columns(matrix.rows_in_units(wanted)) * example.row_roots[wanted, None]
    np.testing.assert_allclose(rows, example.Y_in_units[wanted], rtol=1e-14)
    stored = to_array(matrix.stored_rows(wanted))
    np.testing.assert_array_equal(stored, example.X[wanted])


def test_columns_meet_their_combinations_in_one_read(example, rough):
    Y = example.Y_in_units
    combined = Y @ DIRECTIONS.T
    for exact, tolerance in ((True, {"rtol": 1e-12}), (False, rough)):
        products, squares = example.matrix.column_products(DIRECTIONS, exact)
        np.testing.assert_allclose(products, combined.T @ Y, **tolerance)
        np.testing.assert_allclose(squares, np.square(combined).sum(axis=0), **tolerance)


def test_gram_matrices_are_those_of_columns_and_of_rows(example):
    Y = example.Y_in_units
    np.testing.assert_allclose(example.matrix.gram(), Y.T @ Y, rtol=1e-12, atol=1e-300)
    np.testing.assert_allclose(example.matrix.row_gram(), Y @ Y.T, rtol=1e-12, atol=1e-300)


@pytest.mark.parametrize("rows", [slice(4, 11), np.array([9, 2, 9, 3])])
def test_a_part_is_those_rows_with_their_weights_or_others(example, rows):
    part = example.matrix.part(rows)
    np.testing.assert_allclose(part.dense(), example.Y_in_units[rows], rtol=1e-14)
    squares = part.row_squares * np.square(example.row_roots[rows])
    np.testing.assert_allclose(squares, np.square(example.Y_in_units[rows]).sum(axis=1))
    np.testing.assert_allclose(part.column_squares, np.square(part.dense()).sum(axis=0))
    weights = np.arange(1.0, 1 + part.shape[0])
    other = example.matrix.part(rows, weights).dense() * example.row_roots[rows][:, None]
    expected = np.sqrt(weights)[:, None] * example.Y_in_units[rows]
    np.testing.assert_allclose(other, expected, rtol=1e-13)


def test_rows_that_are_drawn_have_length_1_and_the_weights_of_how_often(example, rough):
    unit = example.Y / np.maximum(np.linalg.norm(example.Y, axis=1, keepdims=True), 1e-300)
    lengths = np.linalg.norm(example.Y_in_units, axis=1)
    drawn = Samples(example.matrix).sample(40, np.random.default_rng(3))
    times = drawn.matrix.row_weights
    expected, _ = draw_sample(np.square(lengths), 40, np.random.default_rng(3))
    np.testing.assert_allclose(drawn.coordinates() @ np.eye(M), unit[expected], **rough)
    assert times.sum() == 40
    np.testing.assert_allclose(drawn.weights, times)


def test_the_transpose_has_columns_for_rows_in_every_pass(example):
    flipped = example.matrix.transpose()
    Y = example.Y_in_units.T
    np.testing.assert_allclose(flipped.dense(), Y, rtol=1e-14)
    np.testing.assert_allclose(flipped.total, np.square(Y).sum(), rtol=1e-13)
    np.testing.assert_allclose(flipped.column_squares, np.square(Y).sum(axis=0), rtol=1e-13)
    weights = flipped.row_weights
    roots = np.ones(M) if weights is None else np.sqrt(weights)
    np.testing.assert_allclose(
        np.sqrt(flipped.row_squares) * roots, np.linalg.norm(Y, axis=1), rtol=1e-13
    )
    np.testing.assert_allclose(flipped.gram(), Y.T @ Y, rtol=1e-12, atol=1e-300)


def test_rows_are_drawn_by_weight_times_distance_and_the_sum_of_that_is_told(example):
    matrix, Y = example.matrix, example.Y_in_units
    directions = np.eye(M)[[0, 5]]
    squares = np.square(Y).sum(axis=1)
    captured = np.square((Y @ directions.T).max(axis=1))
    missed = squares - captured
    points = Samples(matrix)
    everything, told = points.draw_missed(directions, 1e9, missed.sum(), lines, (1,))
    assert told == pytest.approx(missed.sum(), rel=1e-12)
    expected = points.at(np.flatnonzero(missed > 1e-9 * missed.sum()))
    np.testing.assert_allclose(everything, expected, rtol=1e-14)
    nothing, told = points.draw_missed(directions, 0.0, missed.sum(), lines, (1,))
    assert nothing.shape == (0, M)
    assert told == pytest.approx(missed.sum(), rel=1e-12)


def test_how_often_a_row_is_drawn_is_its_chance():
    X, weights = np.array([[3.0, 4.0], [5.0, 0.0], [0.0, 2.0]]), np.array([1.0, 1.0, 0.5])
    many = Samples(as_matrix(np.tile(X, (2000, 1)), sample_weight=np.tile(weights, 2000)))
    told = 2000 * (16 + 0 + 4 / 2)  # what is missed
    for before in (told, 1000 * told):  # more are drawn than wanted, and not
        drawn, _ = many.draw_missed(np.eye(2)[:1], 0.05 * told, before, lines, (7,))
        counts = [(drawn == x / np.linalg.norm(x)).all(axis=1).sum() for x in X]
        share = 0.05 if before == told else 0.05 * FALLS_TO / 1000
        expected = np.array([16, 0, 2]) * share
        np.testing.assert_allclose(np.divide(counts, 2000), expected, atol=0.05)
    again, _ = many.draw_missed(np.eye(2)[:1], 0.05 * told, before, lines, (7,))
    np.testing.assert_array_equal(again, drawn)
    other, _ = many.draw_missed(np.eye(2)[:1], 0.05 * told, before, lines, (8,))
    assert len(other) != len(drawn)


def test_fewer_rows_are_among_those_that_more_would_be():
    points = Samples(as_matrix(RNG.random((3000, M))))
    drawn, fewer = (
        {tuple(row) for row in points.draw_missed(DIRECTIONS, count, 1e3, lines, (7,))[0]}
        for count in (300, 30)
    )
    assert 200 < len(drawn) < 400
    assert 15 < len(fewer) < 50
    assert fewer < drawn
