"""Sums over what is observed, against sums that skip what is missing one entry at a time."""

from fractions import Fraction

import numpy as np
import pytest
from scipy.sparse import csr_array

from orthonmf.engine.kernels.missing import ObservedArray, ObservedCsr, fit_by_own_scale
from orthonmf.numerics.vectors import divide

RNG = np.random.default_rng(2)
X = RNG.exponential(size=(25, 8)) * (RNG.random((25, 8)) < 0.6)
X[RNG.random(X.shape) < 0.2] = np.nan
X[3] = np.nan  # nothing is observed
X[:, 6] = np.nan
OBSERVED = ~np.isnan(X)
VALUES = np.where(OBSERVED, X, 0.0)

BLOCKS = {"dense": lambda rows: ObservedArray(rows), "sparse": lambda rows: ObservedCsr(csr(rows))}


def csr(rows):
    """NaN is an entry of a sparse block, as nothing else tells it from a zero."""
    held = csr_array(np.where(np.isnan(rows), -1.0, rows).astype(rows.dtype))
    held.data[held.data == -1.0] = np.nan
    return held


@pytest.fixture(params=BLOCKS)
def make(request):
    return BLOCKS[request.param]


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_products_and_sums_leave_out_what_is_missing(make, dtype):
    block = make(X.astype(dtype))
    directions, loadings = RNG.random((3, 8)), RNG.random((25, 3))
    values = np.where(OBSERVED, X.astype(dtype), 0.0).astype(np.float64)
    products = np.array([[sum(v * d) for d in directions] for v in values])
    np.testing.assert_allclose(block.multiply_directions(directions), products, rtol=1e-12)
    np.testing.assert_allclose(block.multiply_columns(loadings), loadings.T @ values, rtol=1e-12)
    by_row = [[sum(d[seen]) for d in directions] for seen in OBSERVED]
    np.testing.assert_allclose(block.sum_observed(directions), by_row, rtol=1e-9, atol=1e-12)
    by_column = [[sum(one[seen]) for seen in OBSERVED.T] for one in loadings.T]
    np.testing.assert_allclose(block.sum_observed_rows(loadings), by_column, rtol=1e-9, atol=1e-12)


def test_where_nothing_is_observed_sums_are_exactly_zero(make):
    block = make(X)
    squares = RNG.random((3, 8)) * 10.0 ** RNG.uniform(-8, 8, (3, 1))
    assert not block.sum_observed(squares)[3].any()
    loadings = RNG.random((25, 3)) * 10.0 ** RNG.uniform(-8, 8, (1, 3))
    assert not block.sum_observed_rows(loadings)[:, 6].any()


def test_what_rounding_leaves_of_a_difference_is_nothing(make):
    """A long sum, in another order, is not the same to the last bit."""
    squares = RNG.random((5, 400)) * 10.0 ** RNG.uniform(-3, 3, 400)
    block = make(np.full((1, 400), np.nan))
    assert not block.sum_observed(squares).any()
    block = make(np.full((400, 1), np.nan))
    assert not block.sum_observed_rows(squares.T).any()


def test_a_block_without_gaps_is_the_block(make):
    block, ones = make(VALUES), np.ones((1, 8))
    np.testing.assert_allclose(block.multiply_directions(ones)[:, 0], VALUES.sum(axis=1))
    np.testing.assert_array_equal(block.sum_observed(ones), np.full((25, 1), 8.0))


def by_hand(rows, components, weights):
    """Loadings and squared scores of rows by components, over what is observed."""
    observed = ~np.isnan(rows)
    products = (np.where(observed, rows, 0.0) * weights) @ components.T
    squares = observed @ (weights * components**2).T
    return divide(products, squares), divide(products, np.sqrt(squares))


@pytest.mark.parametrize("power", [0, -400, 400])
def test_a_fit_by_own_scale_is_the_plain_fit(power):
    components, weights = RNG.random((4, 8)), RNG.random(8)
    components[1, :5] = 0.0
    scores, loadings = fit_by_own_scale(X, components, weights, np.full(8, power))
    wanted, best = by_hand(X, components, weights)
    np.testing.assert_allclose(loadings, wanted, rtol=1e-12)
    # Scores are told up to a number for each row.
    largest = np.where(best.max(axis=1) > 0, best.max(axis=1), 1.0)[:, None]
    factor = np.where(scores.max(axis=1) > 0, scores.max(axis=1), 1.0)[:, None]
    np.testing.assert_allclose(scores / factor, best / largest, rtol=1e-12)


def test_squares_that_would_underflow_are_kept():
    rows = np.array([[3e-200, 4e-200, np.nan], [1e200, np.nan, 1e200]])
    components = np.array([[1.0, 1.0, 1e-100], [0.0, 1e-250, 1.0]])
    weights, powers = np.array([1.0, 2.0, 0.5]), np.array([-1000, 0, 900])
    _, loadings = fit_by_own_scale(rows, components, weights, powers)
    for i, row in enumerate(rows):
        for j, component in enumerate(components):
            product = square = Fraction(0)
            for x, c, w, p in zip(row, component, weights, powers, strict=True):
                if not np.isnan(x):
                    weight = Fraction(float(w)) * Fraction(2) ** int(p)
                    product += Fraction(float(x)) * Fraction(float(c)) * weight
                    square += Fraction(float(c)) ** 2 * weight
            expected = float(product / square) if square else 0.0
            assert loadings[i, j] == pytest.approx(expected, rel=1e-12)


def test_columns_of_weight_zero_are_not_observed():
    rows, components = np.array([[1.0, 5.0]]), np.array([[2.0, 7.0]])
    _, loadings = fit_by_own_scale(rows, components, np.array([1.0, 0.0]), np.zeros(2, int))
    assert loadings[0, 0] == 0.5


@pytest.mark.parametrize("small", [1e-3, 1e-6, 1e-9, 1e-150, 0.0])
def test_sums_over_what_is_observed_keep_their_digits_next_to_what_is_missing(small):
    rows = csr_array(np.array([[1.0, np.nan], [1.0, 1.0]]))
    squares = np.array([[small, 1.0]])
    found = ObservedCsr(rows).sum_observed(squares)
    np.testing.assert_allclose(found[:, 0], [small, 1.0 + small], rtol=1e-15)
    found = ObservedCsr(csr_array(rows.T)).sum_observed_rows(squares.T)
    np.testing.assert_allclose(found[0], [small, 1.0 + small], rtol=1e-15)
