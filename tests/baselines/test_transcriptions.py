"""Every update against its formula, written out plainly with K = M^T M and explicit loops."""

import numpy as np
import pytest

from orthonmf.baselines.methods import ding_double, em_onmf, hals, multiplicative, sncp
from orthonmf.baselines.methods.onmfs import local_step
from orthonmf.datasets import make_planted


def random_problem(seed, m=6, n=9, k=3):
    rng = np.random.default_rng(seed)
    M = rng.exponential(size=(m, n))
    return M, rng.uniform(0.1, 1, size=(m, k)), rng.uniform(0.1, 1, size=(k, n))


def plain_nmf(M, A, W):
    W = W * (A.T @ M) / (A.T @ A @ W)
    return A * (M @ W.T) / (A @ W @ W.T), W


def plain_onfs_ding(M, A, W):
    W = W * np.sqrt((A.T @ M) / (A.T @ M @ W.T @ W))
    return A * (M @ W.T) / (A @ W @ W.T), W


def plain_onmf_a(M, A, W):
    W = W * (A.T @ M) / (W @ M.T @ A @ W)
    W = W / np.linalg.norm(W, ord=2)
    return A * (M @ W.T) / (A @ W @ W.T), W


def plain_pnmf(M, A, W):
    K, V = M.T @ M, W.T
    V = V * (2 * K @ V) / (V @ V.T @ K @ V + K @ V @ V.T @ V)
    V = V / np.linalg.norm(V, ord=2)
    return M @ V, V.T


def plain_nhl(M, A, W):
    K, V = M.T @ M, W.T
    V = V * (K @ V) / (V @ V.T @ K @ V)
    V = V / np.linalg.norm(V, ord=2)
    return M @ V, V.T


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize(
    ("update", "plain", "projective"),
    [
        (multiplicative.update_nmf, plain_nmf, False),
        (multiplicative.update_onfs_ding, plain_onfs_ding, False),
        (multiplicative.update_onmf_a, plain_onmf_a, False),
        (multiplicative.update_pnmf, plain_pnmf, True),
        (multiplicative.update_nhl, plain_nhl, True),
    ],
)
def test_twelve_iterations_agree_with_the_formula(update, plain, projective, seed):
    M, A, W = random_problem(seed)
    if projective:
        A = M @ W.T
    expected_A, expected_W = A, W
    for _ in range(12):
        A, W = update(M, A, W)
        expected_A, expected_W = plain(M, expected_A, expected_W)
    np.testing.assert_allclose(A, expected_A, rtol=1e-9)
    np.testing.assert_allclose(W, expected_W, rtol=1e-9)


@pytest.mark.parametrize("seed", range(3))
def test_the_three_factor_update_agrees_with_the_formula(seed):
    M, A, W = random_problem(seed)
    S = np.random.default_rng(seed).uniform(0.1, 1, size=(3, 3))
    plain_A, plain_S, plain_W = A, S, W
    for _ in range(12):
        A, W, S = ding_double.update(M, A, W, S)
        half = M @ plain_W.T @ plain_S.T
        plain_A = plain_A * np.sqrt(half / (plain_A @ plain_A.T @ half))
        half = plain_S.T @ plain_A.T @ M
        plain_W = plain_W * np.sqrt(half / (half @ plain_W.T @ plain_W))
        plain_S = plain_S * np.sqrt(
            (plain_A.T @ M @ plain_W.T) / (plain_A.T @ plain_A @ plain_S @ plain_W @ plain_W.T)
        )
    np.testing.assert_allclose(A, plain_A, rtol=1e-9)
    np.testing.assert_allclose(S, plain_S, rtol=1e-9)
    np.testing.assert_allclose(W, plain_W, rtol=1e-9)


