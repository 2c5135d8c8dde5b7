"""Passes of the engine against the plainest formula, over samples and features."""

import numpy as np
import pytest
from scipy.sparse import coo_array, csc_array, csr_array

from orthonmf.engine.points import Samples, StreamedColumns
from orthonmf.inputs.data import as_matrix
from orthonmf.vectors import divide


def cosines_of(sweep):
    return divide(sweep.products, sweep.lengths)


def some_matrix(n=37, m=9, seed=0, zeros=0.4):
    rng = np.random.default_rng(seed)
    X = rng.exponential(size=(n, m)) * (rng.random((n, m)) > zeros)
    X[3] = 0.0
    X[:, 2] = 0.0
    return X


def weighted(X, sample_weight, feature_weight):
    return X * np.sqrt(sample_weight)[:, None] * np.sqrt(feature_weight)


WEIGHTS = [(None, None), ("rows", None), (None, "columns"), ("rows", "columns")]


def weights_for(X, which):
    rng = np.random.default_rng(1)
    rows = rng.exponential(size=X.shape[0]) if which[0] else np.ones(X.shape[0])
    columns = rng.exponential(size=X.shape[1]) if which[1] else np.ones(X.shape[1])
    rows[5] = 0.0 if which[0] else 1.0
    # Weights are divided by a power of four; with a largest of 1 that power is 1.
    return rows / rows.max(), columns / columns.max()


def points_over(side, X, rows, columns, store):
    matrix = as_matrix(store(X), sample_weight=rows, feature_weight=columns)
    return Samples(matrix) if side == "samples" else StreamedColumns(matrix)


def plain_points(side, X, rows, columns):
    Y = weighted(X, rows, columns)
    return Y if side == "samples" else Y.T


def centers_of(side, points_form, Y):
    """The explicit centers of a form."""
    return points_form if side == "samples" else points_form @ Y


@pytest.mark.parametrize("which", WEIGHTS)
@pytest.mark.parametrize("side", ["samples", "features"])
def test_a_sweep_of_centers_agrees_with_the_plain_formula(side, which, store):
    X = some_matrix()
    rows, columns = weights_for(X, which)
    points = points_over(side, X, rows, columns, store)
    Y = plain_points(side, X, rows, columns)
    lengths = np.linalg.norm(Y, axis=1)
    heavy = np.flatnonzero(lengths > 0)
    unit = np.zeros_like(Y)
    unit[heavy] = Y[heavy] / lengths[heavy][:, None]
    form = 0.7 * points.at(heavy[[0, 4, 6]])
    centers = 0.7 * unit[heavy[[0, 4, 6]]]
    sweep = points.sweep_centers(form)
    distances = np.sum((unit[:, None] - centers) ** 2, axis=2)
    labels = distances.argmin(axis=1)
    np.testing.assert_array_equal(sweep.labels[heavy], labels[heavy])
    np.testing.assert_allclose(sweep.squares, 0.49, rtol=1e-12)
    found = 1 - 2 * cosines_of(sweep) + sweep.squares[sweep.labels]
    np.testing.assert_allclose(found[heavy], distances.min(axis=1)[heavy], atol=1e-12)
    sums = np.zeros((3, Y.shape[1]))
    np.add.at(sums, labels[heavy], (lengths[:, None] * Y)[heavy])
    big_y = weighted(X, rows, columns).T
    np.testing.assert_allclose(centers_of(side, sweep.sums, big_y), sums, rtol=1e-11, atol=1e-12)
    np.testing.assert_allclose(
        centers_of(side, points.sums(labels, 3), big_y), sums, rtol=1e-11, atol=1e-12
    )


@pytest.mark.parametrize("which", WEIGHTS)
@pytest.mark.parametrize("side", ["samples", "features"])
def test_a_sweep_of_directions_is_one_power_update_per_cluster(side, which, store):
    X = some_matrix(seed=3)
    rows, columns = weights_for(X, which)
    points = points_over(side, X, rows, columns, store)
    Y = plain_points(side, X, rows, columns)
    heavy = np.flatnonzero(np.any(Y > 0, axis=1))
    form = 5.0 * points.at(heavy[[1, 3, 7]])
    units = Y[heavy[[1, 3, 7]]]
    units = units / np.linalg.norm(units, axis=1, keepdims=True)
    sweep = points.sweep_directions(form)
    products = Y @ units.T
    labels = products.argmax(axis=1)
    np.testing.assert_array_equal(sweep.labels[heavy], labels[heavy])
    steps = np.array(
        [(products[labels == s, s][:, None] * Y[labels == s]).sum(axis=0) for s in range(3)]
    )
    big_y = weighted(X, rows, columns).T
    np.testing.assert_allclose(centers_of(side, sweep.sums, big_y), steps, rtol=1e-11, atol=1e-12)
    captured = [np.sum(products[labels == s, s] ** 2) for s in range(3)]
    np.testing.assert_allclose(sweep.captured, captured, rtol=1e-11)


