"""The exact oracle agrees with the one of singular values where that one can be trusted."""

from fractions import Fraction

import numpy as np
import pytest

from tests.oracles.double_factor import best_double_factor_error
from tests.oracles.exact import exact_error, exact_total, smallest_error
from tests.oracles.single_factor import best_single_factor_error


@pytest.mark.parametrize("seed", range(6))
def test_smallest_errors_agree_with_singular_values(seed):
    rng = np.random.default_rng(seed)
    X = rng.exponential(size=(4, 3)) * (rng.random((4, 3)) < 0.8)
    rows, columns = rng.exponential(size=4), rng.exponential(size=3)
    Y = X * np.sqrt(rows)[:, None] * np.sqrt(columns)
    for k in (1, 2):
        for orthogonal, expected in (
            ("samples", best_single_factor_error(Y, k)),
            ("features", best_single_factor_error(Y.T, k)),
            ("both", best_double_factor_error(Y, k)),
        ):
            found = smallest_error(X, k, orthogonal, rows, columns)
            assert float(found) == pytest.approx(expected, abs=1e-12 * np.sum(Y**2))


@pytest.mark.slow
def test_multiple_eigenvalues_and_exact_fits_are_exact():
    assert smallest_error(np.eye(4), 3, "samples") == pytest.approx(1, abs=1e-50)
    assert smallest_error(np.outer([1.0, 2, 3], [3.0, 1]), 1, "features") <= 1e-50
    assert exact_total(np.array([[2.0**-600]])) == Fraction(1, 2**1200)
    assert exact_error(np.array([[0.1]]), np.array([[0.3]]), np.array([[1 / 3]])) > 0
