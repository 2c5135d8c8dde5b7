"""All pairs of points: what is proven is true, and near what the multiplier is worth."""

import numpy as np
import pytest

from orthonmf.bounds.all_pairs import METHOD, all_pairs_bound
from orthonmf.bounds.allowance import Allowance
from tests.guarantees.small_matrices import at_most
from tests.oracles.single_factor import best_single_factor_error


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("k", [1, 2, 3])
def test_the_bound_lies_between_the_tail_and_the_optimum(seed, k):
    X = np.random.default_rng(seed).exponential(size=(7, 4))
    total, optimum = float(np.sum(X**2)), best_single_factor_error(X, k)
    found = all_pairs_bound(X @ X.T, k, 4, Allowance(), max_iter=200)
    tail = float(np.sum(np.linalg.svd(X, compute_uv=False)[k:] ** 2))
    assert found.method == METHOD
    assert at_most(found.value, optimum, total)
    assert found.value >= tail * (1.0 - 1e-6)
    if k == 1:
        assert found.value == pytest.approx(optimum, rel=1e-9)


@pytest.mark.parametrize("gram", [np.zeros((4, 4)), np.full((4, 4), np.inf), np.eye(3)])
def test_where_nothing_can_be_proven_the_bound_is_zero(gram):
    assert all_pairs_bound(gram.copy(), 3, 5, Allowance()).value == 0.0