@pytest.mark.parametrize("side", ["samples", "features"])
def test_coordinates_are_the_normalized_points(side, store):
    X = some_matrix()
    rows, columns = weights_for(X, ("rows", "columns"))
    points = points_over(side, X, rows, columns, store)
    Y = plain_points(side, X, rows, columns)
    lengths = np.linalg.norm(Y, axis=1)
    coordinates = points.coordinates()
    given = coordinates.toarray() if hasattr(coordinates, "toarray") else coordinates
    heavy = lengths > 0
    np.testing.assert_allclose(given[heavy], Y[heavy] / lengths[heavy][:, None], atol=1e-14)


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
    X = some_matrix()
    plain, stored = Samples(as_matrix(X)), Samples(as_matrix(store(X)))
    form = plain.at(np.array([0, 1]))
    one, other = plain.sweep_directions(form), stored.sweep_directions(form)
    np.testing.assert_array_equal(one.sums, other.sums)
    np.testing.assert_array_equal(one.labels, other.labels)


@pytest.mark.parametrize("build", [csr_array, csc_array, coo_array])
@pytest.mark.parametrize("index", [np.int32, np.int64])
def test_sparse_formats_and_index_types_agree_with_dense(build, index):
    X = some_matrix()
    stored = build(X)
    if build is not coo_array:
        stored.indices, stored.indptr = stored.indices.astype(index), stored.indptr.astype(index)
    dense, sparse = Samples(as_matrix(X)), Samples(as_matrix(stored))
    form = dense.at(np.array([0, 1, 4]))
    one, other = dense.sweep_directions(form), sparse.sweep_directions(form)
    np.testing.assert_allclose(one.sums, other.sums, rtol=1e-12)
    np.testing.assert_array_equal(one.labels, other.labels)


def test_float32_stays_float32_and_norms_are_taken_in_float64():
    X = some_matrix().astype(np.float32)
    matrix = as_matrix(X)
    assert matrix.dtype == np.float32
    exact = np.sum(X.astype(np.float64) ** 2, axis=1)
    np.testing.assert_allclose(matrix.row_squares, exact, rtol=1e-15)
    sweep = Samples(matrix).sweep_directions(Samples(matrix).at(np.array([0, 1])))
    wide = Samples(as_matrix(X.astype(np.float64))).sweep_directions(
        Samples(matrix).at(np.array([0, 1]))
    )
    np.testing.assert_allclose(sweep.sums, wide.sums, rtol=2e-6)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("k", [3, 11, 50])
def test_the_order_of_directions_does_not_change_a_bit(dtype, k, store):
    X = some_matrix(n=300, m=37, zeros=0.2).astype(dtype)
    matrix = as_matrix(store(X))
    directions = X[10 : 10 + k] / np.linalg.norm(X[10 : 10 + k], axis=1, keepdims=True)
    shuffled = np.random.default_rng(0).permutation(k)
    one, other = matrix.sweep(directions), matrix.sweep(directions[shuffled])
    np.testing.assert_array_equal(one.products, other.products)
    np.testing.assert_array_equal(one.labels, shuffled[other.labels])
    np.testing.assert_array_equal(one.sums[shuffled], other.sums)
    labels, scales = matrix.project(directions)
    np.testing.assert_array_equal(scales, matrix.project(directions[shuffled])[1])
    # A sweep tells what a projection would give, except for rows that are zero.
    np.testing.assert_array_equal(scales, one.products)
    np.testing.assert_array_equal(labels, np.where(scales > 0, one.labels, -1))
    found = matrix.project_sweep(one.labels, one.products)
    np.testing.assert_array_equal(found, (labels, scales))
    loadings = matrix.loadings(directions)
    np.testing.assert_array_equal(loadings[:, shuffled], matrix.loadings(directions[shuffled]))


@pytest.mark.parametrize("scale", [1e-200, 1.0, 1e200])
@pytest.mark.parametrize("which", WEIGHTS)
def test_a_sample_holds_normalized_points(which, scale, store):
    X = some_matrix()
    rows, columns = weights_for(X, which)
    points = points_over("samples", scale * X, rows, columns, store)
    wanted = np.array([1, 4, 8, 20])
    sample = Samples(points.matrix.normalize(wanted, np.array([1.0, 2.0, 3.0, 4.0])))
    unweighted = weighted(X, np.ones(len(X)), columns)[wanted]
    unit = unweighted / np.linalg.norm(unweighted, axis=1, keepdims=True)
    np.testing.assert_allclose(sample.coordinates() @ np.eye(X.shape[1]), unit, atol=1e-6)
    np.testing.assert_array_equal(sample.weights, [1, 2, 3, 4])
    cosines, _ = sample.cosines_with(unit)
    np.testing.assert_allclose(sample.rough_cosines_with(unit), cosines, atol=1e-6)
    labels = np.array([0, 1, 0, 1], dtype=np.int32)
    own = cosines[np.arange(4), labels]
    step = sample.power_update(labels, own, 2)
    weights = own * np.array([1, 2, 3, 4])
    expected = np.stack([(weights * (labels == s)) @ unit for s in range(2)])
    np.testing.assert_allclose(step, expected, atol=1e-5)
