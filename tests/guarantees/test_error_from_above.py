"""The bound on the error of stored factors holds whatever the lengths of the components."""

from fractions import Fraction

import numpy as np
import pytest

from orthonmf.rounding import captured_error_upper_bound, error_upper_bound
from tests.oracles.exact import exact_error


@pytest.mark.parametrize("off", [0.0, 1e-15, -1e-15, 1e-12, -1e-12, 1e-9, 1e-3])
def test_components_that_are_not_quite_of_unit_length_are_paid_for(off):
    for seed in range(100):
        rng = np.random.default_rng(seed)
        n, m = rng.integers(1, 6, 2)
        component = rng.exponential(size=m)
        component *= np.sqrt(1 + off) / np.linalg.norm(component)
        near = 10.0 ** rng.uniform(-9, 0)
        X = np.outer(rng.exponential(size=n), component) * (1 + near * rng.random((n, m)))
        scales = X @ component
        total = float(np.square(X).sum())
        squared = max(0.0, total - float(np.square(scales).sum()))
        bound = captured_error_upper_bound(
            squared, total, (n, m), np.array([component @ component])
        )
        assert exact_error(X, scales[:, None], component[None]) <= Fraction(bound)


@pytest.mark.parametrize("exponent", [-500, -300, 0, 200])
def test_squares_that_underflow_are_paid_for(exponent):
    for seed in range(50):
        rng = np.random.default_rng(seed)
        component = rng.exponential(size=4)
        component /= np.linalg.norm(component)
        X = np.ldexp(np.outer(rng.exponential(size=3), component), exponent)
        X *= 1 + 2.0 ** -float(rng.integers(0, 52)) * rng.random(X.shape)
        scales = X @ component
        squared = float(np.square(X - np.outer(scales, component)).sum())
        bound = error_upper_bound(squared, float(np.square(X).sum()), X.size)
        assert exact_error(X, scales[:, None], component[None]) <= Fraction(bound)
