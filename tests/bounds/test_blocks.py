"""Blocks: the matrix of a proof, its dominant direction and its steps, against plain spectra."""

import numpy as np
import pytest
from threadpoolctl import threadpool_limits

from orthonmf.bounds import blocks
from orthonmf.bounds.allowance import Allowance
from orthonmf.bounds.block_sums import Known
from orthonmf.bounds.blocks import Candidate, Task, all_tasks, blocks_bound, choose, with_steps
from orthonmf.bounds.relaxation import Multiplier
from tests.guarantees.small_matrices import at_most
from tests.oracles.double_factor import best_double_factor_error


@pytest.fixture(autouse=True, scope="module")
def _one_thread():
    with threadpool_limits(1):
        yield


def data(seed=0, shape=(6, 9)):
    return np.random.default_rng(seed).exponential(size=shape)


def make_side(X, n_groups=400):
    return blocks.make_side(X, X @ X.T, n_groups)


def stored(side, state, penalty=1.0):
    return Multiplier(state, penalty, side.n_signed, 0.0, np.zeros(1), np.eye(len(state)))


def test_with_all_columns_the_matrix_of_the_proof_has_the_singular_values_of_both_signs():
    X = data()
    side = make_side(X)
    assert side.signed == 6 + 9
    expected = np.linalg.svd(X, compute_uv=False)
    values = np.linalg.eigvalsh(side.matrix)
    np.testing.assert_allclose(values[::-1][:6], expected, rtol=1e-6)
    np.testing.assert_allclose(values[:6], -expected, rtol=1e-6)
    np.testing.assert_array_equal(side.matrix[:6, 6:15], X)


@pytest.mark.parametrize("n_groups", [2, 4])
def test_with_groups_of_columns_no_singular_value_is_lower(n_groups):
    X = data(1)
    side = make_side(X, n_groups)
    assert 2 * 6 < len(side.matrix) <= 2 * 6 + n_groups
    values = np.linalg.eigvalsh(side.matrix)[::-1][:6]
    assert (values >= np.linalg.svd(X, compute_uv=False) * (1 - 1e-12)).all()


def test_the_search_sees_the_leading_eigenvalues_of_the_proof():
    side = make_side(data(2), 4)
    small, whole = (np.linalg.eigvalsh(one)[::-1] for one in (side.small, side.matrix))
    np.testing.assert_allclose(small[0], whole[0], rtol=1e-3)
    np.testing.assert_allclose(side.basis.T @ side.matrix @ side.basis, side.small, atol=1e-6)


@pytest.mark.parametrize("n_groups", [2, 400])
@pytest.mark.parametrize("seed", range(4))
def test_the_dominant_direction_lies_above_the_matrix_and_close(seed, n_groups):
    X = data(seed)
    side = make_side(X, n_groups)
    found = blocks.find_dominant(side)
    w = found.vector
    assert np.linalg.norm(w) <= 1.0
    above = found.second * np.eye(len(w)) + found.gap * np.outer(w, w) - side.matrix
    assert np.linalg.eigvalsh(above)[0] >= -1e-12 * found.first
    values = np.linalg.eigvalsh(side.matrix)[::-1]
    assert values[0] <= found.first <= values[0] * (1 + 1e-2)
    assert values[1] <= found.second <= values[1] + 2e-3 * (values[0] - values[1])
    (steps,) = found.as_known(3).lists
    np.testing.assert_array_equal(steps, [found.first, found.second, found.second])


@pytest.mark.parametrize("alpha", [0.0, 2.0])
def test_steps_are_the_eigenvalues_from_above_whatever_is_added(alpha):
    rng = np.random.default_rng(3)
    side = make_side(data(3), 4)
    dominant = blocks.find_dominant(side)
    for scale in (0.0, 0.1):
        kept = stored(side, scale * rng.standard_normal(side.small.shape))
        found = blocks.prove_steps(side, Candidate(Task(alpha, 2), kept, np.zeros(3)), dominant)
        spread = blocks.spread(side, kept)
        added = spread.part(slice(0, side.signed), slice(0, side.signed), np.inf)
        matrix = side.matrix - alpha * dominant.gap * np.outer(dominant.vector, dominant.vector)
        matrix[: side.signed, : side.signed] += np.maximum(added, added.T)
        values = np.maximum(np.linalg.eigvalsh(matrix)[::-1][:3], 0.0)
        assert (found >= values * (1 - 1e-12)).all()
        assert found.sum() <= values.sum() + 0.1 * dominant.first


