"""What blocks can capture, against the largest value on a fine grid and known answers."""

import numpy as np
import pytest

from orthonmf.bounds.block_sums import Cut, Known, most_captured


def falling(rng, count):
    return np.sort(rng.exponential(size=count))[::-1]


def on_grid(known, points=1001):
    """The largest t^2 + sum of squared differences of R(t) on a grid, one t after the other."""
    k = len(known.lists[0])
    most = 0.0
    for t in np.linspace(0.0, min(known.first, *(steps[0] for steps in known.lists)), points):
        limits = [0.0]
        for i in range(1, k):
            sums = [steps[: i + 1].sum() - t for steps in known.lists]
            cuts = [c.alpha * (known.first - t) + c.steps[:i].sum() for c in known.cuts]
            limits.append(min([i * t, *sums, *cuts]))
        most = max(most, t**2 + sum(np.diff(limits) ** 2))
    return most


@pytest.mark.parametrize("seed", range(8))
def test_the_maximum_is_that_of_a_fine_grid(seed):
    rng = np.random.default_rng(seed)
    k = int(rng.integers(2, 6))
    lists = [falling(rng, k) for _ in range(rng.integers(1, 4))]
    cuts = [Cut(float(rng.choice([0.0, 1.0, 3.0])), falling(rng, k - 1)) for _ in range(seed % 3)]
    known = Known(max(float(steps[0]) for steps in lists), lists, cuts)
    most, where = most_captured(known)
    met = on_grid(known)
    # Between two points of the grid the value changes by no more than its slope allows.
    assert met <= most <= met * 1.01
    assert 0.0 <= where <= known.first


@pytest.mark.parametrize("k", [1, 2, 5])
def test_one_list_alone_captures_its_squares(k):
    steps = falling(np.random.default_rng(k), k)
    most, where = most_captured(Known(float(steps[0]), [steps]))
    assert most == pytest.approx(np.sum(steps**2), rel=1e-9)
    assert most >= np.sum(steps**2)
    assert where == pytest.approx(steps[0])


def test_of_two_lists_the_smaller_sums_count():
    loose, tight = np.array([3.0, 3.0, 3.0]), np.array([3.0, 1.0, 0.5])
    both = most_captured(Known(3.0, [loose, tight]))[0]
    assert both == pytest.approx(9.0 + 1.0 + 0.25)
    assert most_captured(Known(3.0, [loose]))[0] == pytest.approx(27.0)


def test_a_cut_makes_a_large_first_block_cost_the_others():
    steps = np.array([3.0, 3.0])
    cut = Cut(1.0, np.array([1.0]))
    # p_2 <= min(t, 3 - t + 1), so 2^2 + 2^2 at t = 2 and 3^2 + 1^2 at t = 3.
    most, where = most_captured(Known(3.0, [steps], [cut]))
    assert most == pytest.approx(10.0)
    assert where == pytest.approx(3.0)
    # A steeper one is best met where both blocks are equal: t = 8 (3 - t).
    most, where = most_captured(Known(3.0, [steps], [Cut(8.0, np.array([0.0]))]))
    assert most == pytest.approx(2.0 * (8.0 / 3.0) ** 2)
    assert where == pytest.approx(8.0 / 3.0)


def test_nothing_known_to_be_there_captures_nothing():
    assert most_captured(Known(0.0, [np.zeros(3)]))[0] <= 1e-12
