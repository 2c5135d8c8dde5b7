"""Missing entries take no part in any sum: every pass against loops over observed entries."""

import numpy as np
import pytest

from orthonmf.engine.loadings import Projection
from orthonmf.engine.missing import MaskedMatrix
from orthonmf.engine.sources import to_dense
from orthonmf.errors import ScaleOverflowError
from orthonmf.inputs.data import as_matrix
from tests.engine.weighted import CASES, make, some_numbers

RNG = np.random.default_rng(7)
N, M = some_numbers().shape
GAPS = RNG.random((N, M)) < 0.25
GAPS[8] = True  # nothing of a row is observed
GAPS[:, 6] = True  # nor of a column
COMPONENTS = RNG.random((3, M)) + 0.1


def with_gaps():
    return np.where(GAPS, np.nan, some_numbers())


# Where columns differ by any power of two, one of them decides and components tie.
EVEN = [name for name, case in CASES.items() if not case.spread_columns]


@pytest.fixture(params=EVEN)
def example(request, store):
    made = make(CASES[request.param], store, with_gaps(), missing_values=np.nan)
    assert isinstance(made.matrix, MaskedMatrix)
    return made


def in_units(example):
    """Rows of X' with their gaps, and the weights of rows and columns that go with them."""
    matrix, ones = example.matrix, np.ones
    X = np.ldexp(example.X.astype(np.float64), -matrix.exponent)
    rows = ones(N) if matrix.row_weights is None else matrix.row_weights
    columns = ones(M) if matrix.column_weights is None else matrix.column_weights
    return X, rows, columns


def fit_over_observed(values, vector, weights):
    """The best scale of a vector for some values, and what it captures of them."""
    seen = ~np.isnan(values)
    product = np.sum(weights[seen] * values[seen] * vector[seen])
    square = np.sum(weights[seen] * vector[seen] ** 2)
    return (product / square, product / np.sqrt(square)) if square > 0 else (0.0, 0.0)


def by_loops(X, components, columns):
    """(n, k) loadings and square roots of captured energies of every row."""
    fits = [[fit_over_observed(x, c, columns) for c in components] for x in X]
    return np.moveaxis(np.array(fits), 2, 0)


def close(computed, expected):
    np.testing.assert_allclose(computed, expected, rtol=1e-10, atol=1e-14)


@pytest.mark.parametrize("k", [1, 3])
@pytest.mark.parametrize("given", [False, True])
def test_a_sweep_over_samples_fits_rows_then_components(example, given, k):
    X, rows, columns = in_units(example)
    components = COMPONENTS[:k]
    loadings, scores = by_loops(X, components, columns)
    fixed = RNG.integers(k, size=N).astype(np.int32) if given else None
    swept = example.matrix.masked_sweep(components, "samples", fixed)
    labels = fixed if given else scores.argmax(axis=1)
    np.testing.assert_array_equal(swept.labels, labels)
    best = np.sort(scores, axis=1)
    close(swept.captured, rows * scores[np.arange(N), labels] ** 2)
    close(swept.second, rows * best[:, -2] ** 2 if k > 1 else np.zeros(N))
    own = np.where(np.arange(k) == labels[:, None], loadings, 0.0)
    for s in range(k):
        for h in range(M):
            scale, _ = fit_over_observed(X[:, h], own[:, s], rows)
            seen = ~np.isnan(X[:, h]) & (own[:, s] * rows > 0)
            kept = scale if seen.any() else components[s, h]  # what nothing determines stays
            close(swept.components[s, h], kept if columns[h] > 0 else 0.0)


