"""Hardening: exact orthogonality, from any factors, never worse for a further sweep."""

import numpy as np
import pytest
from scipy import sparse

from orthonmf.baselines import Iterate, harden
from orthonmf.datasets import make_planted
from orthonmf.measures import non_orthogonality


def soft_factors(M, k, seed):
    rng = np.random.default_rng(seed)
    return Iterate(rng.exponential(size=(len(M), k)), rng.exponential(size=(k, M.shape[1])))


@pytest.mark.parametrize("seed", range(5))
def test_supports_are_those_of_the_largest_contributions(seed):
    M = make_planted(40, 8, 3, 0.5, random_state=seed).M
    soft = soft_factors(M, 3, seed)
    hardened = harden(M, soft, "samples", sweeps=0)
    contributions = soft.W * np.linalg.norm(soft.A, axis=0)[:, None]
    labels = contributions.argmax(axis=0)
    assert np.array_equal(hardened.W.argmax(axis=0), labels)
    best = sum(np.sum(np.linalg.svd(M[:, labels == s])[1][1:] ** 2) for s in range(3))
    assert hardened.error == pytest.approx(np.sqrt(best), rel=1e-9)


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("orthogonal", ["none", "samples", "both"])
def test_more_sweeps_never_raise_the_error(orthogonal, seed):
    M = make_planted(40, 8, 3, 0.5, random_state=seed).M
    soft = soft_factors(M, 3, seed)
    errors = [harden(M, soft, orthogonal, sweeps=sweeps).error for sweeps in (0, 1, 2, 4, 100)]
    assert np.all(np.diff(errors) <= 1e-6 * errors[0])
    hardened = harden(M, soft, orthogonal)
    assert non_orthogonality(hardened.W) == 0.0
    assert orthogonal != "both" or non_orthogonality(hardened.A.T) == 0.0


def test_the_middle_factor_pairs_rows_with_columns():
    planted = make_planted(60, 20, 3, 0.0, orthogonal="both", random_state=0)
    A, W = planted.A_truth, planted.W_truth
    swapped = np.array([2, 0, 1])
    S = np.zeros((3, 3))
    S[np.arange(3), np.argsort(swapped)] = 1.0
    hardened = harden(A @ W, Iterate(A, W[swapped], S), "both", sweeps=0)
    assert hardened.relative_squared_error <= 1e-14


def test_negative_and_empty_columns_belong_to_no_component_until_they_choose_one():
    M = make_planted(12, 6, 2, 0.1, random_state=0).M
    M[:, 3] = 0
    soft = soft_factors(M, 2, 0)
    W = soft.W.copy()
    W[:, 3], W[:, 5] = 0, -1
    hardened = harden(sparse.csc_array(M), Iterate(soft.A, W), "samples")
    assert not hardened.W[:, 3].any()
    assert hardened.W[:, 5].any()
    assert not harden(M, Iterate(soft.A, W), "samples", sweeps=0).W[:, 5].any()
