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


@pytest.mark.parametrize("value", [0.1, 1 / 3, 2.0**-1040, 1e300, 1.0 + 2.0**-40])
def test_one_value_that_is_not_whole_is_found_wherever_it_stands(value):
    for place in (0, FIRST_LOOK - 1, FIRST_LOOK, 5000):
        X = np.ones((6000, 1))
        X[place] = value
        assert not exact_in_float32(X, largest_of(X))
