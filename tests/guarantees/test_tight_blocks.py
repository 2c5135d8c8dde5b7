"""The tight bound over both sides: sums, cuts and small proofs against every solution."""

import math
from itertools import product

import numpy as np
import pytest
from threadpoolctl import threadpool_limits

from orthonmf.bounds import blocks
from orthonmf.bounds.allowance import Allowance
from orthonmf.bounds.blocks import Candidate, Cut, Known, Task, blocks_bound, most_captured
from orthonmf.bounds.relaxation import Multiplier
from tests.guarantees.small_matrices import at_most, block_diagonal, small_matrices
from tests.oracles.double_factor import best_double_factor_error
from tests.oracles.exact import smallest_error

pytestmark = pytest.mark.slow  # all together take long


@pytest.fixture(autouse=True, scope="module")
def _one_thread():
    with threadpool_limits(1):
        yield


def near_one(X):
    """The matrix in units in which its largest entry is near 1, as all data are when proven."""
    largest = float(X.max(initial=0.0))
    return X if largest == 0.0 else np.ldexp(X, -math.frexp(largest)[1])


def bound(X, k, **options):
    return blocks_bound(X, X @ X.T, k, Allowance(), **options).value


def some_matrices(rng, n, m, count):
    kinds = [
        lambda: rng.exponential(size=(n, m)),
        lambda: rng.random((n, m)) * (rng.random((n, m)) < 0.5),
        lambda: np.outer(rng.random(n), rng.random(m)) + 0.1 * rng.random((n, m)),
        lambda: ((np.arange(n)[:, None] + np.arange(m)) % 2) + 0.2 * rng.random((n, m)),
        lambda: block_diagonal(rng, n, m, 2) + 0.1 * rng.random((n, m)),
        lambda: np.kron(np.eye(2), rng.random((n, m)))[:n, :m],
    ]
    found = [kinds[number % len(kinds)]() for number in range(count)]
    return [*found, *small_matrices(rng, n, m, count)]


@pytest.mark.parametrize("k", [1, 2, 3, 5])
@pytest.mark.parametrize("n_groups", [2, 400])
def test_no_bound_exceeds_the_optimum(k, n_groups):
    rng = np.random.default_rng(k)
    for X in map(near_one, some_matrices(rng, 3, 4, 5)):
        found = bound(X, k, n_groups=[n_groups], max_iter=20)
        assert at_most(found, best_double_factor_error(X, k), float(np.sum(X**2)))


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
def test_no_bound_exceeds_the_optimum_of_larger_matrices(seed):
    rng = np.random.default_rng(seed)
    for X in map(near_one, some_matrices(rng, 4, 5, 3)):
        for k in (2, 3):
            found = bound(X, k, n_groups=[3, 400], max_iter=20)
            assert at_most(found, best_double_factor_error(X, k), float(np.sum(X**2)))


def test_in_exact_arithmetic_too():
    rng = np.random.default_rng(0)
    for _ in range(3):
        X = near_one(rng.integers(1, 9, (3, 3)).astype(float))
        assert bound(X, 2, max_iter=40) <= smallest_error(X, 2, "both")


def solutions(X, k):
    """Singular values, falling, of the blocks of every solution with at most k of them."""
    n, m = X.shape
    for rows in product(range(k), repeat=n):
        for columns in product(range(k), repeat=m):
            tops = [
                np.linalg.norm(X[np.array(rows) == s][:, np.array(columns) == s], 2)
                for s in range(k)
                if s in rows and s in columns
            ]
            yield np.sort(np.array(tops + [0.0] * (k - len(tops))))[::-1]


@pytest.mark.parametrize("seed", range(4))
def test_sums_and_cuts_hold_for_every_solution_and_any_multiplier(seed):
    rng = np.random.default_rng(seed)
    X = near_one(some_matrices(rng, 3, 3, 6)[seed])
    side = blocks.make_side(X, X @ X.T, 400 if seed % 2 else 2)
    dominant = blocks.find_dominant(side)
    every = np.array(list(solutions(X, 3)))
    scales = (0.3, 3.0, 1e-320, 1e200, 0.01)
    for number, alpha in enumerate((0.0, 0.7, 2.0, 5.0, 0.0)):
        state = rng.standard_normal(side.small.shape) * scales[number]
        stored = Multiplier(state, 1.0, side.n_signed, 0.0, np.zeros(1), state)
        task, count = Task(alpha, 2), 3 if alpha == 0.0 else 2
        steps = blocks.prove_steps(side, Candidate(task, stored, np.zeros(count)), dominant)
        if steps is None:
            continue
        assert (np.diff(steps) <= 0.0).all()
        assert (steps >= 0.0).all()
        if alpha == 0.0:
            assert (every.cumsum(axis=1) <= steps.cumsum() + 1e-12).all()
        else:
            taken = alpha * every[:, :1] + every[:, 1:].cumsum(axis=1)
            assert (taken <= alpha * dominant.first + steps.cumsum() + 1e-12).all()


