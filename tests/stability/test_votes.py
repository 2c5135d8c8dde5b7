"""What is counted of refits, on labels that are given."""

import numpy as np
import pytest
from scipy.optimize import linear_sum_assignment

from orthonmf.stability.record import Stability
from orthonmf.stability.votes import count_votes

LABELS = np.array([0, 0, 0, 0, 1, 1, 1, 2, 2, -1])
ENERGIES = np.array([9.0, 1, 1, 1, 1, 1, 1, 1, 1, 0])


def votes_of(*refits, labels=LABELS):
    return count_votes(labels, ENERGIES, 3, [np.array(refit) for refit in refits])


def test_names_of_refits_do_not_matter():
    rng = np.random.default_rng(0)
    refits = [np.where(rng.random(10) < 0.3, rng.integers(-1, 3, 10), LABELS) for _ in range(7)]
    renamed = [np.append(rng.permutation(3), -1)[refit] for refit in refits]
    first, second = votes_of(*refits), votes_of(*renamed)
    np.testing.assert_array_equal(first.counts, second.counts)
    np.testing.assert_array_equal(first.jaccard, second.jaccard)
    assert first.agreement == pytest.approx(second.agreement)


def test_certainty_is_the_share_of_refits_that_keep_a_point():
    same = LABELS
    moved = np.array([0, 0, 0, 1, 1, 1, 1, 2, 2, 0])  # one of group 0 goes to 1
    side = votes_of(same, same, same, moved)
    assert side.certainty.tolist() == [1, 1, 1, 0.75, 1, 1, 1, 1, 1, 0]
    assert side.second.tolist() == [-1, -1, -1, 1, -1, -1, -1, -1, -1, -1]
    assert side.second_share[3] == 0.25
    assert side.kept(0.8).tolist() == [0, 0, 0, -1, 1, 1, 1, 2, 2, -1]
    assert side.exchange[0].tolist() == [15 / 16, 1 / 16, 0]
    assert side.jaccard.tolist() == [15 / 16, 15 / 16, 1]
    # The heavy point of group 0 is sure, so by energy the group is surer than by count.
    assert side.energy_certainty[0] == (11 + 0.75) / 12


def test_a_group_that_vanishes_is_no_error_and_its_votes_are_lost():
    merged = np.array([0, 0, 0, 0, 1, 1, 1, 1, 1, -1])
    side = votes_of(merged, merged)
    assert side.certainty.tolist() == [1] * 7 + [0, 0, 0]
    assert side.exchange[2].tolist() == [0, 1, 0]
    assert side.groups["state"].tolist() == ["stable", "unsure", "dissolved"]
    assert side.groups["exchanges_with"].tolist() == [(), (2,), (1,)]
    nothing = votes_of([-1] * 10, [-1] * 10)
    assert not nothing.certainty.any()
    assert not nothing.jaccard.any()


def test_groups_that_share_no_point_are_not_matched():
    """A group that split is not said to have become one that it never met."""
    split = np.array([0, 0, 3, 3, 1, 1, 1, 1, 1, -1])  # group 2 is gone, group 0 in two halves
    assert votes_of(split, split).exchange[0].tolist() == [0.5, 0, 0]


@pytest.mark.parametrize("seed", range(8))
def test_votes_are_those_of_the_definition(seed):
    """Each step written out, point by point."""
    rng = np.random.default_rng(seed)
    refits = [rng.integers(-1, 4, len(LABELS)) for _ in range(3)]
    side = votes_of(*refits)
    wanted = np.zeros((len(LABELS), 3))
    for refit in refits:
        shared = np.array(
            [[np.sum((g == LABELS) & (refit == h)) for h in range(4)] for g in range(3)]
        )
        for g, h in zip(*linear_sum_assignment(-shared), strict=True):
            wanted[(refit == h) & (LABELS >= 0) & (shared[g, h] > 0), g] += 1
    np.testing.assert_array_equal(side.counts, wanted)


def test_sentences_say_no_more_than_the_shares():
    moved = np.array([0, 0, 1, 1, 1, 1, 1, 2, 2, -1])
    stability = Stability(votes_of(LABELS, moved, moved), None, 3, "coordinates", 0)
    wanted = "78% of the rows keep their group in at least 3 of 3 refits."
    assert stability.summary(0.7) == wanted
    assert stability.findings() == [
        "Group 0 (4 rows) is unsure: on average a row of it stays in 67% of the refits, is in "
        "group 1 in 33%.",
        "Group 1 (3 rows) is unsure: on average a row of it stays in 100% of the refits, one of "
        "group 0 comes to it in 33%.",
    ]
    assert stability.findings()[0] in repr(stability)
    assert "exchanges_with" in stability._repr_html_()