def plain_hals(M, A, W, penalty, inner_sweeps):
    A, W = A.copy(), W.copy()
    k = W.shape[0]
    for _ in range(inner_sweeps):
        for s in range(k):
            rest = M - A @ W + np.outer(A[:, s], W[s])  # what the other components leave
            A[:, s] = np.maximum(rest @ W[s] / (W[s] @ W[s]), 0)
    weight = penalty * np.mean(np.sum(A**2, axis=0))
    for _ in range(inner_sweeps):
        for s in range(k):
            rest = M - A @ W + np.outer(A[:, s], W[s])
            others = W.sum(axis=0) - W[s]
            W[s] = np.maximum((A[:, s] @ rest - weight * others) / (A[:, s] @ A[:, s]), 0)
    lengths = np.linalg.norm(W, axis=1)
    return A * lengths, W / lengths[:, None]


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("penalty", [0.0, 0.003, 0.02])
def test_hals_agrees_with_residuals_formed_in_full(seed, penalty):
    M, A, W = random_problem(seed)
    expected_A, expected_W = A, W
    for _ in range(5):
        A, W = hals.update(M, A, W, penalty, 5)
        expected_A, expected_W = plain_hals(M, expected_A, expected_W, penalty, 5)
    np.testing.assert_allclose(A, expected_A, rtol=1e-7, atol=1e-9)
    np.testing.assert_allclose(W, expected_W, rtol=1e-7, atol=1e-9)


@pytest.mark.parametrize("seed", range(3))
def test_sncp_steps_follow_the_gradient_of_the_penalized_error(seed):
    M, A, W = random_problem(seed)
    penalty = 0.3

    def penalized(W):
        overlaps = np.sum(W.sum(axis=0) ** 2 - np.sum(W**2, axis=0))
        return 0.5 * np.linalg.norm(M - A @ W) ** 2 + 0.5 * penalty * overlaps

    gradient = np.zeros_like(W)
    for place in np.ndindex(*W.shape):
        nudge = np.zeros_like(W)
        nudge[place] = 1e-5
        gradient[place] = (penalized(W + nudge) - penalized(W - nudge)) / 2e-5
    hessian = A.T @ A + penalty * (np.ones((3, 3)) - np.eye(3))
    expected = np.maximum(W - gradient / (0.51 * np.linalg.eigvalsh(hessian)[-1]), 0)
    np.testing.assert_allclose(sncp.step_W(M, A, W, penalty), expected, atol=1e-7)
    curvature = 0.51 * np.linalg.norm(W @ W.T, ord=2)
    expected = np.maximum(A - (A @ W - M) @ W.T / curvature, 0)
    np.testing.assert_allclose(sncp.step_A(M, A, W), expected, atol=1e-12)


@pytest.mark.parametrize("seed", range(5))
def test_em_agrees_with_singular_vectors_of_every_block(seed):
    M = make_planted(40, 6, 3, 1.0, random_state=seed).M
    M /= M.max()
    rng = np.random.default_rng(seed)
    iterates = em_onmf.iterates(M, 3, rng=rng, tol=0.0)
    labels = np.random.default_rng(seed).integers(3, size=40)
    for iterate, _ in zip(iterates, range(6), strict=False):
        for s in range(3):
            top = np.abs(np.linalg.svd(M[:, labels == s])[0][:, 0])
            np.testing.assert_allclose(iterate.A[:, s], top, atol=1e-6)
            expected = np.where(labels == s, top @ M, 0)
            np.testing.assert_allclose(iterate.W[s], expected, atol=1e-6)
        labels = (iterate.A.T @ M).argmax(axis=0)


@pytest.mark.parametrize("seed", range(5))
def test_the_local_step_of_onmfs_is_exact(seed):
    rng = np.random.default_rng(seed)
    B = rng.standard_normal((7, 2))
    labels, entries = local_step(B)
    captured = sum(
        np.sum(entries[labels == s] * np.abs(B[labels == s, s])) ** 2
        / max(np.sum(entries[labels == s] ** 2), 1e-300)
        for s in range(2)
    )
    best = 0.0
    for code in range(3**7):  # every row in the support of the first, of the second, or of none
        owner = np.array([code // 3**i % 3 for i in range(7)])
        value = 0.0
        for s in range(2):
            column = B[owner == s, s]
            value += max(np.sum(np.maximum(column, 0) ** 2), np.sum(np.maximum(-column, 0) ** 2))
        best = max(best, value)
    assert captured == pytest.approx(best, rel=1e-12)