@pytest.mark.parametrize("given", [False, True])
def test_a_sweep_over_features_fits_rows_then_gives_columns_to_components(example, given):
    X, rows, columns = in_units(example)
    components = np.where(np.arange(M) % 3 == np.arange(3)[:, None], COMPONENTS, 0.0)
    loadings, _ = by_loops(X, components, columns)
    fixed = RNG.integers(3, size=M).astype(np.int32) if given else None
    swept = example.matrix.masked_sweep(components, "features", fixed)
    fits = [[fit_over_observed(X[:, h], loading, rows) for loading in loadings.T] for h in range(M)]
    scales, scores = np.moveaxis(np.array(fits), 2, 0)  # (m, k) each
    labels = fixed if given else scores.argmax(axis=1)
    np.testing.assert_array_equal(swept.labels, labels)
    places = np.arange(M)
    close(swept.captured, columns * scores[places, labels] ** 2)
    close(swept.second, columns * np.sort(scores, axis=1)[:, -2] ** 2)
    expected = np.zeros((3, M))
    expected[labels, places] = np.where(columns > 0, scales[places, labels], 0.0)
    close(swept.components, expected)


# Not those whose feature weights leave one column of every component.
@pytest.mark.parametrize("name", EVEN)
def test_rows_are_expressed_by_what_is_observed_of_them(name, store):
    example = make(CASES[name], store, with_gaps(), missing_values=np.nan)
    rtol = 1e-6 if CASES[name].dtype == np.float32 else 1e-12
    loadings, scores = by_loops(example.base, COMPONENTS, example.columns)
    labels, scales = example.matrix.project(COMPONENTS)
    winners = np.where(scores.max(axis=1) > 0, scores.argmax(axis=1), -1)
    np.testing.assert_array_equal(labels, winners)
    expected = np.where(winners >= 0, loadings[np.arange(N), winners], 0.0)
    expressed = np.ldexp(scales.astype(np.float64), -example.powers[0])
    np.testing.assert_allclose(expressed, expected, rtol=rtol)
    apart = np.where(np.arange(M) % 3 == np.arange(3)[:, None], COMPONENTS, 0.0)
    loadings, _ = by_loops(example.base, apart, example.columns)
    expressed = np.ldexp(example.matrix.loadings(apart).astype(float), -example.powers[0][:, None])
    np.testing.assert_allclose(expressed, loadings, rtol=rtol)
    # The error is that over what is observed, with weights.
    loadings_of_x = example.matrix.loadings(apart)
    difference = np.where(GAPS, 0.0, example.base - loadings @ apart)
    squares = example.rows @ np.square(difference) @ example.columns
    residual = example.matrix.residual(Projection(loadings_of_x), apart) * 4.0**example.power
    assert residual == pytest.approx(squares, rel=1e-5 if rtol > 1e-9 else 1e-11)


def test_missing_entries_are_zeros_wherever_they_are_not_left_out(store):
    matrix = as_matrix(store(with_gaps()), missing_values=np.nan)
    filled, everyone = np.nan_to_num(with_gaps()), np.arange(N)
    np.testing.assert_array_equal(matrix.dense(), filled)
    np.testing.assert_array_equal(matrix.rows_in_units(everyone), filled)
    np.testing.assert_array_equal(to_dense(matrix.stored_rows(everyone)), filled)
    np.testing.assert_array_equal(matrix.part(everyone).dense(), filled)
    np.testing.assert_array_equal(matrix.transpose().dense(), filled.T)


def test_one_missing_entry_in_the_last_row_is_noticed(store):
    X = some_numbers()
    assert as_matrix(store(X), missing_values=np.nan).complete
    X[-1, -1] = np.nan
    assert not as_matrix(store(X), missing_values=np.nan).complete


def test_a_scale_that_no_float_holds_is_refused_by_its_row(store):
    X = np.array([[1.0, np.nan], [2.0**1000, np.nan], [1.0, 1.0]])
    matrix = as_matrix(store(X), missing_values=np.nan)
    components = np.array([[2.0**-100, 0.0]])
    for express in (matrix.project, matrix.loadings):
        with pytest.raises(ScaleOverflowError, match="row 1 is too large"):
            express(components)
