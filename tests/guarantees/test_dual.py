"""The dual bound: never above the optimum, at least the tail, close on planted data."""

import numpy as np
import pytest
from threadpoolctl import threadpool_limits

from orthant.bounds.dual import dual_bound, dual_bound_in_batches
from orthant.bounds.singular_values import tail_from_gram
from tests.guarantees.small_matrices import (
    at_most,
    factorizable,
    small_matrices,
    worst_computed_gram,
)
from tests.oracles.single_factor import best_single_factor_error, squared_error_of_partition


@pytest.fixture(autouse=True, scope="module")
def _one_thread():
    with threadpool_limits(1):
        yield


def planted(n, m, k, noise, seed):
    rng = np.random.default_rng(seed)
    labels = rng.integers(k, size=n)
    X = rng.exponential(size=(k, m))[labels] * rng.exponential(size=n)[:, None]
    return X + noise * rng.exponential(size=X.shape), labels


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize("k", [1, 2, 3])
def test_the_dual_bound_never_exceeds_the_optimum_and_beats_the_tail(seed, k):
    rng = np.random.default_rng(seed)
    for X in small_matrices(rng, 6, 4, 40):
        gram, total = X @ X.T, float(np.sum(X**2))
        dual = dual_bound(gram, k, 4, max_iter=60).value
        assert at_most(dual, best_single_factor_error(X, k), total)
        assert dual >= tail_from_gram(gram, k, 4).value * (1 - 1e-9) - 1e-13 * total


@pytest.mark.slow
def test_the_bound_is_that_of_the_relaxation_and_often_the_optimum_itself():
    rng = np.random.default_rng(0)
    ratios = []
    for _ in range(40):
        X = rng.exponential(size=(7, 4))
        optimum = best_single_factor_error(X, 2)
        ratios.append(optimum / dual_bound(X @ X.T, 2, 4, upper=optimum, gap=1e-6).value)
    print("optimum / dual bound:", np.quantile(ratios, [0.0, 0.25, 0.5, 0.9, 1.0]))
    assert min(ratios) >= 1.0
    # What is left is the gap of the relaxation: other penalties converge to the same values.
    assert np.quantile(ratios, 0.25) <= 1 + 1e-5
    assert np.median(ratios) <= 1.005
    assert max(ratios) <= 1.1


def test_exactly_factorizable_matrices_get_no_bound_though_careless_rounding_finds_one():
    rng = np.random.default_rng(1)
    careless = 0
    for _ in range(100):
        X = factorizable(rng, 12, 9, 3)
        gram = X @ X.T
        assert dual_bound(gram, 3, 9, max_iter=20).value == 0.0
        careless += np.trace(gram) - np.linalg.eigvalsh(gram)[-3:].sum() > 0.0
    assert careless > 10


@pytest.mark.slow
def test_the_unluckiest_sums_of_the_stated_length_are_covered():
    rng = np.random.default_rng(3)
    careless = 0
    for _ in range(60):
        X = factorizable(rng, 8, 5, 2)
        gram = worst_computed_gram(X, 10**6)
        assert dual_bound(gram, 2, 10**6, max_iter=40).value == 0.0
        careless += dual_bound(gram, 2, 5, max_iter=40).value > 0.0
    assert careless > 30


@pytest.mark.parametrize("noise", [0.1, 1.0])
def test_the_dual_bound_is_within_two_percent_on_planted_data(noise):
    X, labels = planted(80, 40, 5, noise, seed=0)
    for _ in range(30):  # Lloyd's iterations on lines, from the planted labels
        tops = [np.linalg.svd(X[labels == s], full_matrices=False)[2][0] for s in range(5)]
        labels = np.abs(X @ np.array(tops).T).argmax(axis=1)
    error = squared_error_of_partition(X, labels)
    dual = dual_bound(X @ X.T, 5, 40, upper=error, gap=0.005).value
    print(f"noise {noise}: error / bound {error / dual:.4f}")
    assert dual <= error <= 1.02 * dual
    assert tail_from_gram(X @ X.T, 5, 40).value < dual


@pytest.mark.parametrize("seed", range(30))
def test_batches_of_rows_add_up_to_a_bound_for_all(seed):
    rng = np.random.default_rng(seed)
    X = next(small_matrices(rng, 8, 4, 1)) if seed % 2 else rng.exponential(size=(8, 4))
    halves = np.array_split(rng.permutation(8), 2)
    grams = (X[half] @ X[half].T for half in halves)
    bound = dual_bound_in_batches(grams, 2, 4, n_batches=2, max_iter=60)
    assert at_most(bound.value, best_single_factor_error(X, 2), float(np.sum(X**2)))
    parts = sum(best_single_factor_error(X[half], 2) for half in halves)
    assert bound.value >= 0.5 * parts


def test_without_time_the_tail_of_each_batch_remains():
    X, _ = planted(40, 20, 3, 0.5, seed=1)
    halves = X[:20], X[20:]
    bound = dual_bound_in_batches(
        (half @ half.T for half in halves), 3, 20, n_batches=2, time_limit=0.0
    )
    tails = sum(tail_from_gram(half @ half.T, 3, 20).value for half in halves)
    assert bound.value == pytest.approx(tails, rel=1e-9)


@pytest.mark.parametrize("exponent", [-500, 500])
def test_scale_does_not_matter(exponent):
    X, _ = planted(12, 6, 2, 0.5, seed=2)
    scaled = np.ldexp(X, exponent)
    at_one = dual_bound(X @ X.T, 2, 6, max_iter=40).value
    assert dual_bound(scaled @ scaled.T, 2, 6, max_iter=40).value == pytest.approx(
        np.ldexp(at_one, 2 * exponent), rel=1e-6
    )


@pytest.mark.parametrize("k", [3, 4])
def test_as_many_components_as_rows_leave_nothing_to_prove(k):
    assert dual_bound(np.eye(3), k, 3).value == 0.0
    assert dual_bound(np.zeros((9, 9)), k, 3).value == 0.0
