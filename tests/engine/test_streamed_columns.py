"""Columns that are streamed with the rows are the points that rows of the transpose would be."""

import numpy as np
import pytest
from scipy.sparse import csr_array

from orthonmf.engine import sources
from orthonmf.engine.samples import Samples
from orthonmf.engine.streamed_columns import StreamedColumns
from orthonmf.inputs.data import as_matrix
from orthonmf.kmeans.seeding import lines
from orthonmf.numerics.vectors import divide
from tests.engine.weighted import CASES, STORES, make, some_numbers

RNG = np.random.default_rng(8)
N, M = some_numbers().shape
COMBINATIONS = RNG.random((3, M))


@pytest.fixture(params=CASES)
def case(request):
    return CASES[request.param]


@pytest.fixture(params=STORES)
def example(case, request, monkeypatch):
    monkeypatch.setattr(sources, "FEWEST_ENTRIES", 30)
    monkeypatch.setattr(sources, "SPARSE_ENTRIES", 20)
    return make(case, STORES[request.param])


@pytest.fixture
def points(example):
    return StreamedColumns(example.matrix)


@pytest.fixture
def rough(case):
    return {"rtol": 2e-6 if case.dtype == np.float32 else 1e-11, "atol": 1e-12}


def unit_columns(Y):
    lengths = np.linalg.norm(Y, axis=0)
    return Y / np.where(lengths > 0, lengths, 1.0)


def test_combinations_stand_for_the_vectors_that_they_make(example, points):
    """Cosines, squared lengths and inner products are those of Y times the combinations."""
    Y = example.Y_in_units
    centers = Y @ COMBINATIONS.T
    cosines, squares = points.cosines_with(COMBINATIONS)
    np.testing.assert_allclose(cosines, unit_columns(Y).T @ centers, rtol=1e-11, atol=1e-14)
    np.testing.assert_allclose(squares, np.square(centers).sum(axis=0), rtol=1e-11)
    np.testing.assert_allclose(points.gram(COMBINATIONS), centers.T @ centers, rtol=1e-5)
    chosen = points.at(np.array([0, 5, 2, 0]))
    np.testing.assert_allclose(Y @ chosen.T, unit_columns(Y)[:, [0, 5, 2, 0]], rtol=1e-12)
    assert not chosen[2].any()  # a column of zeros has no direction


def test_sums_are_those_of_weighted_columns_and_label_minus_one_has_none(example, points):
    labels = np.array([0, 1, -1, 1, 0, -1, 3], dtype=np.int32)
    Y = example.Y_in_units
    sums = Y @ points.sums(labels, 4).T
    weighted = np.square(Y).sum(axis=0) * unit_columns(Y)
    expected = weighted @ (labels[:, None] == np.arange(4))
    np.testing.assert_allclose(sums, expected, rtol=1e-12, atol=1e-14)


def test_an_update_is_one_power_update_of_the_columns_of_every_label(example, points):
    labels = np.array([0, 1, 1, -1, 0, 2, 2], dtype=np.int32)
    Y = example.Y_in_units
    unit = unit_columns(Y @ COMBINATIONS.T)
    products = Y.T @ unit  # (m, k)
    found = points.update(labels, COMBINATIONS)
    own = np.where(labels >= 0, products[np.arange(M), labels], 0.0)
    np.testing.assert_allclose(found.products, own, rtol=1e-11, atol=1e-14)
    expected = np.where(np.arange(3)[:, None] == labels, own, 0.0)
    np.testing.assert_allclose(found.sums, expected, rtol=1e-11, atol=1e-14)
    np.testing.assert_allclose(found.captured, np.square(expected).sum(axis=1), rtol=1e-11)
    assert found.labels is labels


def test_columns_are_drawn_by_what_directions_miss_of_them(example, points, rough):
    Y = example.Y_in_units
    centers = 3 * points.at(np.array([0]))
    cosines = unit_columns(Y).T @ unit_columns(Y)[:, 0]
    missed = np.square(Y).sum(axis=0) * (1 - np.square(cosines))
    drawn, told = points.draw_missed(centers, 1e4 / missed.sum(), lines, (3,))
    assert told == pytest.approx(missed.sum(), rel=rough["rtol"])
    expected = np.flatnonzero(missed > 1e-4 * missed.sum())
    np.testing.assert_array_equal(drawn.argmax(axis=1), expected)
    again, _ = points.draw_missed(centers, 1e4 / missed.sum(), lines, (3,))
    np.testing.assert_array_equal(drawn, again)
    assert len(points.draw_missed(centers, 0.0, lines, (3,))[0]) == 0


def test_components_hold_the_scale_of_every_column_along_its_best_direction(example, points):
    Y = example.Y_in_units
    products = unit_columns(Y @ COMBINATIONS.T).T @ Y
    own = np.where(products == products.max(axis=0), products, 0.0)
    expected = example.matrix.to_components(own)
    found = points.components(COMBINATIONS)
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-14)
    labels = np.arange(M, dtype=np.int32) % 3
    held = points.components_of(labels, COMBINATIONS)
    expected = np.where(labels == np.arange(3)[:, None], products, 0.0)
    np.testing.assert_allclose(held, example.matrix.to_components(expected), rtol=1e-11)


@pytest.mark.parametrize("store", [np.asarray, csr_array])
def test_features_are_the_samples_of_the_transpose(store):
    X = some_numbers(37, 9, seed=8)
    over_features = StreamedColumns(as_matrix(store(X)))
    over_samples = Samples(as_matrix(store(np.ascontiguousarray(X.T))))
    chosen = np.array([0, 3, 5])
    for name in ("sweep_centers", "sweep_directions"):
        one = getattr(over_features, name)(over_features.at(chosen))
        other = getattr(over_samples, name)(over_samples.at(chosen))
        heavy = over_samples.weights > 0
        np.testing.assert_array_equal(one.labels[heavy], other.labels[heavy])
        cosines = [divide(sweep.products, sweep.lengths) for sweep in (one, other)]
        np.testing.assert_allclose(*cosines, atol=1e-13)


@pytest.mark.parametrize("shape", [(1, 5), (5, 1)])
def test_one_row_and_one_column_are_swept(shape):
    X = np.arange(1.0, 6.0).reshape(shape)
    points = StreamedColumns(as_matrix(X))
    swept = points.sweep_directions(points.at(np.array([0])))
    assert swept.captured[0] == pytest.approx(55.0)
    assert not swept.labels.any()
