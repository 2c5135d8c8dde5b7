"""Features that make a component different, against their definition."""

import numpy as np
import pytest

from orthonmf.numerics.distinctive import compare_weights, distinctive_columns


@pytest.mark.parametrize("k", [1, 2, 5])
def test_what_is_ahead_is_the_weight_less_the_largest_elsewhere(k):
    weights = np.random.default_rng(k).random((k, 9)) * (np.arange(9) % 3 > 0)
    ahead = compare_weights(weights)
    for s in range(k):
        others = np.delete(weights, s, axis=0)
        elsewhere = others.max(axis=0) if k > 1 else np.zeros(9)
        np.testing.assert_array_equal(ahead[s], weights[s] - elsewhere)


def test_a_feature_that_all_components_share_comes_last():
    weights = np.array([[0.9, 0.4, 0.1, 0.0], [0.9, 0.0, 0.0, 0.3]])
    ahead = compare_weights(weights)
    assert distinctive_columns(weights[0], ahead[0], 3).tolist() == [1, 2, 0]
    assert distinctive_columns(weights[1], ahead[1], 9).tolist() == [3, 0]


def test_features_without_weight_are_left_out_of_many():
    weights = np.zeros((2, 50))
    weights[0, 40:], weights[1] = 0.1, 0.5
    ahead = compare_weights(weights)  # below zero for all ten, zero weight ahead of none
    found = distinctive_columns(weights[0], ahead[0], 4)
    assert len(found) == 4
    assert (weights[0, found] > 0).all()
