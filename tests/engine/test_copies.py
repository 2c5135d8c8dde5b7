"""Shuffled copies hold the same numbers, column by column, in places that are all as likely."""

import numpy as np
import pytest

from orthonmf.engine.copies import permute_columns
from tests.arrays import to_array
from tests.engine.weighted import STORES

FORMS = list(STORES.values())


@pytest.mark.parametrize("form", FORMS)
def test_permuted_columns_keep_the_numbers_of_every_column(form):
    rng = np.random.default_rng(0)
    data = rng.exponential(size=(50, 8)) * (rng.random((50, 8)) < 0.5)
    data[:, 3] = 0.0
    given = form(data.copy())
    permuted = permute_columns(given, rng)
    np.testing.assert_array_equal(np.sort(to_array(permuted), axis=0), np.sort(data, axis=0))
    assert not np.array_equal(to_array(permuted), data)
    np.testing.assert_array_equal(to_array(given), data)


@pytest.mark.parametrize("form", FORMS)
def test_every_order_of_a_column_is_as_likely_and_columns_do_not_go_together(form):
    n = 3600
    data = np.repeat([[1.0], [2.0], [0.0]], n, axis=1)
    permuted = to_array(permute_columns(form(data), np.random.default_rng(1)))
    orders, counts = np.unique(permuted, axis=1, return_counts=True)
    assert orders.shape == (3, 6)
    together = (permuted[:, 1:] == permuted[:, :-1]).all(axis=0).sum()
    # Six standard deviations of a count of chance 1/6.
    assert np.abs(np.append(counts, together) - n / 6).max() < 6 * np.sqrt(n * 5 / 36)