@pytest.mark.parametrize("seed", range(5))
def test_the_dominant_direction_lies_above_the_matrix(seed):
    rng = np.random.default_rng(seed)
    X = near_one(some_matrices(rng, 4, 6, 6)[seed])
    dominant = blocks.find_dominant(blocks.make_side(X, X @ X.T, 3))
    values = np.linalg.svd(X, compute_uv=False)
    assert np.linalg.norm(dominant.vector) <= 1.0
    assert dominant.first >= values[0]
    assert dominant.second >= values[1]
    assert dominant.gap <= dominant.first - dominant.second + 1e-15


@pytest.mark.parametrize("seed", range(40))
def test_no_point_within_the_limits_has_a_larger_sum_of_squares(seed):
    rng = np.random.default_rng(seed)
    k = int(rng.integers(2, 6))
    lists = [np.sort(rng.random(k))[::-1] for _ in range(rng.integers(1, 3))]
    first = float(rng.random()) + 0.3
    cuts = [
        Cut(float(alpha), np.sort(rng.random(k - 1) * rng.random())[::-1])
        for alpha in 5.0 * rng.random(rng.integers(0, 3))
    ]
    most, where = most_captured(Known(first, lists, cuts))
    values = np.sort(rng.random((20000, k)) * rng.random((20000, 1)), axis=1)[:, ::-1]
    sums = values.cumsum(axis=1)
    inside = values[:, 0] <= first
    for steps in lists:
        inside &= (sums <= steps.cumsum()).all(axis=1)
    for cut in cuts:
        others = sums[:, 1:] - values[:, :1]
        limit = cut.alpha * (first - values[:, :1]) + cut.steps.cumsum()
        inside &= (others <= limit).all(axis=1)
    assert np.square(values[inside]).sum(axis=1).max(initial=0.0) <= most
    assert 0.0 <= where <= first
    # With one list and no cut it is the sum of the squares of the steps.
    alone, _ = most_captured(Known(9.0, lists[:1]))
    assert alone == pytest.approx(float(np.square(lists[0]).sum()), rel=1e-6)


def test_one_block_is_proven_best_where_it_is():
    rng = np.random.default_rng(0)
    X = near_one(np.outer(1 + rng.random(6), 1 + rng.random(8)) + 0.05 * rng.random((6, 8)))
    tail = float(np.sum(np.linalg.svd(X, compute_uv=False)[1:] ** 2))
    assert bound(X, 3, upper=1.001 * tail) >= 0.9 * tail


def test_blocks_of_equal_weight_leave_sums_alone_and_a_true_bound():
    X = np.kron(np.eye(2), np.ones((2, 3))) + 0.0
    assert at_most(bound(X, 2), best_double_factor_error(X, 2), float(np.sum(X**2)))
    assert bound(X, 1) <= best_double_factor_error(X, 1) * (1 + 1e-12)


@pytest.mark.parametrize("iterations", [1, 2, 7])
def test_stopped_at_any_iteration_it_is_true(iterations):
    rng = np.random.default_rng(iterations)
    for X in map(near_one, some_matrices(rng, 3, 4, 4)):
        found = bound(X, 2, max_iter=iterations)
        assert at_most(found, best_double_factor_error(X, 2), float(np.sum(X**2)))


def test_what_is_proven_is_what_the_multiplier_is_worth():
    rng = np.random.default_rng(0)
    X = near_one(rng.exponential(size=(30, 60)) + np.outer(rng.random(30), rng.random(60)))
    side = blocks.make_side(X, X @ X.T, 20)
    dominant = blocks.find_dominant(side)
    tasks = [Task(0.0, 3), Task(2.0, 2)]
    for one in blocks.seek_candidates(side, dominant, 3, tasks, 1.0, 60, Allowance()):
        steps = blocks.prove_steps(side, one, dominant)
        state = -np.asarray(blocks.spread(side, one.multiplier).state)
        c = one.task.alpha * dominant.gap
        full = side.matrix - c * np.outer(dominant.vector, dominant.vector)
        full[: side.signed, : side.signed] += np.maximum(state, state.T)
        worth = np.linalg.eigvalsh(full)[::-1][: len(steps)]
        np.testing.assert_allclose(steps.sum(), worth.sum(), rtol=1e-5)
