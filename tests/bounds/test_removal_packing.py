"""The bound of weight reduction against its formula, and against the optimum of tiny matrices."""

import numpy as np
import pytest
from scipy.sparse import csr_array

from orthonmf.bounds import removal_packing
from orthonmf.bounds.removal_packing import removal_packing_bound
from tests.guarantees.small_matrices import at_most
from tests.oracles.double_factor import best_double_factor_error


def by_formula(X, first, second, removed):
    rows = X / np.linalg.norm(X, axis=1, keepdims=True)
    return sum(
        share * min(1.0 - rows[i] @ rows[j], np.sum(np.minimum(rows[i], rows[j]) ** 2))
        for i, j, share in zip(first, second, removed, strict=True)
    )


def random_removals(rng, X):
    """Weight taken from random pairs of rows, never more than both have left."""
    left = np.einsum("ij,ij->i", X, X)
    first, second, removed = [], [], []
    for _ in range(2 * len(X)):
        i, j = rng.choice(len(X), 2, replace=False)
        share = min(left[i], left[j]) * rng.choice([0.5, 1.0])
        left[[i, j]] -= share
        first, second, removed = [*first, i], [*second, j], [*removed, share]
    return np.array(first), np.array(second), np.array(removed)


@pytest.mark.parametrize("store", [np.asarray, csr_array])
@pytest.mark.parametrize("seed", range(6))
def test_it_is_what_the_pairs_cost_and_no_more_than_the_optimum(seed, store):
    rng = np.random.default_rng(seed)
    X = rng.exponential(size=(4, 4)) * (rng.random((4, 4)) < 0.8) + 0.01
    pairs = random_removals(rng, X)
    found = removal_packing_bound(store(X), np.einsum("ij,ij->i", X, X), *pairs)
    expected = by_formula(X, *pairs)
    assert found == pytest.approx(expected, rel=1e-9)
    assert found <= expected * (1 + 1e-14)
    total = float(np.sum(X**2))
    assert at_most(found, best_double_factor_error(X, 4) + 1e-14 * total, total)


def test_the_size_of_the_blocks_does_not_matter(monkeypatch):
    rng = np.random.default_rng(0)
    X = rng.exponential(size=(30, 5))
    given = (X, np.einsum("ij,ij->i", X, X), *random_removals(rng, X))
    whole = removal_packing_bound(*given)
    monkeypatch.setattr(removal_packing, "ENTRIES_PER_BLOCK", 15)
    assert removal_packing_bound(*given) == whole > 0.0


def test_a_row_that_spends_too_much_is_scaled_back():
    X = np.array([[1.0, 1.0], [1.0, 0.4], [0.4, 1.0]])
    weights = np.einsum("ij,ij->i", X, X)
    first, second = np.array([0, 0]), np.array([1, 2])
    honest = np.full(2, weights[0] / 2.0)
    twice = removal_packing_bound(X, weights, first, second, 2.0 * honest)
    assert twice == pytest.approx(removal_packing_bound(X, weights, first, second, honest))


def test_rows_that_stand_for_others_have_the_weight_of_all():
    X = np.array([[1.0, 1.0], [1.0, 0.4]])
    weights = np.array([200.0, 116.0])  # a hundred copies of each
    pair = np.array([0]), np.array([1])
    alone = removal_packing_bound(X, weights / 100.0, *pair, np.array([1.16]))
    together = removal_packing_bound(X, weights, *pair, np.array([116.0]))
    assert together == pytest.approx(100.0 * alone)


def test_scales_of_rows_change_weights_alone():
    X = np.array([[1.0, 1.0], [1.0, 0.4]])
    pair = np.array([0]), np.array([1]), np.array([0.5])
    plain = removal_packing_bound(X, np.array([2.0, 1.16]), *pair)
    scaled = removal_packing_bound(X * 2.0**80, np.array([2.0, 1.16]), *pair)
    assert scaled == pytest.approx(plain)


@pytest.mark.parametrize("tiny", [1e-200, 0.0])
def test_rows_that_lost_their_digits_prove_nothing(tiny):
    X = np.array([[1.0, 1.0], [tiny, tiny]])
    pair = np.array([0]), np.array([1]), np.array([1.0])
    assert removal_packing_bound(X, np.array([2.0, 1.0]), *pair) == 0.0


def test_no_pairs_prove_nothing():
    none = np.zeros(0, dtype=int)
    assert removal_packing_bound(np.eye(3), np.ones(3), none, none, np.zeros(0)) == 0.0
