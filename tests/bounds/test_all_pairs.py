"""All pairs of points: what is proven is true, and near what the multiplier is worth."""

import numpy as np
import pytest
from threadpoolctl import threadpool_limits

from orthonmf.bounds.all_pairs import (
    METHOD,
    PANEL,
    all_pairs_bound,
    all_pairs_bound_of_rows,
    prove_raised,
    raise_state,
)
from orthonmf.bounds.allowance import Allowance
from orthonmf.bounds.relaxation import Multiplier
from tests.guarantees.small_matrices import at_most
from tests.oracles.single_factor import best_single_factor_error


@pytest.fixture(autouse=True, scope="module")
def _one_thread():
    with threadpool_limits(1):
        yield


def stored(state, signed=None, penalty=1.0):
    return Multiplier(state, penalty, len(state) if signed is None else signed, 0, state[0], state)


@pytest.mark.parametrize("n", [5, PANEL + 9])
def test_a_raised_state_is_above_the_products_in_its_unit_by_next_to_nothing(n):
    rng = np.random.default_rng(n)
    X, state = rng.exponential(size=(n, 3)), rng.standard_normal((n, n)).astype(np.float32)
    kept = stored(state.copy())
    raise_state(X, kept, most=1e9, unit=8.0)
    corner = np.maximum(-state.astype(float), 0.0)
    wanted = (X @ X.T + np.maximum(corner, corner.T)) / 8.0
    found = kept.state.astype(float)
    assert kept.state.dtype == np.float32
    assert (found >= wanted * (1 - 1e-15)).all()
    assert (found <= wanted * (1 + 3e-7)).all()
    assert (found == found.T).all()


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("k", [1, 3])
def test_a_proof_is_worth_the_trace_less_the_largest_eigenvalues(dtype, k):
    rng = np.random.default_rng(k)
    X = rng.exponential(size=(40, 30))
    gram = X @ X.T
    raised = (gram + np.maximum(rng.standard_normal(gram.shape), 0.0)).astype(dtype)
    raised = np.maximum(raised, raised.T)
    trace = float(np.trace(gram))
    worth = trace - np.linalg.eigvalsh(raised.astype(float))[::-1][:k].sum()
    proven = prove_raised(raised, trace, k, 30)
    assert proven <= worth
    assert proven == pytest.approx(worth, abs=1e-4 * trace)


def test_a_proof_counts_the_length_of_the_inner_products():
    gram = 2.0 * np.eye(5) + 1.0
    short, long = (prove_raised(gram, 15.0, 2, length) for length in (3, 10**12))
    assert short == pytest.approx(15.0 - 7.0 - 2.0, rel=1e-9)
    assert long < short - 1e-4


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("k", [1, 2, 3])
def test_the_bound_lies_between_the_tail_and_the_optimum(seed, k):
    X = np.random.default_rng(seed).exponential(size=(7, 4))
    total, optimum = float(np.sum(X**2)), best_single_factor_error(X, k)
    found = all_pairs_bound(X @ X.T, k, 4, Allowance(), max_iter=200)
    tail = float(np.sum(np.linalg.svd(X, compute_uv=False)[k:] ** 2))
    assert found.method == METHOD
    assert at_most(found.value, optimum, total)
    assert found.value >= tail * (1.0 - 1e-6)
    if k == 1:
        assert found.value == pytest.approx(optimum, rel=1e-9)


def test_the_bound_of_rows_is_that_of_their_products():
    X = np.random.default_rng(9).exponential(size=(60, 3))
    total = float(np.sum(X**2))
    of_rows = all_pairs_bound_of_rows(X, 3, 3, Allowance(), upper=total).value
    of_products = all_pairs_bound(X @ X.T, 3, 3, Allowance()).value
    assert of_rows == pytest.approx(of_products, rel=2e-2)
    assert of_rows > np.sum(np.linalg.svd(X, compute_uv=False)[3:] ** 2)


def test_the_search_ends_when_the_bound_is_near_the_error_in_hand():
    X = np.random.default_rng(1).exponential(size=(20, 5))
    whole = all_pairs_bound(X @ X.T, 3, 5, Allowance()).value
    early = all_pairs_bound(X @ X.T, 3, 5, Allowance(), upper=0.9 * whole).value
    assert 0.9 * whole * (1 - 1e-3) <= early < whole


@pytest.mark.parametrize("gram", [np.zeros((4, 4)), np.full((4, 4), np.inf), np.eye(3)])
def test_where_nothing_can_be_proven_the_bound_is_zero(gram):
    assert all_pairs_bound(gram.copy(), 3, 5, Allowance()).value == 0.0
