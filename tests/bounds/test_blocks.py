"""Blocks: sums and cuts are above the singular values of every solution."""

import numpy as np
import pytest

from orthonmf.bounds.allowance import Allowance
from orthonmf.bounds.blocks import Limits, blocks_bound, most_captured


def data(seed=0, shape=(6, 9)):
    return np.random.default_rng(seed).exponential(size=shape)


def test_a_matrix_of_zeros_or_beyond_the_safe_range_gets_no_bound():
    assert blocks_bound(np.zeros((3, 4)), np.zeros((3, 3)), 2, Allowance()).value == 0.0
    X = data(0, (3, 4)) * 2.0**400
    assert blocks_bound(X, X @ X.T, 2, Allowance()).value == 0.0


def falling(rng, count):
    return np.sort(rng.exponential(size=count))[::-1]


def limits_of(lists, cuts, first):
    """Limits, cuts being pairs of alpha and steps."""
    limits = Limits(first, ())
    for steps in lists:
        limits = limits.and_list(steps)
    for alpha, steps in cuts:
        limits = limits.and_cut(alpha, first, steps)
    return limits


def on_grid(lists, cuts, first, points=1001):
    """The largest t^2 + sum of squared differences of R(t) on a grid, one t after the other."""
    most = 0.0
    for t in np.linspace(0.0, min(first, *(steps[0] for steps in lists)), points):
        least = [0.0]
        for i in range(1, len(lists[0])):
            sums = [steps[: i + 1].sum() - t for steps in lists]
            rest = [alpha * (first - t) + steps[:i].sum() for alpha, steps in cuts]
            least.append(min([i * t, *sums, *rest]))
        most = max(most, t**2 + sum(np.diff(least) ** 2))
    return most


@pytest.mark.parametrize("seed", range(8))
def test_the_maximum_is_that_of_a_fine_grid(seed):
    rng = np.random.default_rng(seed)
    k = int(rng.integers(2, 6))
    lists = [falling(rng, k) for _ in range(rng.integers(1, 4))]
    cuts = [(float(rng.choice([0.0, 1.0, 3.0])), falling(rng, k - 1)) for _ in range(seed % 3)]
    known = lists, cuts, max(float(steps[0]) for steps in lists)
    met = on_grid(*known)
    # Between two points of the grid the value changes by no more than its slope allows.
    assert met <= most_captured(limits_of(*known)) <= met * 1.01


def test_a_cut_makes_a_large_first_block_cost_the_others():
    steps = [np.array([3.0, 3.0])]
    # p_2 <= min(t, 3 - t + 1), so 2^2 + 2^2 at t = 2 and 3^2 + 1^2 at t = 3.
    assert most_captured(limits_of(steps, [(1.0, np.ones(1))], 3.0)) == pytest.approx(10.0)
    # A steeper one is best met where both blocks are equal: t = 8 (3 - t).
    steep = most_captured(limits_of(steps, [(8.0, np.zeros(1))], 3.0))
    assert steep == pytest.approx(2.0 * (8.0 / 3.0) ** 2)
