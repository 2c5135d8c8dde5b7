"""The tail of the singular values: never above the optimum, tight, and sound under rounding."""

import numpy as np
import pytest

from orthonmf.bounds import eigenvalues, semidefinite
from orthonmf.bounds.eigenvalues import Eigenpairs, top_sum_upper_bound
from orthonmf.bounds.singular_values import tail_from_gram
from tests.guarantees.small_matrices import at_most, small_matrices
from tests.oracles.single_factor import best_single_factor_error

pytestmark = pytest.mark.usefixtures("one_blas_thread")


def unguarded_tail(gram, k):
    return float(np.trace(gram) - np.linalg.eigvalsh(gram)[len(gram) - k :].sum())


@pytest.mark.slow
@pytest.mark.parametrize("k", [1, 2, 3])
def test_the_tail_never_exceeds_the_optimum(k):
    rng = np.random.default_rng(k)
    for X in small_matrices(rng, 6, 4, 100):
        optimum, total = best_single_factor_error(X, k), float(np.sum(X**2))
        for gram, length in ((X @ X.T, 4), (X.T @ X, 6)):
            assert at_most(tail_from_gram(gram, k, length).value, optimum, total)


@pytest.mark.parametrize("k", [3, 20])
@pytest.mark.parametrize("kind", ["noise", "identity", "blocks", "sparse", "planted"])
def test_iterations_for_large_sides_agree_with_the_direct_eigenproblem(kind, k, monkeypatch):
    monkeypatch.setattr(eigenvalues, "DIRECT_SIDE", 100)
    rng = np.random.default_rng(2)
    X = {
        "noise": lambda: rng.random((400, 150)),
        "identity": lambda: np.eye(400),
        "blocks": lambda: np.kron(np.eye(20), np.ones((20, 10))),
        "sparse": lambda: (rng.random((400, 200)) < 0.03) * 1.0,
        "planted": lambda: (
            rng.random((10, 150))[rng.integers(10, size=400)] + 0.1 * rng.random((400, 150))
        ),
    }[kind]()
    gram = X @ X.T
    exact = unguarded_tail(gram, k)
    rounding = 1e-11 * np.trace(gram)
    tight = tail_from_gram(gram, k, X.shape[1]).value
    assert exact * (1 - 5e-3) - rounding <= tight <= exact + rounding


def test_a_wrong_factor_costs_tightness_never_truth(monkeypatch):
    rng = np.random.default_rng(12)

    def wrong_cholesky(matrix, **options):
        return np.tril(rng.standard_normal(matrix.shape)) * 10.0 ** rng.uniform(-3, 1)

    monkeypatch.setattr(semidefinite, "cholesky", wrong_cholesky)
    for _ in range(100):
        X = rng.exponential(size=(7, 7))
        gram = X @ X.T
        vectors = np.linalg.qr(rng.standard_normal((7, 3)))[0]
        # Values far too small: the matrix that should be semidefinite is not.
        values = np.sort(rng.random(3))[::-1] * 1e-3
        bound = top_sum_upper_bound(gram, 2, Eigenpairs(values, vectors, 1e-18 * np.eye(3)))
        assert np.isfinite(bound)
        assert bound >= np.linalg.eigvalsh(gram)[-2:].sum()


def test_the_proven_sum_is_as_good_as_the_eigenvalues_whatever_the_gap():
    rng = np.random.default_rng(10)
    for _ in range(100):
        p = int(rng.integers(3, 40))
        k = int(rng.integers(1, p))
        rotation = np.linalg.qr(rng.standard_normal((p, p)))[0]
        values = np.sort(10.0 ** rng.uniform(-3, 3, p))[::-1]
        if rng.random() < 0.5:
            values[k - 1 : k + 1] = values[k - 1]  # no gap
        B = (rotation * values) @ rotation.T
        B = np.maximum(B, B.T)
        top = np.linalg.eigvalsh(B)[p - k :].sum()
        bound = top_sum_upper_bound(B, k)
        assert top * (1 - 1e-13) <= bound <= top + 1e-11 * k * values[0]


def test_a_proposal_from_below_alone_would_break_the_bound():
    X = np.random.default_rng(4).random((300, 400))
    gram = X @ X.T
    start = np.linalg.qr(np.random.default_rng(5).standard_normal((300, 14)))[0]
    ritz_values = np.linalg.eigvalsh(start.T @ gram @ start)[-6:]
    exact = unguarded_tail(gram, 6)
    assert np.trace(gram) - ritz_values.sum() > exact * 1.01
    assert tail_from_gram(gram, 6, 400).value <= exact


def test_mates_that_differ_in_the_last_bits_are_allowed():
    X = np.random.default_rng(6).random((20, 30))
    gram = X @ X.T
    noisy = gram * (1.0 + 2.0**-52 * np.random.default_rng(7).integers(-2, 3, gram.shape))
    exact = unguarded_tail(gram, 3)
    assert 0.9 * exact < tail_from_gram(noisy, 3, 30).value <= exact