def test_a_multiplier_of_groups_is_spread_over_their_members():
    X = data(4, (12, 15))
    side = make_side(X, 5)
    across, n_signed = side.rows.shape[1], side.n_signed
    state = np.random.default_rng(0).standard_normal(side.small.shape)
    found = blocks.spread(side, stored(side, state, 2.0))
    assert found.signed == side.signed == 12 + n_signed - across
    N = found.part(slice(0, side.signed), slice(0, side.signed), np.inf)
    small = np.maximum(-2.0 * state, 0.0)
    np.testing.assert_allclose(N[:12, :12], side.rows @ small[:across, :across] @ side.rows.T)
    np.testing.assert_allclose(N[:12, 12:], side.rows @ small[:across, across:n_signed])
    np.testing.assert_allclose(N[12:, 12:], small[across:n_signed, across:n_signed])
    assert (N >= 0.0).all()


def test_candidates_that_prove_nothing_more_are_left_out():
    dominant = blocks.Dominant(np.zeros(1), 3.0, 2.0, 1.0)
    useless = Candidate(Task(0.0, 2), None, np.array([3.0, 2.0, 2.0]))
    good = Candidate(Task(0.0, 3), None, np.array([3.0, 1.0, 0.5]))
    worse = Candidate(Task(0.0, 4), None, np.array([3.0, 1.5, 1.5]))
    assert choose(dominant, 3, [useless, good, worse], error=1.0) == [good]
    assert choose(dominant, 3, [useless], error=1.0) == []


def test_of_those_that_matter_the_most_important_is_first():
    dominant = blocks.Dominant(np.zeros(1), 3.0, 2.9, 0.1)
    # One limits the sum of two values, the other that of all three by a little.
    first = Candidate(Task(0.0, 2), None, np.array([3.0, 0.5, 0.5]))
    second = Candidate(Task(4.0, 2), None, np.array([0.5, 0.2]))
    found = choose(dominant, 3, [second, first], error=1.0)
    assert found[0] is first
    assert {id(one) for one in found} <= {id(first), id(second)}


def test_steps_become_a_list_or_a_cut():
    known = Known(3.0, [np.ones(3)])
    more = with_steps(known, 0.0, np.zeros(3))
    assert len(more.lists) == 2
    assert not more.cuts
    cut = with_steps(known, 2.0, np.zeros(2))
    assert len(cut.lists) == 1
    assert cut.cuts[0].alpha == 2.0


@pytest.mark.parametrize("k", [2, 3, 7])
def test_sums_of_a_few_and_of_all_values_are_sought_and_cuts_for_each_alpha(k):
    tasks = all_tasks(k)
    sums = [task.values for task in tasks if task.alpha == 0.0]
    assert sums == sorted({min(j, k) for j in (2, 3, 4, k)})
    for alpha in blocks.ALPHAS:
        assert {task.values for task in tasks if task.alpha == alpha} == {1, k - 1}


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("k", [1, 2])
def test_the_bound_is_between_the_tail_and_the_optimum(seed, k):
    X = data(seed, (3, 4))
    total, optimum = float(np.sum(X**2)), best_double_factor_error(X, k)
    found = blocks_bound(X, X @ X.T, k, Allowance(), max_iter=40).value
    tail = float(np.sum(np.linalg.svd(X, compute_uv=False)[k:] ** 2))
    assert at_most(found, optimum + 1e-14 * total, total)
    if k > 1:
        assert found >= tail * (1 - 1e-3)


def test_a_matrix_of_zeros_or_beyond_the_safe_range_gets_no_bound():
    assert blocks_bound(np.zeros((3, 4)), np.zeros((3, 3)), 2, Allowance()).value == 0.0
    X = data(0, (3, 4)) * 2.0**400
    assert blocks_bound(X, X @ X.T, 2, Allowance()).value == 0.0
