"""A matrix seen through groups of its columns or rows has the coordinates of their products."""

import numpy as np
import pytest

from orthonmf.engine.compressed import (
    as_points,
    columns_by_groups,
    compress_columns,
    compress_rows,
    compress_swept,
)
from orthonmf.engine.samples import Samples
from tests.engine.weighted import CASES, STORES, make, some_numbers, unit_rows

RNG = np.random.default_rng(9)
N, M = some_numbers().shape
LABELS = RNG.integers(-1, 3, size=N).astype(np.int32)


@pytest.fixture(params=CASES)
def case(request):
    return CASES[request.param]


@pytest.fixture(params=STORES)
def example(case, request):
    return make(case, STORES[request.param])


def test_rows_through_groups_of_columns_keep_their_weights(example):
    groups = np.where(np.arange(M) % 3 == np.arange(3)[:, None], RNG.random(M), 0.0)
    points = compress_columns(example.matrix, groups)
    expected = example.Y_in_units @ groups.T
    np.testing.assert_allclose(points.whole(), expected, rtol=1e-12, atol=1e-300)
    np.testing.assert_allclose(points.weights, np.square(expected).sum(axis=1), rtol=1e-12)
    if example.matrix.row_weights is not None:
        np.testing.assert_array_equal(points.multipliers(), example.matrix.row_weights)


def test_columns_through_groups_of_rows_have_products_with_unit_groups(example):
    """A group of rows is a vector over them: the root of the weight times the scale."""
    scales = RNG.random(N)
    weights = np.square(example.row_roots)
    energies = np.bincount(LABELS + 1, weights * scales**2, minlength=4)[1:]
    points = compress_rows(example.matrix, LABELS, scales, energies)
    own = np.where(np.arange(3)[:, None] == LABELS, scales * example.row_roots, 0.0)
    expected = (unit_rows(own) @ example.Y_in_units).T
    np.testing.assert_allclose(points.whole(), expected, rtol=1e-12, atol=1e-300)
    np.testing.assert_array_equal(points.multipliers(), np.ones(M))


def test_a_sweep_tells_the_same_without_a_read(example, case):
    swept = Samples(example.matrix).sweep_directions(RNG.random((3, M)))
    points = compress_swept(example.matrix, swept)
    weights = np.square(example.row_roots)
    energies = np.bincount(swept.labels, weights * swept.products.astype(float) ** 2, minlength=3)
    read = compress_rows(example.matrix, swept.labels, swept.products, energies)
    rtol = 1e-5 if case.dtype == np.float32 else 1e-11
    np.testing.assert_allclose(points.whole(), read.whole(), rtol=rtol, atol=1e-14)


def test_a_group_without_energy_gives_every_column_the_coordinate_zero():
    matrix = make(CASES["plain"]).matrix
    sums = np.array([np.ones(M), np.zeros(M), np.ones(M)])
    found = columns_by_groups(matrix, sums, np.array([4.0, 0.0, -1e-30])).whole()
    np.testing.assert_array_equal(found, np.repeat([[0.5, 0.0, 0.0]], M, axis=0))
    everyone = np.full(N, -1, np.int32)
    assert not compress_rows(matrix, everyone, np.ones(N), np.zeros(2)).whole().any()


def test_points_have_the_squared_lengths_and_weights_of_their_rows():
    matrix = make(CASES["plain"]).matrix
    rows, weights = np.array([[3.0, 4.0], [0.0, 0.0], [1.0, 0.0]]), np.array([2.0, 1.0, 0.0])
    points = as_points(matrix, rows, weights)
    np.testing.assert_array_equal(points.weights, [50.0, 0.0, 0.0])
    assert points.matrix.executor is matrix.executor

    np.testing.assert_allclose(points.whole(), np.sqrt(weights)[:, None] * rows)
