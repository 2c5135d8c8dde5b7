"""Draws by weight, and the order of vectors by what is in them."""

import numpy as np
import pytest

from orthonmf.engine.sampling import draw, draw_distinct, draw_sample
from orthonmf.vectors import by_value


def test_what_has_no_chance_is_never_drawn_at_either_end():
    chances = np.array([0.0, 0.0, 3.0, 0.0, 1.0, 0.0])
    rng = np.random.default_rng(0)
    picks = draw(chances, 4000, rng)
    assert set(picks) == {2, 4}
    assert np.mean(picks == 2) == pytest.approx(0.75, abs=0.03)
    for seed in range(20):
        assert set(draw_sample(chances, 5, np.random.default_rng(seed))[0]) <= {2, 4}


class Always:
    """Random numbers that are one and the same."""

    def __init__(self, number):
        self.number = number

    def random(self, size=None):
        return self.number if size is None else np.full(size, self.number)


def test_numbers_at_both_ends_of_their_range_draw_positions_that_have_a_chance():
    chances = np.concatenate(([0.0, 0.0], np.full(1000, 0.1), [0.0, 0.0]))
    last = Always(np.nextafter(1.0, 0.0))
    assert draw(chances, 3, last).tolist() == [1001] * 3
    assert draw_sample(chances, 1000, last)[0][-1] == 1001
    assert draw(chances, 3, Always(0.0)).tolist() == [2] * 3
    assert draw_sample(chances, 1000, Always(0.0))[0][0] == 2


@pytest.mark.parametrize("seed", range(5))
def test_even_draws_differ_from_their_share_by_less_than_one(seed):
    rng = np.random.default_rng(seed)
    chances = rng.exponential(size=30) * (rng.random(30) < 0.7)
    positions, counts = draw_sample(chances, 100, rng)
    assert (np.diff(positions) > 0).all()
    assert (chances[positions] > 0).all()
    assert counts.sum() == 100
    shares = 100 * chances / chances.sum()
    assert np.abs(np.bincount(positions, counts, minlength=30) - shares).max() < 1 + 1e-9


def test_distinct_draws_are_different_and_no_more_than_have_a_chance():
    chances = np.array([0.0, 1e-300, 2.0, 0.0, 5.0, 1e300])
    for size, expected in [(0, 0), (2, 2), (4, 4), (6, 4)]:
        drawn = draw_distinct(chances, size, np.random.default_rng(size))
        assert len(set(drawn)) == len(drawn) == expected
        assert (chances[drawn] > 0).all()


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_order_by_value_is_the_same_wherever_the_rows_stand(dtype):
    rng = np.random.default_rng(0)
    rows = rng.integers(0, 3, size=(12, 2)).astype(dtype)
    rows[0] = [1.0, 0.0]
    rows[7] = [1.0, -0.0]
    shuffled = rng.permutation(12)
    order = by_value(rows)
    assert sorted(order) == list(range(12))
    np.testing.assert_array_equal(rows[order], rows[shuffled][by_value(rows[shuffled])])
    # A zero with a sign is a zero, and equal rows keep their order.
    np.testing.assert_array_equal(order, by_value(np.abs(rows)))
    equal = [place for place in order if (rows[place] == [1.0, 0.0]).all()]
    assert equal == sorted(equal)
    assert by_value(np.zeros((3, 0))).tolist() == [0, 1, 2]
