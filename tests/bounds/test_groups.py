"""Groups of points: the small proof covers the large one, for any groups and any multiplier."""

from fractions import Fraction

import numpy as np
import pytest
from scipy.sparse import csr_array

import orthonmf
from orthonmf.bounds.allowance import Allowance
from orthonmf.bounds.groups import grouped_bound, length_error
from tests.guarantees.small_matrices import at_most
from tests.oracles.single_factor import best_single_factor_error
from tests.quick_cases import mostly_slow


def some_matrix(rng, n, m, number):
    X = rng.random((n, m))
    if number % 4 == 1:
        X = X * (rng.random((n, m)) < 0.4)
    if number % 4 == 2:
        X = np.repeat(X[: (n + 1) // 2], 2, axis=0)[:n]  # every row twice
    if number % 4 == 3:
        X = rng.random((n, 2)) @ rng.random((2, m))
    return X


@pytest.mark.parametrize("seed", mostly_slow(range(6), quick=2))
@pytest.mark.parametrize("k", [1, 2, 3])
def test_the_bound_is_true_and_at_least_the_tail(seed, k):
    rng = np.random.default_rng(seed)
    for number in range(4):
        X = some_matrix(rng, 8, 3, number)
        total = float(np.sum(X**2))
        bound = grouped_bound(X, X.T @ X, k, Allowance(), n_groups=4, max_iter=30)
        if bound is None:  # no more groups than parts
            continue
        proven = bound.value
        assert at_most(proven, best_single_factor_error(X, k), total)
        tail = float(np.sum(np.linalg.svd(X, compute_uv=False)[k:] ** 2))
        assert proven >= tail * (1 - 1e-4) - 1e-9 * total


def test_dense_and_sparse_rows_prove_the_same():
    X = np.random.default_rng(0).random((60, 8)) * (np.random.default_rng(1).random((60, 8)) < 0.5)
    dense, sparse = (
        grouped_bound(rows, X.T @ X, 3, Allowance(), n_groups=20, max_iter=30)
        for rows in (X, csr_array(X))
    )
    assert sparse.value == pytest.approx(dense.value, rel=1e-6)


def test_duplicated_rows_are_grouped_without_loss():
    rng = np.random.default_rng(3)
    X = rng.random((12, 4))
    many = np.repeat(X, 30, axis=0) / np.sqrt(30.0)
    few = grouped_bound(X, X.T @ X, 3, Allowance(), n_groups=12).value
    bound = grouped_bound(many, many.T @ many, 3, Allowance(), n_groups=60).value
    assert bound == pytest.approx(few, rel=1e-2)


def test_without_time_the_tail_remains():
    X = np.random.default_rng(0).random((200, 10))
    bound = grouped_bound(X, X.T @ X, 3, Allowance(0.0), n_groups=30)
    tail = float(np.sum(np.linalg.svd(X, compute_uv=False)[3:] ** 2))
    assert bound.value == pytest.approx(tail, rel=1e-6)


def test_groups_that_are_no_more_than_the_parts_prove_nothing():
    X = np.ones((50, 1)) @ np.ones((1, 4))
    assert grouped_bound(X, X.T @ X, 3, Allowance(), n_groups=20) is None


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::orthonmf.FewerComponentsWarning")
@pytest.mark.parametrize("case", ["one direction", "six kinds of rows", "more parts than groups"])
def test_a_tight_certificate_of_points_that_fall_into_few_groups(case):
    rng = np.random.default_rng(0)
    if case == "one direction":
        X, k = np.ones((12_000, 20)) + 1e-7 * rng.random((12_000, 20)), 3
        labels = rng.integers(3, size=len(X))
    elif case == "six kinds of rows":
        k, labels = 8, rng.integers(6, size=12_000)
        X = rng.random((6, 20))[labels]
    else:
        X, k = rng.random((1000, 30)), 425
        labels = rng.integers(425, size=len(X))
    certificate = orthonmf.certify(X, labels, n_components=k, seconds=0.2).certificate
    assert certificate.ratio is None or certificate.ratio >= 1


@pytest.mark.parametrize("seed", range(5))
def test_the_error_of_lengths_covers_the_exact_one(seed):
    rng = np.random.default_rng(seed)
    groups = np.zeros((50, 6))
    groups[np.arange(50), rng.integers(6, size=50)] = rng.random(50)
    groups /= np.linalg.norm(groups, axis=0) * (1.0 + rng.choice([0.0, 1e-6]) * rng.random(6))
    exact = [sum(Fraction(float(x)) ** 2 for x in column) for column in groups.T]
    # |sqrt(s) - 1| <= |s - 1|
    worst = max(abs(square - 1) for square in exact)
    assert worst <= Fraction(length_error(groups)) <= worst + Fraction(1, 10**13)
