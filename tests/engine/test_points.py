"""Passes over points against the plainest formula, over samples and features."""

import numpy as np
import pytest

from orthonmf.engine.points import Samples, StreamedColumns
from orthonmf.inputs.data import as_matrix
from orthonmf.vectors import divide, unit_lengths
from tests.engine.weighted import CASES, make, some_numbers

# In float64, where no two points lie so far apart that their rounding would be seen.
EVEN = ["plain", "weighted", "tiny", "huge, weighted"]


class Example:
    """Points over samples or features, and the same as rows in plain numbers."""

    def __init__(self, case, side, store):
        made = make(CASES[case], store, some_numbers(37, 9))
        over_samples = side == "samples"
        self.points = Samples(made.matrix) if over_samples else StreamedColumns(made.matrix)
        self.Y = made.Y_in_units if over_samples else made.Y_in_units.T
        self.heavy = np.flatnonzero(self.Y.any(axis=1))
        self._form = np.eye(self.Y.shape[1]) if over_samples else made.Y_in_units.T

    def vectors(self, form):
        """What centers or sums stand for: over features they combine the columns."""
        return form @ self._form


@pytest.fixture(params=EVEN)
def example(side, request, store):
    return Example(request.param, side, store)


@pytest.fixture(params=["samples", "features"])
def side(request):
    return request.param


def close(computed, expected):
    np.testing.assert_allclose(computed, expected, rtol=1e-11, atol=1e-12)


def test_a_sweep_of_centers_agrees_with_the_plain_formula(example):
    points, heavy = example.points, example.heavy
    unit, lengths = unit_lengths(example.Y), np.linalg.norm(example.Y, axis=1)
    sizes = np.array([[0.9], [0.3], [0.7]])
    centers = sizes * unit[heavy[[0, 4, 6]]]
    sweep = points.sweep_centers(sizes * points.at(heavy[[0, 4, 6]]))
    distances = np.sum((unit[:, None] - centers) ** 2, axis=2)
    labels = distances.argmin(axis=1)
    np.testing.assert_array_equal(sweep.labels[heavy], labels[heavy])
    np.testing.assert_allclose(sweep.squares, np.square(sizes[:, 0]), rtol=1e-12)
    told = 1 - 2 * divide(sweep.products, points.lengths) + sweep.squares[sweep.labels]
    close(told[heavy], distances.min(axis=1)[heavy])
    sums = np.zeros((3, example.Y.shape[1]))
    np.add.at(sums, labels, lengths[:, None] * example.Y)
    close(example.vectors(sweep.sums), sums)
    close(example.vectors(points.sums(labels, 3)), sums)
    close((points.coordinates() @ np.eye(unit.shape[1]))[heavy], unit[heavy])


def test_a_sweep_of_directions_is_one_power_update_per_cluster(example):
    points, heavy, Y = example.points, example.heavy, example.Y
    sweep = points.sweep_directions(5.0 * points.at(heavy[[1, 3, 6]]))
    products = Y @ unit_lengths(Y[heavy[[1, 3, 6]]]).T
    labels = products.argmax(axis=1)
    np.testing.assert_array_equal(sweep.labels[heavy], labels[heavy])
    own = np.where(labels[:, None] == np.arange(3), products, 0.0)
    close(example.vectors(sweep.sums), own.T @ Y)
    close(sweep.captured, np.square(own).sum(axis=0))


@pytest.mark.parametrize(
    "store",
    [
        np.asfortranarray,
        lambda X: np.repeat(X, 2, axis=1)[:, ::2],
        lambda X: np.ascontiguousarray(X[::-1])[::-1],
        lambda X: X.astype(">f8"),
        lambda X: X.tolist(),
    ],
    ids=["fortran", "strided", "negative strides", "big-endian", "list"],
)
def test_the_layout_of_a_dense_matrix_does_not_change_a_bit(store):
    X = some_numbers(37, 9)
    plain, stored = Samples(as_matrix(X)), Samples(as_matrix(store(X)))
    form = plain.at(np.array([0, 1]))
    first, second = plain.sweep_directions(form), stored.sweep_directions(form)
    np.testing.assert_array_equal(first.sums, second.sums)
    np.testing.assert_array_equal(first.labels, second.labels)


@pytest.mark.parametrize(("dtype", "k"), [(np.float32, 11), (np.float64, 50)])
def test_the_order_of_directions_does_not_change_a_bit(dtype, k, store):
    X = some_numbers(300, 37).astype(dtype)
    matrix = as_matrix(store(X))
    directions = X[10 : 10 + k] / np.linalg.norm(X[10 : 10 + k], axis=1, keepdims=True)
    shuffled = np.random.default_rng(0).permutation(k)
    first, second = matrix.sweep(directions), matrix.sweep(directions[shuffled])
    np.testing.assert_array_equal(first.products, second.products)
    np.testing.assert_array_equal(first.labels, shuffled[second.labels])
    np.testing.assert_array_equal(first.sums[shuffled], second.sums)
    labels, scales = matrix.project(directions)
    np.testing.assert_array_equal(scales, matrix.project(directions[shuffled])[1])
    # A sweep tells what a projection would give, except for rows that are zero.
    np.testing.assert_array_equal(scales, first.products)
    np.testing.assert_array_equal(labels, np.where(scales > 0, first.labels, -1))
    told = matrix.project_sweep(first.labels, first.products)
    np.testing.assert_array_equal(told, (labels, scales))
    loadings = matrix.loadings(directions)
    np.testing.assert_array_equal(loadings[:, shuffled], matrix.loadings(directions[shuffled]))
