"""The tight bound over both sides: sums, cuts and small proofs against every solution."""

import math

import numpy as np
import pytest

from orthonmf.bounds import blocks
from orthonmf.bounds.allowance import Allowance
from orthonmf.bounds.blocks import Task, blocks_bound
from tests.guarantees.small_matrices import at_most, block_diagonal, small_matrices
from tests.oracles.double_factor import best_double_factor_error
from tests.oracles.exact import smallest_error

# All together take long.
pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("one_blas_thread")]


def near_one(X):
    """The matrix in units in which its largest entry is near 1, as all data are when proven."""
    largest = float(X.max(initial=0.0))
    return X if largest == 0.0 else np.ldexp(X, -math.frexp(largest)[1])


def bound(X, k, n_groups=(400,), **options):
    return blocks_bound(X, X @ X.T, k, Allowance(), n_groups=n_groups, **options).value


def some_matrices(rng, n, m, count):
    kinds = [
        lambda: rng.exponential(size=(n, m)),
        lambda: rng.random((n, m)) * (rng.random((n, m)) < 0.5),
        lambda: np.outer(rng.random(n), rng.random(m)) + 0.1 * rng.random((n, m)),
        lambda: ((np.arange(n)[:, None] + np.arange(m)) % 2) + 0.2 * rng.random((n, m)),
        lambda: block_diagonal(rng, n, m, 2) + 0.1 * rng.random((n, m)),
        lambda: np.kron(np.eye(2), rng.random((n, m)))[:n, :m],
    ]
    matrices = [kinds[number % len(kinds)]() for number in range(count)]
    return [*matrices, *small_matrices(rng, n, m, count)]


@pytest.mark.parametrize(
    ("shape", "numbers", "n_groups", "max_iter"),
    [
        ((3, 4), (1, 2, 3, 5), [2], 20),
        ((3, 4), (1, 2, 3, 5), [400], 20),
        ((4, 5), (2, 3), [3, 400], 20),
        ((3, 4), (2,), [400], 1),  # a search may be stopped at any iteration
        ((3, 4), (2,), [400], 7),
    ],
)
def test_no_bound_exceeds_the_optimum(shape, numbers, n_groups, max_iter):
    rng = np.random.default_rng(max_iter)
    for X in map(near_one, some_matrices(rng, *shape, 4)):
        for k in numbers:
            proven = bound(X, k, n_groups=n_groups, max_iter=max_iter)
            assert at_most(proven, best_double_factor_error(X, k), float(np.sum(X**2)))


def test_in_exact_arithmetic_too():
    rng = np.random.default_rng(0)
    for _ in range(3):
        X = near_one(rng.integers(1, 9, (3, 3)).astype(float))
        assert bound(X, 2, max_iter=40) <= smallest_error(X, 2, "both")


@pytest.mark.parametrize("seed", range(5))
def test_the_dominant_direction_lies_above_the_matrix(seed):
    rng = np.random.default_rng(seed)
    X = near_one(some_matrices(rng, 4, 6, 6)[seed])
    dominant = blocks.find_dominant(blocks.dilate(X, X @ X.T, 3))
    values = np.linalg.svd(X, compute_uv=False)
    assert np.linalg.norm(dominant.vector) <= 1.0
    assert dominant.first >= values[0]
    assert dominant.second >= values[1]
    assert dominant.gap <= dominant.first - dominant.second + 1e-15


def test_one_block_is_proven_best_where_it_is():
    rng = np.random.default_rng(0)
    X = near_one(np.outer(1 + rng.random(6), 1 + rng.random(8)) + 0.05 * rng.random((6, 8)))
    tail = float(np.sum(np.linalg.svd(X, compute_uv=False)[1:] ** 2))
    assert bound(X, 3, upper=1.001 * tail) >= 0.9 * tail


def test_blocks_of_equal_weight_leave_sums_alone_and_a_true_bound():
    X = np.kron(np.eye(2), np.ones((2, 3))) + 0.0
    assert at_most(bound(X, 2), best_double_factor_error(X, 2), float(np.sum(X**2)))
    assert bound(X, 1) <= best_double_factor_error(X, 1) * (1 + 1e-12)


def test_what_is_proven_is_what_the_multiplier_is_worth():
    rng = np.random.default_rng(0)
    X = near_one(rng.exponential(size=(30, 60)) + np.outer(rng.random(30), rng.random(60)))
    dilation = blocks.dilate(X, X @ X.T, 20)
    dominant = blocks.find_dominant(dilation)
    tasks = [Task(0.0, 3), Task(2.0, 2)]
    for candidate in blocks.seek_candidates(dilation, dominant, 3, tasks, 1.0, 60, Allowance()):
        steps = blocks.prove_steps(dilation, candidate, dominant)
        state = -np.asarray(blocks.spread(dilation, candidate.multiplier).state)
        c = candidate.task.alpha * dominant.gap
        full = dilation.matrix - c * np.outer(dominant.vector, dominant.vector)
        full[: dilation.signed, : dilation.signed] += np.maximum(state, state.T)
        worth = np.linalg.eigvalsh(full)[::-1][: len(steps)]
        np.testing.assert_allclose(steps.sum(), worth.sum(), rtol=1e-5)
