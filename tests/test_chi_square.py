"""Weights of one over the sums of rows and columns."""

import numpy as np
import pytest
from scipy.sparse import csr_array

import orthonmf
from orthonmf.errors import InvalidInputError


@pytest.mark.parametrize("store", [np.asarray, csr_array, lambda X: X.astype(np.float32)])
def test_weights_are_one_over_sums_and_zero_where_these_are(store):
    X = np.random.default_rng(0).integers(0, 4, (30, 20)).astype(float)
    X[3], X[:, 7] = 0.0, 0.0
    rows, columns = orthonmf.chi_square_weights(store(X))
    used = np.delete(np.arange(30), 3)
    np.testing.assert_allclose(rows[used] * X.sum(axis=1)[used], 1.0)
    used = np.delete(np.arange(20), 7)
    np.testing.assert_allclose(columns[used] * X.sum(axis=0)[used], 1.0)
    assert rows[3] == columns[7] == 0.0


@pytest.mark.parametrize("power", [900, -900])
def test_powers_of_two_are_divided_out(power):
    X = np.random.default_rng(2).random((6, 5))
    plain, scaled = orthonmf.chi_square_weights(X), orthonmf.chi_square_weights(np.ldexp(X, power))
    for weights, lighter in zip(plain, scaled, strict=True):
        assert np.array_equal(np.ldexp(weights, -power), lighter)


def test_what_has_no_weights_is_refused():
    with pytest.raises(InvalidInputError, match="zero everywhere"):
        orthonmf.chi_square_weights(np.zeros((3, 3)))
    with pytest.raises(InvalidInputError, match="sum of row 0 does not fit"):
        orthonmf.chi_square_weights(np.full((2, 2), 1e-310))
