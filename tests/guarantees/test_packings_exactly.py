"""Packings in floating point against smallest errors without any rounding."""

from fractions import Fraction

import numpy as np
import pytest
from scipy.sparse import csr_array

import orthonmf
from orthonmf.bounds.pairs import pair_packing_bound
from orthonmf.engine.points import Samples, columns_of
from orthonmf.inputs.data import as_matrix
from orthonmf.onmf.heaviest_classes import factorize_heaviest
from tests.guarantees.small_matrices import small_matrices
from tests.oracles.exact import exact_error, exact_total, smallest_error

pytestmark = pytest.mark.filterwarnings("ignore::orthonmf.FewerComponentsWarning")


def awkward(seed):
    """A tiny matrix whose rows lie far apart, some parallel, some nearly too small for a double."""
    rng = np.random.default_rng(seed)
    n, m = (2, 2) if seed % 3 else (4, 3)
    X = rng.exponential(size=(n, m))
    X[rng.random((n, m)) < 0.2] = 0.0
    if seed % 2:
        X[-1] = X[0] * rng.choice([1.0, 3.0, 1 / 3])
    scales = rng.choice([0, 0, -530, -534, -536, -538, -500, 500, -520])
    return np.ldexp(X, np.where(rng.random(n) < 0.6, scales, 0)[:, None]), rng


def packings(X, rows=None, columns=None):
    """Bounds of every kind on the weighted squared error, exactly as fits use them."""
    matrix = as_matrix(X, sample_weight=rows, feature_weight=columns)
    unit = Fraction(2) ** (2 * (matrix.exponent + matrix._weight_power))
    sides = [Samples(matrix), columns_of(matrix)]
    bounds = [pair_packing_bound(side.coordinates(), side.weights).value for side in sides]
    for whole in (matrix.whole(), matrix.whole(transposed=True)):
        bounds += [factorize_heaviest(whole).lower_bound]
        bounds += [factorize_heaviest(csr_array(whole)).lower_bound]
    return [Fraction(value) * unit for value in bounds]


@pytest.mark.slow
@pytest.mark.parametrize("weighted", [False, True])
def test_packings_of_rows_near_underflow_never_exceed_the_smallest_error(weighted):
    positive = 0
    for seed in range(50):
        X, rng = awkward(seed)
        weights = [rng.exponential(size=side) if weighted else None for side in X.shape]
        if weighted and seed % 5 == 0:
            weights[0][0], weights[1][0] = 2.0**-380, 2.0**-380
        rows, columns = weights
        if not as_matrix(X, sample_weight=rows, feature_weight=columns).total > 0:
            continue
        smallest = smallest_error(X, min(X.shape), "both", rows, columns)
        ceiling = smallest + exact_total(X, rows, columns) / 2**2590
        for value in packings(X, rows, columns):
            positive += value > 0
            assert value <= ceiling, seed
    assert positive > 25


@pytest.mark.slow
@pytest.mark.parametrize("shape", [(3, 3), (4, 3)])
def test_packings_of_rows_of_every_kind_never_exceed_the_smallest_error(shape):
    for X in small_matrices(np.random.default_rng(0), *shape, 10):
        smallest = smallest_error(X, min(X.shape), "both")
        assert all(value <= smallest for value in packings(X))


@pytest.mark.parametrize("significand", [1.2, 1.4, 2.0])
@pytest.mark.parametrize("exponent", [-536, -537, -538])
def test_rows_whose_squared_lengths_lost_their_digits_cost_nothing(significand, exponent):
    """Parallel rows, one with a wrong length: neither angle nor weight of it may be believed."""
    X = np.ones((3, 60))
    X[1] = np.ldexp(significand, exponent)
    X[2, :30] = 0.0
    X[0, 30:] = 0.0
    X[1, 30:] = 0.0
    assert all(value == 0 for value in packings(X))
    assert all(value == 0 for value in packings(X.T))


@pytest.mark.slow
@pytest.mark.parametrize("exponent", [-1000, -300, 500])
def test_scales_of_the_whole_matrix_change_no_claim(exponent):
    for seed in range(4):
        X = np.random.default_rng(seed).exponential(size=(3, 3))
        plain = orthonmf.factorize(X, 3, orthogonal="both", algorithm="paper", random_state=0)
        moved = np.ldexp(X, exponent)
        again = orthonmf.factorize(moved, 3, orthogonal="both", algorithm="paper", random_state=0)
        bound = again.certificate.lower_bound
        assert bound == pytest.approx(plain.certificate.lower_bound, rel=1e-12)
        total, smallest = exact_total(moved), smallest_error(moved, 3, "both")
        assert Fraction(bound) * total <= smallest
        error = exact_error(moved, again.loadings, again.components)
        assert error <= Fraction(again.certificate.ratio) * smallest
