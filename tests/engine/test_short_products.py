"""Float32 is used for whole numbers whose sums of products it holds, and for no others."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from orthonmf.engine.kernels.short_products import FIRST_LOOK, exact_in_float32


def largest_of(X):
    return lambda: float(np.square(X).sum(axis=0).max())


@given(
    seed=st.integers(0, 10**6),
    largest=st.integers(1, 5000),
    n=st.integers(1, 40),
    exponent=st.integers(-30, 20),
)
def test_what_is_called_exact_is(seed, largest, n, exponent):
    whole = np.random.default_rng(seed).integers(0, largest + 1, (n, 6))
    X = np.ldexp(whole.astype(float), exponent)
    if exact_in_float32(X, largest_of(X)):
        short = X.astype(np.float32)
        exact = (whole.T @ whole).astype(float)
        assert np.array_equal(np.ldexp((short.T @ short).astype(float), -2 * exponent), exact)
    else:
        assert np.square(whole).sum(axis=0).max() > 2**24


@pytest.mark.parametrize("unit", [1.0, 0.25, 4.0])
def test_the_limit_is_two_to_the_twenty_four_units(unit):
    X = unit * np.array([[4095.0], [90.0], [9.0], [3.0], [1.0]])
    assert np.square(X / unit).sum() <= 2**24
    assert exact_in_float32(X, largest_of(X))
    too_long = np.vstack([X, [[unit]] * 40])
    assert exact_in_float32(too_long, largest_of(too_long)) is False


@pytest.mark.parametrize("value", [0.1, 1 / 3, 2.0**-1040, 1e300, 1.0 + 2.0**-40])
def test_one_value_that_is_not_whole_is_found_wherever_it_stands(value):
    for place in (0, FIRST_LOOK - 1, FIRST_LOOK, 5000):
        X = np.ones((6000, 1))
        X[place] = value
        assert not exact_in_float32(X, largest_of(X))


def test_nothing_but_zeros_is_exact():
    assert exact_in_float32(np.zeros((3, 2)), lambda: 0.0)
    assert exact_in_float32(np.zeros(0), lambda: 0.0)
