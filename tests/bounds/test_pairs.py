"""Packings of pairs: no row spends more than it has, and the best shares are found."""

from itertools import combinations, product

import numpy as np
import pytest
from scipy.sparse import csr_array

from orthonmf.bounds import pairs
from orthonmf.bounds.pairs import METHOD, pair_packing_bound, removal_packing_bound
from orthonmf.bounds.singular_values import tail_from_gram
from orthonmf.vectors import unit_lengths
from tests.guarantees.small_matrices import at_most, block_diagonal
from tests.oracles.double_factor import best_double_factor_error


def packing(X, **options):
    return pair_packing_bound(unit_lengths(X), np.einsum("ij,ij->i", X, X), **options).value


def cost(x, y):
    """What two unit rows cost: they share a component, or no column belongs to both."""
    return min(1.0 - x @ y, np.sum(np.minimum(x, y) ** 2))


def best_packing(rows):
    """The dearest packing of rows of weight 1.

    The corners of what is allowed have shares 0, 1/2 and 1 (fractional matchings), so the best
    is found by trying all of these.
    """
    places = list(combinations(range(len(rows)), 2))
    costs = [cost(rows[i], rows[j]) for i, j in places]
    spent = np.zeros((len(rows), len(places)))
    for number, place in enumerate(places):
        spent[list(place), number] = 1.0
    shares = np.array(list(product((0.0, 0.5, 1.0), repeat=len(places))))
    allowed = (shares @ spent.T <= 1.0).all(axis=1)
    return float((shares[allowed] @ costs).max())


@pytest.mark.parametrize("n", [2, 3, 4])
@pytest.mark.parametrize("seed", range(5))
def test_few_pairs_are_packed_best_and_many_at_least_half_as_well(seed, n, monkeypatch):
    rows = unit_lengths(np.random.default_rng(seed).exponential(size=(n, 4)))
    best, bound = best_packing(rows), pair_packing_bound(rows, np.ones(n))
    assert bound.method == METHOD
    assert bound.value == pytest.approx(best, rel=1e-6)
    assert bound.value <= best * (1.0 + 1e-14)
    monkeypatch.setattr(pairs, "FEW_PAIRS", 0)
    assert best / 2 * (1 - 1e-9) <= pair_packing_bound(rows, np.ones(n)).value <= bound.value


def test_blocks_that_fit_exactly_get_no_bound_though_careless_rounding_finds_one():
    rng = np.random.default_rng(0)
    careless = 0
    for _ in range(200):
        X = block_diagonal(rng, 8, 7, 3)
        assert packing(X) == 0.0
        rows = unit_lengths(X)
        overlap = np.sum(np.minimum(rows[:, None], rows) ** 2, axis=2)
        careless += np.minimum(1.0 - rows @ rows.T, overlap)[np.triu_indices(8, 1)].max() > 0.0
    assert careless > 20


def test_more_partners_give_a_larger_bound_and_it_can_beat_the_tail():
    X = np.random.default_rng(5).exponential(size=(12, 8))
    few, all_of_them = packing(X, n_partners=1), packing(X, n_partners=12)
    assert few <= all_of_them * (1 + 1e-9)
    assert all_of_them > tail_from_gram(X @ X.T, 6, 8).value


@pytest.mark.parametrize("X", [np.zeros((3, 4)), np.eye(3), np.ones((1, 4)), np.zeros((0, 4))])
def test_rows_without_a_conflict_cost_nothing(X):
    assert packing(X) == 0.0


def test_what_is_not_of_unit_length_or_too_light_takes_no_part():
    rows = unit_lengths(np.random.default_rng(1).exponential(size=(3, 4)))
    whole = pair_packing_bound(rows, np.ones(3)).value
    spoiled = rows.copy()
    spoiled[2] *= 1.0 + 1e-9
    two = pair_packing_bound(rows[:2], np.ones(2)).value
    assert two < 0.9 * whole
    for given in ((spoiled, np.ones(3)), (rows, np.array([1.0, 1.0, 1e-300]))):
        packed = pair_packing_bound(*given).value
        assert packed == pytest.approx(two, rel=1e-12)


def by_formula(X, *removals):
    rows = unit_lengths(X)
    return sum(share * cost(rows[i], rows[j]) for i, j, share in zip(*removals, strict=True))


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
    removals = random_removals(rng, X)
    packed = removal_packing_bound(store(X), np.einsum("ij,ij->i", X, X), *removals)
    expected = by_formula(X, *removals)
    assert packed == pytest.approx(expected, rel=1e-9)
    assert packed <= expected * (1 + 1e-14)
    total = float(np.sum(X**2))
    assert at_most(packed, best_double_factor_error(X, 4) + 1e-14 * total, total)


def test_a_row_that_spends_too_much_is_scaled_back():
    X = np.array([[1.0, 1.0], [1.0, 0.4], [0.4, 1.0]])
    weights = np.einsum("ij,ij->i", X, X)
    first, second = np.array([0, 0]), np.array([1, 2])
    honest = np.full(2, weights[0] / 2.0)
    twice = removal_packing_bound(X, weights, first, second, 2.0 * honest)
    assert twice == pytest.approx(removal_packing_bound(X, weights, first, second, honest))
