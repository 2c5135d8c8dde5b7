"""Equal means equal: products of doubles compared in exact arithmetic, and what follows."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from scipy.sparse import csr_array

import orthonmf
from orthonmf.exact_fit import equals_product, fits_exactly
from orthonmf.inputs.data import as_matrix
from tests.oracles.exact import exact_error, exact_total

NUMBERS = st.one_of(
    st.floats(0.0, 1.7e308),
    st.integers(0, 2**20).map(float),
    st.builds(lambda a, b: float(np.ldexp(a, b)), st.integers(1, 2**27), st.integers(-1074, 900)),
)


@pytest.mark.slow
@given(NUMBERS, NUMBERS)
@example(5e-324, 0.5)
@example(2.0**-600, 2.0**-600)
@example(2.0**600, 2.0**600)
@example(5e-324, 2.0**1000)
def test_a_product_is_equal_exactly_when_it_is(left, right):
    with np.errstate(all="ignore"):
        rounded = left * right
    for value in {rounded, float(np.nextafter(rounded, 0.0))} - {np.inf}:
        told = equals_product(np.array([value]), np.array([left]), np.array([right]))[0]
        assert told == (Fraction(value) == Fraction(left) * Fraction(right))


@pytest.mark.parametrize("store", [np.asarray, csr_array])
@pytest.mark.parametrize("orthogonal", ["samples", "features", "both"])
@pytest.mark.parametrize(("dtype", "scale"), [(np.float64, 2.0**-100), (np.float32, 2.0**90)])
def test_a_fit_without_any_error_is_the_smallest_possible(store, orthogonal, dtype, scale):
    X = np.kron(np.diag([1.0, 3.0, 5.0]), np.ones((4, 4))) * scale  # unit vectors of halves
    result = orthonmf.factorize(
        store(X.astype(dtype)), 3, orthogonal=orthogonal, random_state=0, n_init=3
    )
    certificate = result.certificate
    assert (certificate.lower_bound, certificate.upper_bound, certificate.ratio) == (0, 0, 1)
    assert certificate.optimal
    assert str(certificate) == "squared error the smallest possible; proven by an exact fit"


@pytest.mark.slow
@pytest.mark.parametrize("orthogonal", ["samples", "features", "both"])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_an_error_at_the_level_of_rounding_is_called_that_and_no_more(orthogonal, dtype):
    X = np.kron(np.eye(3), np.ones((4, 5))).astype(dtype)  # no unit vector of fifths is exact
    result = orthonmf.factorize(X, 3, orthogonal=orthogonal, random_state=0, n_init=3)
    certificate = result.certificate
    error = exact_error(X, result.loadings, result.components) / exact_total(X)
    assert 0 < error <= Fraction(certificate.upper_bound) < Fraction(1, 10**8)
    assert certificate.ratio is None
    assert not certificate.optimal
    assert str(certificate).startswith("squared error the smallest possible, to within ")


def test_rows_and_columns_without_weight_need_not_fit():
    X = np.zeros((9, 9))
    X[:8, :8] = np.kron(np.eye(2), np.ones((4, 4)))
    X[8], X[:8, 8] = np.arange(9), 3.0
    weights = np.append(np.ones(8), 0.0)
    result = orthonmf.factorize(X, 2, sample_weight=weights, feature_weight=weights, random_state=0)
    assert result.certificate.optimal
    assert not orthonmf.factorize(X, 2, sample_weight=weights, random_state=0).certificate.optimal


ABOUT = "squared error (of X where a row that underflows counts as zero)"


def test_every_claim_says_where_rows_count_as_zero():
    X = np.kron(np.diag([1.0, 3.0]), np.ones((4, 4)))[[0, 1, 4, 5, 6, 7]]
    X[1] *= 1e-200
    exact = orthonmf.factorize(X, 2, random_state=0).certificate
    assert str(exact) == f"{ABOUT} the smallest possible; proven by an exact fit"
    X[0, :4] = 0.1, 0.2, 0.3, 0.7
    rounded = orthonmf.factorize(X, 2, random_state=0).certificate
    assert str(rounded).startswith(f"{ABOUT} the smallest possible, to within ")
    X[:2, 0] *= 3.0
    for orthogonal in ("samples", "both"):
        options = {"orthogonal": orthogonal, "random_state": 0}
        assert str(orthonmf.factorize(X, 1, **options).certificate).startswith(ABOUT)
        promised = orthonmf.factorize(X, 1, certificate=None, **options).certificate
        assert str(promised).startswith(ABOUT)
    divergence = orthonmf.factorize(X, 1, beta_loss="kullback-leibler").certificate
    assert str(divergence).startswith(ABOUT.replace("squared error", "divergence"))


def test_a_matrix_that_is_zero_where_it_has_weight_is_told_from_one_that_underflows():
    X = np.array([[1.0, 2.0], [0.0, 0.0]])
    with pytest.warns(orthonmf.FewerComponentsWarning):
        zero = orthonmf.factorize(X, 1, sample_weight=[0.0, 1.0])
    assert zero.certificate.optimal
    X[1] = 2.0**-600
    light = orthonmf.factorize(X, 1, sample_weight=[0.0, 1.0])
    assert light.n_components_found == 1
    assert light.relative_squared_error < 1e-30
    assert light.certificate.method != zero.certificate.method


@pytest.mark.parametrize("store", [np.asarray, csr_array])
@pytest.mark.parametrize("orthogonal", ["samples", "features", "both"])
def test_one_entry_that_differs_or_is_missing_is_noticed(store, orthogonal):
    X = np.kron(np.diag([1.0, 3.0]), np.ones((4, 4)))
    result = orthonmf.factorize(X, 2, orthogonal=orthogonal, random_state=0, certificate=None)
    assert fits_exactly(as_matrix(store(X)), result)
    for place, value in (((0, 0), np.nextafter(1.0, 2.0)), ((0, 0), 0.0), ((0, 5), 1e-300)):
        other = X.copy()
        other[place] = value
        assert not fits_exactly(as_matrix(store(other)), result)
