"""The search: what it says is what its multiplier is worth, and near the best."""

import numpy as np
import pytest
from threadpoolctl import threadpool_limits

from orthonmf.bounds.allowance import STOPPED, Allowance
from orthonmf.bounds.relaxation import (
    Aim,
    ProductsOfRows,
    Stored,
    fantope_shift,
    search,
)
from tests.oracles.single_factor import best_single_factor_error

AIM = Aim(whole=0.0, precision=0.0, max_iter=150)


@pytest.fixture(autouse=True, scope="module")
def _one_thread():
    with threadpool_limits(1):
        yield


def gram(seed=0, n=12, m=4):
    X = np.random.default_rng(seed).exponential(size=(n, m))
    return X @ X.T


def entries(found):
    """N as it is stored, on all coordinates."""
    whole = np.zeros_like(found.state, dtype=np.float64)
    signed = slice(0, found.signed)
    whole[signed, signed] = found.part(signed, signed, np.inf)
    return whole


def top_sum(matrix, k):
    return float(np.linalg.eigvalsh(matrix)[::-1][:k].sum())


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("k", [2, 3])
def test_the_top_is_the_sum_of_eigenvalues_with_the_multiplier_added(seed, k):
    B = gram(seed)
    found = search(Stored(B.copy()), k, AIM, Allowance())
    N = entries(found)
    assert (N >= 0.0).all()
    assert found.top == pytest.approx(top_sum(B + N, k), rel=1e-6)
    assert found.top < top_sum(B, k) * (1.0 - 1e-3), "the multiplier is of use"
    np.testing.assert_allclose(found.values[:k].sum(), found.top)
    # N is about symmetric, so its vectors are those of B + N.
    left = (B + N) @ found.vectors[:, :k] - found.vectors[:, :k] * found.values[:k]
    assert np.linalg.norm(left) < 1e-2 * found.top


@pytest.mark.parametrize("seed", range(4))
def test_small_cases_are_solved_up_to_the_gap_of_the_relaxation(seed):
    X = np.random.default_rng(seed).exponential(size=(7, 3))
    total, optimum = float(np.sum(X**2)), best_single_factor_error(X, 2)
    found = search(Stored(X @ X.T), 2, Aim(total, 0.0, max_iter=400), Allowance())
    tail = total - top_sum(X @ X.T, 2)
    assert total - found.top <= optimum * (1.0 + 1e-6)
    assert total - found.top >= tail + 0.5 * (optimum - tail)


def test_rows_are_searched_like_their_products():
    F = np.random.default_rng(1).exponential(size=(30, 3))
    stored = search(Stored(F @ F.T), 3, AIM, Allowance())
    of_rows = search(ProductsOfRows(F), 3, AIM, Allowance())
    assert of_rows.top == pytest.approx(stored.top, rel=1e-6)


def test_only_pairs_of_signed_coordinates_have_a_multiplier():
    B = gram(2)
    found = search(Stored(B.copy()), 2, AIM, Allowance(), signed=8)
    assert found.signed == 8
    N = entries(found)
    assert N[:8, :8].any()
    assert found.top == pytest.approx(top_sum(B + N, 2), rel=1e-6)
    none = search(Stored(B.copy()), 2, AIM, Allowance(), signed=0)
    assert none.top == pytest.approx(top_sum(B, 2), rel=1e-6)


def test_with_at_most_k_only_positive_eigenvalues_count():
    B = gram(3) - 5.0 * np.eye(12)
    found = search(Stored(B.copy()), 6, AIM, Allowance(), at_most=True)
    values = np.linalg.eigvalsh(B + entries(found))[::-1][:6]
    assert found.top == pytest.approx(np.maximum(values, 0.0).sum(), rel=1e-5)
    assert found.top > values.sum()


def test_the_root_is_a_matrix_of_the_fantope():
    found = search(Stored(gram(4)), 3, AIM, Allowance())
    Z = found.root @ found.root.T
    values = np.linalg.eigvalsh(Z)
    assert np.trace(Z) == pytest.approx(3.0, abs=1e-6)
    assert values[0] >= -1e-9
    assert values[-1] <= 1.0 + 1e-6
    assert Z.min() > -0.05, "and all but non-negative in the end"


def test_without_time_nothing_is_added_and_the_reason_is_kept():
    B, allowance = gram(5), Allowance(0.0)
    found = search(Stored(B.copy()), 2, AIM, allowance)
    assert not entries(found).any()
    assert found.top == pytest.approx(top_sum(B, 2), rel=1e-6)
    assert allowance.cut == STOPPED


@pytest.mark.parametrize("seed", range(20))
def test_the_shift_is_the_one_that_bisection_finds(seed):
    rng = np.random.default_rng(seed)
    values = np.sort(rng.normal(scale=rng.choice([0.1, 1.0, 30.0]), size=rng.integers(2, 9)))[::-1]
    k = int(rng.integers(1, len(values)))
    low, high = values.min() - 1.0, values.max()
    for _ in range(200):
        middle = (low + high) / 2.0
        if np.clip(values - middle, 0.0, 1.0).sum() >= k:
            low = middle
        else:
            high = middle
    shift = fantope_shift(values, k)
    assert np.clip(values - shift, 0.0, 1.0).sum() == pytest.approx(k, abs=1e-9)
    np.testing.assert_allclose(
        np.clip(values - shift, 0, 1), np.clip(values - low, 0, 1), atol=1e-9
    )
