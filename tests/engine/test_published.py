"""What is published of a matrix, against trying every component in plain numbers."""

from dataclasses import replace

import numpy as np
import pytest

from orthonmf.engine.matrix import scales_are_accurate
from orthonmf.errors import InvalidInputError, ScaleOverflowError
from orthonmf.inputs.data import as_matrix
from tests.engine.weighted import CASES, STORES, Case, make, some_numbers

RNG = np.random.default_rng(6)
M = some_numbers().shape[1]
# Cases whose feature weights do not differ by powers that no unit component could have.
EVEN = {name: case for name, case in CASES.items() if case.spread_columns == 0}


@pytest.fixture(params=EVEN)
def case(request):
    return EVEN[request.param]


@pytest.fixture
def example(case, store):
    return make(case, store)


def overlapping(k=3):
    components = RNG.random((k, M))
    return components / np.linalg.norm(components, axis=1, keepdims=True)


def disjoint():
    """Components that share no column; the last column is in none of them."""
    components = np.where(np.arange(M - 1) % 3 == np.arange(3)[:, None], RNG.random(M - 1), 0.0)
    components = np.hstack((components, np.zeros((3, 1))))
    return components / np.linalg.norm(components, axis=1, keepdims=True)


def best_scales(example, components):
    """(n, k) the best scale of every row of the base on every component, and what it captures."""
    weighted = components * example.columns
    lengths = np.einsum("sh,sh->s", weighted, components)
    products = example.base @ weighted.T
    return products / lengths, products / np.sqrt(lengths)


def plain_error(example, loadings, components):
    """The squared error at scale 1 of loadings at scale 1."""
    squares = np.square(example.base - loadings @ components) @ example.columns
    return float(example.rows @ squares)


def tolerance_of(case):
    return 1e-5 if case.dtype == np.float32 else 1e-12


def test_every_row_goes_to_the_component_that_captures_most(example, case):
    components = overlapping()
    scales, captured = best_scales(example, components)
    labels, found = example.matrix.project(components)
    winners = np.where(captured.max(axis=1) > 0, captured.argmax(axis=1), -1)
    np.testing.assert_array_equal(labels, winners)
    assert found.dtype == case.dtype
    expected = np.where(winners >= 0, scales[np.arange(len(scales)), winners], 0.0)
    at_scale_1 = np.ldexp(found.astype(np.float64), -example.powers[0])
    np.testing.assert_allclose(at_scale_1, expected, rtol=tolerance_of(case))


def test_loadings_on_disjoint_components_are_the_best_of_every_one(example, case):
    components = disjoint()
    expected, _ = best_scales(example, components)
    found = example.matrix.loadings(components)
    assert found.dtype == case.dtype
    at_scale_1 = np.ldexp(found.astype(np.float64), -example.powers[0][:, None])
    np.testing.assert_allclose(at_scale_1, expected, rtol=tolerance_of(case))


@pytest.mark.parametrize("orthogonal", ["samples", "features"])
def test_energies_and_the_error_add_up_to_the_total(example, case, orthogonal):
    components = disjoint()
    matrix, unit = example.matrix, 4.0**example.power
    projection = matrix.express(components, orthogonal)
    given = projection.loadings
    dense = (given if orthogonal == "features" else given.toarray()).astype(np.float64)
    loadings = np.ldexp(dense, -example.powers[0][:, None])
    lengths = np.einsum("sh,h,sh->s", components, example.columns, components)
    energies = matrix.energies_of(components, projection)
    expected = (example.rows @ np.square(loadings)) * lengths
    np.testing.assert_allclose(energies * unit, expected, rtol=1e-12)
    assert matrix.total * unit == pytest.approx(np.square(example.Y).sum(), rel=1e-12)
    error = plain_error(example, loadings, components)
    assert matrix.residual(projection, components) * unit == pytest.approx(error, rel=1e-12)
    squared, compared = matrix.squared_error(components, projection, energies)
    assert squared * unit == pytest.approx(error, rel=1e-5 if case.dtype == np.float32 else 1e-11)
    assert compared or matrix.column_factors is None


def test_a_row_of_weight_zero_is_expressed_like_any_other():
    X = some_numbers()
    weights = np.ones(len(X))
    weights[[0, 1, 2]] = 0.0
    components = overlapping()
    for one, other in zip(
        as_matrix(X, sample_weight=weights).project(components),
        as_matrix(X).project(components),
        strict=True,
    ):
        np.testing.assert_array_equal(one, other)


def test_without_components_nobody_has_a_label():
    matrix = as_matrix(some_numbers())
    projection = matrix.express(np.zeros((0, M)), "samples")
    assert (projection.labels == -1).all()
    assert projection.loadings.shape == (len(some_numbers()), 0)
    assert matrix.express(np.zeros((0, M)), "features").dense.shape == (len(some_numbers()), 0)
    with pytest.raises(InvalidInputError, match="X has 7 features, but the components have 3"):
        matrix.express(np.eye(3), "samples")


@pytest.mark.parametrize("noise", [0.0, 1e-9])
@pytest.mark.parametrize("store", STORES.values())
def test_an_error_that_cancellation_would_swallow_is_found_by_comparing_entries(store, noise):
    components = np.array([[0.6, 0.8, 0.0], [0.0, 0.0, 1.0]])
    X = np.array([[3.0, 4.0, 0.0], [0.0, 0.0, 2.0], [6.0, 8.0, noise]])
    matrix = as_matrix(store(X))
    projection = matrix.express(components, "samples")
    energies = matrix.energies_of(components, projection)
    squared, compared = matrix.squared_error(components, projection, energies)
    assert compared
    assert squared == pytest.approx(noise**2, rel=1e-6, abs=1e-30)


def test_scales_that_lost_digits_to_underflow_make_entries_compared():
    assert scales_are_accurate(np.array([0.0, 1e-290]))
    assert not scales_are_accurate(np.array([1.0, 1e-300]))
    assert scales_are_accurate(np.array([0.0, 1e-29], np.float32))
    assert not scales_are_accurate(np.array([1.0, 1e-36], np.float32))
    assert scales_are_accurate(np.zeros((3, 0)))
    X = np.array([[1.0, 2.0], [3.0, 1.0]])
    matrix, components = as_matrix(X), np.array([[0.6, 0.8]])
    projection = matrix.express(components, "samples")
    energies = matrix.energies_of(components, projection)
    assert not matrix.squared_error(components, projection, energies)[1]
    small = replace(projection, scales=np.array([1e-300, 3.0]))
    assert matrix.squared_error(components, small, energies)[1]


def test_what_no_float_holds_is_refused_by_its_row():
    X = np.full((3, 4), np.finfo(np.float64).max)
    X[:2] = 1.0
    matrix = as_matrix(X)
    for express in (matrix.project, matrix.loadings):
        with pytest.raises(ScaleOverflowError, match="scale of row 2 is too large for float64"):
            express(np.full((1, 4), 0.5))
    with pytest.raises(ScaleOverflowError, match="divide X by a power of two"):
        matrix.in_units_of_x(np.sqrt(matrix.total))


@pytest.mark.parametrize("power", [-900, 0, 900])
def test_a_length_comes_back_in_units_of_x_and_of_the_weights(power):
    example = make(Case(power, weighted_rows=True, weighted_columns=True))
    length = example.matrix.in_units_of_x(np.sqrt(example.matrix.total))
    assert np.ldexp(length, -power) == pytest.approx(np.linalg.norm(example.Y), rel=1e-13)
