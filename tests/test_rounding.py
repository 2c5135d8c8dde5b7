"""What rounding may have done, against exact fractions."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from orthonmf.rounding import (
    SMALLEST,
    UNIT_ROUNDOFF,
    growth,
    norm_from_above,
    round_down,
    round_up,
    safe_exponent,
    scale_back,
    symmetric,
)

SIZES = st.floats(1e-100, 1e100)


@given(st.lists(SIZES, min_size=1, max_size=40), st.lists(SIZES, min_size=40, max_size=40))
def test_sums_of_products_lie_between_what_is_rounded_down_and_up(left, right):
    right = right[: len(left)]
    computed = float(np.dot(left, right))
    exact = sum(Fraction(a) * Fraction(b) for a, b in zip(left, right, strict=True))
    assert Fraction(round_down(computed, len(left))) <= exact
    assert exact <= Fraction(round_up(computed, len(left)))


@pytest.mark.parametrize("operations", [0, 1, 10**3, 10**9])
def test_growth_is_at_least_the_classical_bound_and_little_more(operations):
    share = Fraction(operations) * Fraction(UNIT_ROUNDOFF)
    assert Fraction(growth(operations)) >= share / (1 - share)
    assert growth(operations) <= 1.001 * (operations + 1) * UNIT_ROUNDOFF


def test_growth_says_when_nothing_is_known():
    assert growth(2.0**52) == math.inf
    assert round_down(1.0, 2.0**52) == 0.0
    assert growth(2.0**24, 2.0**-24) == math.inf


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("seed", range(5))
def test_a_norm_is_never_below_the_exact_one(seed, dtype):
    array = np.random.default_rng(seed).standard_normal((7, 9)).astype(dtype)
    exact = sum(Fraction(float(x)) ** 2 for x in array.ravel())
    assert exact <= Fraction(norm_from_above(array)) ** 2 <= exact * Fraction(1 + 1e-12)


@pytest.mark.parametrize(
    ("largest", "expected"), [(1.0, 0), (2.0**299, 0), (2.0**-300, 0), (2.0**310, 311)]
)
def test_only_what_is_far_from_one_is_scaled(largest, expected):
    assert safe_exponent(largest) == expected
    tiny = safe_exponent(2.0**-400)
    assert 0.5 <= math.ldexp(2.0**-400, -tiny) < 1.0


def test_what_underflow_may_have_added_is_taken_back():
    assert scale_back(3.0, 10, 5) == 3.0 * 2.0**10
    assert scale_back(-1.0, 10, 5) == scale_back(math.nan, 0, 5) == 0.0
    assert scale_back(1.0, -1070, 0) == 2.0**-1070 - 4.0 * SMALLEST
    assert scale_back(1.0, -1070, 100) == 0.0


@pytest.mark.parametrize("n", [1, 5, 64, 65, 200])
def test_the_larger_of_two_mates_is_taken_wherever_they_differ(n):
    rng = np.random.default_rng(n)
    matrix = rng.random((n, n))
    matrix = np.maximum(matrix, matrix.T)
    assert symmetric(matrix) is matrix
    if n > 1:
        for i, j in ((0, n - 1), (n - 1, 0), (n // 2, n // 2 - 1)):
            other = matrix.copy()
            other[i, j] = np.nextafter(other[i, j], 2.0)
            larger = symmetric(other)
            assert larger[i, j] == larger[j, i] == other[i, j]
            assert (larger == larger.T).all()
