import numpy as np
import pytest

from orthonmf.steps.grouping import group_by_angle
from orthonmf.steps.weight_reduction import (
    cosine_slack,
    pairs_above_band,
    pairs_in_band,
    pairwise_cosines,
    reduce_weights,
)


@pytest.mark.parametrize("seed", range(60))
def test_close_is_an_equivalence_after_weight_reduction(seed):
    rng = np.random.default_rng(seed)
    k, m = int(rng.integers(2, 40)), int(rng.integers(2, 6))
    centers = rng.exponential(size=(k, m)) ** rng.integers(1, 5)
    slack = cosine_slack(m)
    cosines = pairwise_cosines(centers)
    pairs = rng.permutation(pairs_in_band(cosines, slack))
    weights = reduce_weights(rng.exponential(size=k), [pairs]).weights
    close = pairs_above_band(cosines, slack)
    groups = group_by_angle(weights, close)
    survivors = np.flatnonzero(weights > 0)
    assert np.array_equal(groups < 0, weights == 0)
    is_close = np.eye(k, dtype=bool)
    is_close[tuple(close.T)] = is_close[tuple(close.T[::-1])] = True
    together = groups[survivors][:, None] == groups[survivors][None, :]
    # Every group is a clique, and no close pair is split.
    assert np.array_equal(together, is_close[np.ix_(survivors, survivors)])
