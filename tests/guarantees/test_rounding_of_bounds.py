"""What rounding takes from a bound: nothing is proven where everything fits exactly."""

import math

import numpy as np
import pytest

from orthonmf.bounds.all_pairs import all_pairs_bound
from orthonmf.bounds.allowance import Allowance
from orthonmf.bounds.singular_values import tail_from_gram
from tests.guarantees.small_matrices import factorizable, worst_computed_gram

pytestmark = pytest.mark.usefixtures("one_blas_thread")


def tail(gram, k, length):
    return tail_from_gram(gram, k, length).value


def all_pairs(gram, k, length):
    return all_pairs_bound(gram.copy(), k, length, Allowance(), max_iter=40).value


# With how many matrices each is tried: the second one takes longer.
BOUNDS = [(tail, 200), pytest.param(all_pairs, 60, marks=pytest.mark.slow)]


@pytest.mark.parametrize(("bound", "count"), BOUNDS)
def test_exactly_factorizable_matrices_get_no_bound_though_careless_rounding_finds_one(
    bound, count
):
    rng = np.random.default_rng(0)
    careless = 0
    for _ in range(count):
        X = factorizable(rng, 12, 9, 3)
        for points in (X, X.T) if bound is tail else (X,):  # the tail is that of either side
            gram = points @ points.T
            assert bound(gram, 3, points.shape[1]) == 0.0
            careless += np.trace(gram) - np.linalg.eigvalsh(gram)[-3:].sum() > 0.0
    assert careless > count / 8


@pytest.mark.parametrize("inner_length", [10**4, 10**7])
@pytest.mark.parametrize(("bound", "count"), BOUNDS)
def test_the_unluckiest_sums_of_the_stated_length_are_covered(bound, count, inner_length):
    rng = np.random.default_rng(11)
    careless = 0
    for _ in range(count):
        gram = worst_computed_gram(factorizable(rng, 8, 5, 2), inner_length)
        assert bound(gram, 2, inner_length) == 0.0
        careless += bound(gram, 2, 5) > 0.0
    assert careless > count / 2


@pytest.mark.parametrize("exponent", [-500, -400, 400, 500])
@pytest.mark.parametrize("bound", [tail, all_pairs])
def test_scale_does_not_matter(bound, exponent):
    X = np.random.default_rng(8).random((9, 12))
    scaled = np.ldexp(X, exponent)
    at_one = math.ldexp(bound(X @ X.T, 2, 12), 2 * exponent)
    assert bound(scaled @ scaled.T, 2, 12) == pytest.approx(at_one, rel=1e-6)
