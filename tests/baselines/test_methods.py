"""What is known of single methods: fixed points, monotone errors, recovery."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.decomposition import NMF

from orthonmf.baselines import BASELINES, solve
from orthonmf.baselines.methods.multiplicative import update_nmf
from orthonmf.datasets import make_planted
from orthonmf.errors import TooLargeError
from orthonmf.measures import non_orthogonality


@pytest.mark.parametrize("n_iterations", [1, 10, 50])
def test_nmf_is_the_multiplicative_solver_of_scikit_learn(n_iterations):
    rng = np.random.default_rng(0)
    M = rng.exponential(size=(15, 25))
    A, W = rng.uniform(0.1, 1, size=(15, 4)), rng.uniform(0.1, 1, size=(4, 25))
    # There the samples' factor, here W^T, is improved first as well.
    rival = NMF(4, solver="mu", init="custom", tol=0, max_iter=n_iterations)
    rival_W = rival.fit_transform(M.T.copy(), W=W.T.copy(), H=A.T.copy()).T
    for _ in range(n_iterations):
        A, W = update_nmf(M, A, W)
    np.testing.assert_allclose(W, rival_W, rtol=1e-6)
    np.testing.assert_allclose(A, rival.components_.T, rtol=1e-6)


@pytest.mark.parametrize("name", ["nmf", "em-onmf", "em-onmf-seeded", "onmfs", "hals"])
def test_the_error_never_rises_where_that_is_proven(name):
    X = make_planted(60, 10, 3, 0.5, random_state=0).X
    options = {"penalty": 0.0} if name == "hals" else {}
    history = solve(name, X, 3, random_state=0, record_every=1, max_iter=80, **options).history
    assert np.all(np.diff(history.error) <= 1e-10 * history.error[0])


@pytest.mark.parametrize(
    ("name", "limit"),
    [
        ("pnmf", 0.25),
        ("onfs-ding", 0.25),
        ("nhl", 0.25),
        ("onmf-a", 0.25),
        ("hals", 0.6),
        ("em-onmf", 0.0),
        ("em-onmf-seeded", 0.0),
        ("sncp", 1e-6),
        ("ep4orth", 0.0),
        ("onp-mf", 0.02),
    ],
)
def test_the_rows_of_W_become_orthogonal(name, limit):
    X = make_planted(150, 20, 3, 0.3, random_state=0).X
    result = solve(name, X, 3, random_state=0)
    assert result.history.non_orthogonality[-1] <= limit
    plain = solve("nmf", X, 3, random_state=0)
    assert plain.history.non_orthogonality[-1] > result.history.non_orthogonality[-1]


@pytest.mark.parametrize("name", ["onmf-ding-double", "onmf-ding-double-noisy"])
def test_both_factors_of_the_three_become_orthogonal(name):
    planted = make_planted(100, 40, 4, 0.1, orthogonal="both", random_state=1)
    X, truth = planted.X, planted.X_truth
    result = solve(name, X, 4, random_state=0)
    assert result.history.non_orthogonality[-1] <= 0.1
    assert result.history.column_non_orthogonality[-1] <= 0.1
    assert result.error <= np.linalg.norm(X - truth)
    assert result.hardened.error <= np.linalg.norm(X - truth)
    assert non_orthogonality(result.hardened.A.T) == 0.0


@pytest.mark.parametrize(
    ("name", "limit"),
    [
        ("nmf", 1e-3),
        ("pnmf", 1e-3),
        ("onfs-ding", 1e-4),
        ("nhl", 1e-3),
        ("onmf-a", 1e-4),
        ("hals", 1e-20),
        ("em-onmf-seeded", 1e-25),
        ("onmfs", 1e-25),
        ("sncp", 1e-8),
        ("ep4orth", 1e-20),
        ("onp-mf", 1e-4),
    ],
)
def test_planted_factors_without_noise_are_found(name, limit):
    X = make_planted(120, 20, 3, 0.0, random_state=0).X
    result = solve(name, X, 3, random_state=0, max_iter=200 if name == "onmfs" else None)
    assert result.relative_squared_error <= limit
    assert result.hardened.relative_squared_error <= 1e-25


@pytest.mark.slow
@pytest.mark.parametrize("noise", [0.1, 1.0])
def test_onmfs_comes_within_a_thousandth_of_the_best_known_error(noise):
    X = make_planted(50, 10, 2, noise, random_state=0).X
    fits = (solve("em-onmf", X, 2, random_state=start, harden=False) for start in range(10))
    best = min(fit.error for fit in fits)
    result = solve("onmfs", X, 2, random_state=0)
    assert result.error <= 1.001 * best
    assert result.hardened.error <= 1.001 * best


def test_noise_is_refused_for_a_sparse_matrix_too_large_to_fill():
    rows = sparse.csr_array((np.ones(3), ([0, 1, 2], [0, 1, 2])), shape=(1 << 17, 1 << 13))
    with pytest.raises(TooLargeError, match="GiB"):
        solve("onmf-ding-double-noisy", rows, 2, random_state=0)


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in BASELINES if name != "onmf-ding-double-noisy"])
def test_sparse_input_of_a_size_that_could_not_be_filled_works(name):
    rng = np.random.default_rng(0)
    n = 60_000  # a dense 60,000 x 60,000 matrix would need 27 GiB
    rows = sparse.csr_array(
        (rng.exponential(size=3 * n), (np.repeat(np.arange(n), 3), rng.integers(n, size=3 * n))),
        shape=(n, n),
    )
    result = solve(name, rows, 2, random_state=0, max_iter=1, time_limit=1, harden=False)
    assert np.isfinite(result.error)
