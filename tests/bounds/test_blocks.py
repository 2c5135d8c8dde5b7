"""Blocks: what sums and cuts allow, by hand; theorems are in `test_tight_theorems.py`."""

import numpy as np
import pytest

from orthonmf.bounds.allowance import Allowance
from orthonmf.bounds.blocks import Limits, blocks_bound, most_captured


def test_a_matrix_of_zeros_or_beyond_the_safe_range_gets_no_bound():
    huge = np.random.default_rng(0).exponential(size=(3, 4)) * 2.0**400
    for X in (np.zeros((3, 4)), huge):
        assert blocks_bound(X, X @ X.T, 2, Allowance(), n_groups=[400]).value == 0.0


def limits_of(lists, cuts, first):
    """Limits, cuts being pairs of alpha and steps."""
    limits = Limits(first, ())
    for steps in lists:
        limits = limits.narrowed(0.0, first, steps)
    for alpha, steps in cuts:
        limits = limits.narrowed(alpha, first, steps)
    return limits


def test_a_cut_makes_a_large_first_block_cost_the_others():
    steps = [np.array([3.0, 3.0])]
    # p_2 <= min(t, 3 - t + 1), so 2^2 + 2^2 at t = 2 and 3^2 + 1^2 at t = 3.
    assert most_captured(limits_of(steps, [(1.0, np.ones(1))], 3.0)) == pytest.approx(10.0)
    # A steeper one is best met where both blocks are equal: t = 8 (3 - t).
    steep = most_captured(limits_of(steps, [(8.0, np.zeros(1))], 3.0))
    assert steep == pytest.approx(2.0 * (8.0 / 3.0) ** 2)
