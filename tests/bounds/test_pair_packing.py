"""Packings of row pairs against the best packing by hand: every pair, every share tried."""

from itertools import combinations, product

import numpy as np
import pytest
from scipy.sparse import csr_array

from orthonmf.bounds import pair_packing
from orthonmf.bounds.pair_packing import METHOD, of_unit_length, pair_packing_bound, pair_rounding


def unit(X):
    return X / np.linalg.norm(X, axis=1, keepdims=True)


def cost(x, y):
    """What two unit rows cost: they share a component, or no column belongs to both."""
    return min(1.0 - x @ y, np.sum(np.minimum(x, y) ** 2))


def best_packing(rows):
    """The dearest packing of rows of weight 1.

    The corners of what is allowed have shares 0, 1/2 and 1 (fractional matchings), so the best
    is found by trying all of these.
    """
    pairs = list(combinations(range(len(rows)), 2))
    costs = [cost(rows[i], rows[j]) for i, j in pairs]
    spent = np.zeros((len(rows), len(pairs)))
    for number, pair in enumerate(pairs):
        spent[list(pair), number] = 1.0
    shares = np.array(list(product((0.0, 0.5, 1.0), repeat=len(pairs))))
    allowed = (shares @ spent.T <= 1.0).all(axis=1)
    return float((shares[allowed] @ costs).max())


@pytest.mark.parametrize("n", [2, 3, 4])
@pytest.mark.parametrize("seed", range(5))
def test_the_linear_program_finds_the_best_packing(seed, n):
    rows = unit(np.random.default_rng(seed).exponential(size=(n, 4)))
    found = pair_packing_bound(rows, np.ones(n), linear_program=True)
    assert found.method == METHOD
    assert found.value == pytest.approx(best_packing(rows), rel=1e-6)
    assert found.value <= best_packing(rows) * (1.0 + 1e-14)


@pytest.mark.parametrize("seed", range(3))
def test_greedy_takes_the_dearest_pair_first(seed):
    rows = unit(np.random.default_rng(seed).exponential(size=(3, 4)))
    dearest = max(cost(rows[i], rows[j]) for i, j in combinations(range(3), 2))
    # Any other pair has a row in common with it, and nothing is left of that.
    found = pair_packing_bound(rows, np.ones(3), linear_program=False).value
    assert found == pytest.approx(dearest, rel=1e-12)


def test_a_row_spends_no_more_than_its_weight():
    rows = unit(np.array([[1.0, 1.0], [1.0, 0.3], [0.3, 1.0]]))
    weights = np.array([0.5, 2.0, 3.0])
    found = pair_packing_bound(rows, weights, linear_program=True).value
    shares = np.linspace(0.0, 2.0, 401)
    a, b = np.meshgrid(shares, shares)  # of the pairs with the light row; the third has the rest
    allowed = a + b <= 0.5
    third = np.minimum(2.0 - a, 3.0 - b)
    costs = [cost(rows[i], rows[j]) for i, j in ((0, 1), (0, 2), (1, 2))]
    value = (a * costs[0] + b * costs[1] + third * costs[2])[allowed]
    assert found == pytest.approx(value.max(), rel=1e-2)
    assert found <= value.max() * (1 + 1e-9)


def test_fewer_partners_compare_the_most_promising_pairs():
    rows = unit(np.random.default_rng(5).exponential(size=(30, 6)))
    values = [
        pair_packing_bound(rows, np.ones(30), n_partners=count, linear_program=True).value
        for count in (1, 4, 30)
    ]
    assert 0.0 < values[0] <= values[1] <= values[2]


def test_what_is_not_of_unit_length_or_too_light_takes_no_part():
    rows = unit(np.random.default_rng(1).exponential(size=(3, 4)))
    whole = pair_packing_bound(rows, np.ones(3), linear_program=True).value
    spoiled = rows.copy()
    spoiled[2] *= 1.0 + 1e-9
    two = pair_packing_bound(rows[:2], np.ones(2)).value
    assert two < 0.9 * whole
    for given in ((spoiled, np.ones(3)), (rows, np.array([1.0, 1.0, 1e-300]))):
        found = pair_packing_bound(*given, linear_program=True).value
        assert found == pytest.approx(two, rel=1e-12)


@pytest.mark.parametrize("rows", [np.zeros((3, 2)), np.eye(3), np.ones((1, 4)) / 2.0])
def test_rows_that_share_nothing_or_are_alone_cost_nothing(rows):
    assert pair_packing_bound(rows, np.ones(len(rows))).value == 0.0


def test_unit_length_is_asked_up_to_rounding():
    rows = csr_array(unit(np.random.default_rng(0).random((50, 9))))
    assert of_unit_length(rows).all()
    assert not of_unit_length(rows * (1.0 + 1e-12)).any()
    assert 1e-16 < pair_rounding(1) < pair_rounding(10) < pair_rounding(10**6) < 1e-9


def test_no_solution_of_the_program_leaves_the_greedy_value(monkeypatch):
    rows = unit(np.random.default_rng(2).exponential(size=(5, 3)))
    greedy = pair_packing_bound(rows, np.ones(5), linear_program=False).value
    monkeypatch.setattr(pair_packing, "_best_shares", lambda *given: None)
    assert pair_packing_bound(rows, np.ones(5), linear_program=True).value == greedy
