"""The first look: what is refused, the one exponent, squares, and what underflows."""

import numpy as np
import pytest

from orthonmf.errors import InvalidInputError
from orthonmf.inputs.data import as_matrix
from tests.engine.weighted import CASES, make, some_numbers


@pytest.mark.parametrize("name", CASES)
def test_squares_are_those_of_the_weighted_matrix_at_every_scale(name, store):
    example = make(CASES[name], store)
    Y, matrix = example.Y_in_units, example.matrix
    squares = matrix.row_squares * np.square(example.row_roots)
    np.testing.assert_allclose(squares, np.square(Y).sum(axis=1), rtol=1e-12)
    np.testing.assert_allclose(matrix.column_squares, np.square(Y).sum(axis=0), rtol=1e-12)
    assert len(matrix.underflown) == 0


@pytest.mark.parametrize("far", [1e100, 1e140])
def test_entries_that_weights_switch_off_do_not_set_the_scale_of_others(store, far):
    X = some_numbers()
    rows, columns = np.ones(len(X)), np.ones(X.shape[1])
    rows[5], columns[4] = 0.0, 0.0
    plain = as_matrix(store(X), sample_weight=rows, feature_weight=columns)
    large = X.copy()
    large[5], large[:, 4] = far, far
    matrix = as_matrix(store(large), sample_weight=rows, feature_weight=columns)
    assert matrix.in_units_of_x(np.sqrt(matrix.total)) == pytest.approx(
        np.sqrt(plain.total), rel=1e-12
    )
    used = np.flatnonzero(rows)
    np.testing.assert_allclose(
        np.ldexp(matrix.row_squares, 2 * matrix.exponent)[used], plain.row_squares[used], rtol=1e-12
    )


@pytest.mark.parametrize("size", [np.finfo(float).max, 5e-324, 2.0**-1000])
def test_the_largest_and_the_smallest_weights_are_those_of_one(size, store):
    X = some_numbers()
    plain = as_matrix(store(X), sample_weight=np.ones(len(X)))
    matrix = as_matrix(store(X), sample_weight=np.full(len(X), size))
    assert matrix.total / float(matrix.row_weights[0]) == pytest.approx(plain.total, rel=1e-12)


@pytest.mark.parametrize("name", ["sample_weight", "feature_weight"])
def test_weights_too_far_apart_are_refused(name, store):
    X = some_numbers()
    weights = np.ones(len(X) if name == "sample_weight" else X.shape[1])
    weights[1], weights[2] = 2.0**-399, 0.0
    as_matrix(store(X), **{name: weights})
    weights[1] = 2.0**-402
    with pytest.raises(InvalidInputError, match=rf"{name} spans .* 2\^400"):
        as_matrix(store(X), **{name: weights})


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_rows_of_float32_never_underflow_and_those_of_float64_are_told(dtype, store):
    X = some_numbers()
    X[4:7] *= 1e-38 if dtype == np.float32 else 1e-170
    X[8] *= 1e-30 if dtype == np.float32 else 1e-140
    X[9:] *= 1e30 if dtype == np.float32 else 1.0
    matrix = as_matrix(store(X.astype(dtype)))
    told = [] if dtype == np.float32 else [4, 5, 6]
    np.testing.assert_array_equal(matrix.underflown, told)
    labels, scales = matrix.project(np.full((1, X.shape[1]), X.shape[1] ** -0.5))
    filled = np.flatnonzero(X.any(axis=1))
    np.testing.assert_array_equal(np.flatnonzero(labels >= 0), np.setdiff1d(filled, told))
    assert (scales[told] == 0).all()
