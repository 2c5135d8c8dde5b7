"""The tight bound over one side: never above the optimum, at least the tail, close."""

import numpy as np
import pytest

from orthonmf.bounds.all_pairs import all_pairs_bound
from orthonmf.bounds.allowance import Allowance
from orthonmf.bounds.singular_values import tail_from_gram
from orthonmf.bounds.table import sum_of_batches
from tests.guarantees.small_matrices import at_most, small_matrices
from tests.oracles.single_factor import best_single_factor_error, squared_error_of_partition

# All together take long.
pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("one_blas_thread")]


def planted(n, m, k, noise, seed):
    rng = np.random.default_rng(seed)
    labels = rng.integers(k, size=n)
    X = rng.exponential(size=(k, m))[labels] * rng.exponential(size=n)[:, None]
    return X + noise * rng.exponential(size=X.shape), labels


def bound(gram, k, length, **options):
    return all_pairs_bound(gram.copy(), k, length, Allowance(), **options).value


@pytest.mark.parametrize("k", [1, 2, 3])
def test_the_bound_never_exceeds_the_optimum_and_beats_the_tail(k):
    rng = np.random.default_rng(k)
    for X in small_matrices(rng, 6, 4, 40):
        gram, total = X @ X.T, float(np.sum(X**2))
        proven = bound(gram, k, 4, max_iter=40)
        assert at_most(proven, best_single_factor_error(X, k), total)
        assert proven >= tail_from_gram(gram, k, 4).value * (1 - 1e-6) - 1e-12 * total


@pytest.mark.parametrize("gram", [np.zeros((4, 4)), np.full((4, 4), np.inf), np.eye(3)])
def test_where_nothing_can_be_proven_the_bound_is_zero(gram):
    assert bound(gram, 3, 5) == 0.0


def test_without_time_the_tail_remains_and_it_is_told_why():
    X, _ = planted(40, 20, 3, 0.5, seed=1)
    allowance = Allowance(0.0)
    proven = all_pairs_bound(X @ X.T, 3, 20, allowance)
    assert proven.value == pytest.approx(tail_from_gram(X @ X.T, 3, 20).value, rel=1e-9)
    assert allowance.tell("this").endswith("; the search was stopped by its time limit")


def test_the_same_matrix_gives_the_same_bits():
    X, _ = planted(600, 30, 4, 0.5, seed=1)
    first, second = (all_pairs_bound(X @ X.T, 4, 30, Allowance(), max_iter=30) for _ in range(2))
    assert first == second


def test_the_bound_is_that_of_the_relaxation_and_often_the_optimum_itself():
    rng = np.random.default_rng(0)
    ratios = []
    for _ in range(40):
        X = rng.exponential(size=(7, 4))
        optimum = best_single_factor_error(X, 2)
        ratios.append(optimum / bound(X @ X.T, 2, 4))
    print("optimum / bound:", np.quantile(ratios, [0.0, 0.25, 0.5, 0.9, 1.0]))
    assert min(ratios) >= 1.0
    # What is left is the gap of the relaxation: other penalties converge to the same values.
    assert np.quantile(ratios, 0.25) <= 1 + 1e-4
    assert np.median(ratios) <= 1.005
    assert max(ratios) <= 1.1


@pytest.mark.parametrize("noise", [0.1, 1.0])
def test_the_bound_is_within_two_percent_on_planted_data(noise):
    X, labels = planted(80, 40, 5, noise, seed=0)
    for _ in range(30):  # Lloyd's iterations on lines, from the planted labels
        tops = [np.linalg.svd(X[labels == s], full_matrices=False)[2][0] for s in range(5)]
        labels = np.abs(X @ np.array(tops).T).argmax(axis=1)
    error = squared_error_of_partition(X, labels)
    proven = bound(X @ X.T, 5, 40, upper=error)
    print(f"noise {noise}: error / bound {error / proven:.4f}")
    assert proven <= error <= 1.02 * proven
    assert tail_from_gram(X @ X.T, 5, 40).value < proven


@pytest.mark.parametrize("seed", range(12))
def test_batches_of_rows_add_up_to_a_bound_for_all(seed):
    rng = np.random.default_rng(seed)
    X = next(small_matrices(rng, 8, 4, 1)) if seed % 2 else rng.exponential(size=(8, 4))
    halves = np.array_split(rng.permutation(8), 2)
    grams = [lambda half=half: X[half] @ X[half].T for half in halves]
    proven = sum_of_batches(grams, 2, 4, Allowance()).value
    assert at_most(proven, best_single_factor_error(X, 2), float(np.sum(X**2)))
    parts = sum(best_single_factor_error(X[half], 2) for half in halves)
    assert proven >= 0.5 * parts
