"""What follows from a lower bound and an error, and what computing it takes."""

import numpy as np
import pytest
from scipy.sparse import csr_array

import orthonmf
from orthonmf.bounds.lower_bound import LowerBound
from orthonmf.bounds.table import LARGEST_GROUP
from orthonmf.certification.certify import (
    AT_ROUNDING,
    NOTHING,
    certificate_bytes,
    certify,
    certify_packing,
    conclude,
    squared_error_from_above,
)
from orthonmf.certification.same_data import Measured
from orthonmf.inputs.data import as_matrix
from tests.oracles.exact import exact_error, exact_total, smallest_error

pytestmark = pytest.mark.filterwarnings("ignore::orthonmf.FewerComponentsWarning")
X = np.random.default_rng(0).exponential(size=(6, 4))


def test_a_certificate_counts_its_gram_matrix_where_it_forms_one():
    assert certificate_bytes((2000, 20_000)) >= 2000**2 * 8
    group = certificate_bytes((50_000, 20_000))
    assert group == certificate_bytes((LARGEST_GROUP, 20_000))


def fit(data=X, k=2, **options):
    return orthonmf.factorize(data, k, random_state=0, certificate=None, **options)


@pytest.mark.parametrize("orthogonal", ["samples", "features", "both"])
@pytest.mark.parametrize("method", ["svd", "tight"])
def test_error_and_bound_of_a_certificate_enclose_those_of_exact_arithmetic(orthogonal, method):
    data = np.round(X[:4, :3], 2)
    found = fit(data, orthogonal=orthogonal)
    proven = certify(as_matrix(data), found, method, seconds=0.2)
    total = exact_total(data)
    error = exact_error(data, found.loadings, found.components) / total
    least = smallest_error(data, 2, orthogonal) / total
    assert proven.lower_bound <= least <= error <= proven.upper_bound
    assert proven.ratio * least >= error
    assert proven.upper_bound == pytest.approx(float(error), rel=1e-9)
    assert not proven.reason


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("store", [np.asarray, csr_array])
@pytest.mark.parametrize("direct", [False, True])
def test_the_error_from_above_is_above_and_close(dtype, store, direct):
    data, weights = X.astype(dtype), np.array([1.0, 0.0, 2.0, 1.0, 3.0, 1.0])
    matrix = as_matrix(store(data), sample_weight=weights, feature_weight=np.arange(4.0))
    found = fit(store(data), sample_weight=weights, feature_weight=np.arange(4.0))
    exact = float(exact_error(data, found.loadings, found.components, weights, np.arange(4.0)))
    units = matrix.total / float(exact_total(data, weights, np.arange(4.0)))
    measured = Measured(exact * units, direct)
    above = squared_error_from_above(matrix, found, measured) / units
    assert exact <= above <= exact * (1 + 1e-5)


def test_the_largest_bound_counts_and_both_sides_are_rounded_the_safe_way():
    matrix, found = as_matrix(X), fit()
    squared = found.relative_squared_error * matrix.total
    bounds = [LowerBound(0.2 * squared, "one"), LowerBound(0.5 * squared, "other")]
    proven = conclude(matrix, found, Measured(squared, direct=True), bounds)
    assert proven.method == "other"
    assert proven.ratio == pytest.approx(2.0, rel=1e-3)
    assert proven.ratio >= 2.0
    assert proven.lower_bound <= 0.5 * found.relative_squared_error
    assert proven.upper_bound >= found.relative_squared_error


def test_without_a_bound_the_reason_is_given_and_the_promise_stays():
    matrix, found = as_matrix(X), fit(init="lines")
    measured = Measured(found.relative_squared_error * matrix.total, direct=True)
    for bounds in ([], [LowerBound(0.0, "nothing")]):
        proven = conclude(matrix, found, measured, bounds)
        assert (proven.ratio, proven.lower_bound, proven.upper_bound) == (None, None, None)
        assert proven.reason == NOTHING
        assert proven.a_priori_ratio == found.promise.ratio
    assert conclude(matrix, found, measured, [], "too large").reason == "too large"


def test_an_error_at_the_level_of_rounding_is_bounded_from_above_alone():
    data = np.outer(np.arange(1.0, 7.0), 1 / np.arange(3.0, 7.0))
    matrix, found = as_matrix(data), fit(data, 1)
    proven = conclude(matrix, found, Measured(1e-30 * matrix.total, direct=True), [])
    assert proven.reason == AT_ROUNDING
    assert proven.ratio is None
    assert 0 < proven.upper_bound < 1e-20


def test_a_packing_that_came_with_the_fit_is_a_bound_of_the_numbers_fitted():
    matrix, found = as_matrix(X), fit(k=4, orthogonal="both")
    squared = found.relative_squared_error * matrix.total
    proven = certify_packing(matrix, found, squared / 4)
    assert proven.method == "a packing of pairs"
    assert proven.ratio == pytest.approx(4.0, rel=1e-6)
    assert proven.ratio >= 4.0
    assert certify_packing(matrix, found, 0.0).ratio is None


def test_a_fit_without_error_is_exact_and_a_zero_matrix_says_so():
    data = np.kron(np.eye(2), np.outer([1.0, 2.0, 4.0], [1.0, 0.0]))
    proven = certify(as_matrix(data), fit(data), "svd")
    assert (proven.ratio, proven.method) == (1.0, "an exact fit")
    nothing = fit(np.zeros((3, 2)))
    zero = certify(as_matrix(np.zeros((3, 2))), nothing, "svd")
    assert "zero wherever it has weight" in zero.method


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_an_error_that_cancellation_hides_is_summed_over_all_entries(dtype):
    noise = 1e-4 * np.random.default_rng(1).random((6, 4))
    data = (np.outer(np.arange(1.0, 7.0), np.arange(3.0, 7.0)) + noise).astype(dtype)
    matrix, found = as_matrix(data), fit(data, 1)
    exact = float(exact_error(data, found.loadings, found.components))
    units = matrix.total / float(exact_total(data))
    # As if what is captured had been rounded to all there is.
    above = squared_error_from_above(matrix, found, Measured(0.0, direct=False)) / units
    assert exact <= above <= exact * 1.01
