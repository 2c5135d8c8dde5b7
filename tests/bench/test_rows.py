"""Every row has a verdict, and a verdict follows from the figures alone."""

import pytest

from orthonmf.bench.rows import Goal, Row


@pytest.mark.parametrize(
    ("relation", "found", "is_reached"),
    [
        ("<=", 3.0, True),
        ("<=", 3.1, False),
        ("<", 3.0, False),
        ("<", 2.9, True),
        (">=", 3.0, True),
        (">=", 2.9, False),
        ("<=", float("nan"), False),
        (">=", float("nan"), False),
    ],
)
def test_a_goal_is_reached_when_its_bound_is_kept(relation, found, is_reached):
    goal = Goal("ratio", relation, 3.0, found)
    assert goal.is_reached is is_reached
    assert goal.plain()["verdict"] == ("reached" if is_reached else "missed")
    assert goal.plain()["goal"] == f"{relation} 3"


def test_one_missed_goal_makes_a_missed_row_that_names_it():
    fast, slow = Goal("ratio", ">=", 3.0, 4.0), Goal("ratio", ">=", 3.0, 2.0)
    better, worse = Goal("error", "<=", 0.1, 0.1), Goal("error", "<=", 0.1, 0.2)
    assert Row("small", "x", goals=(fast, better)).verdict == "reached"
    assert Row("small", "x", goals=(fast, worse)).verdict == "missed: error"
    assert Row("small", "x", goals=(slow, worse)).verdict == "missed: ratio, error"
    assert Row("small", "x").verdict == "no goal"


def test_a_row_that_is_not_judged_claims_nothing():
    row = Row("small", "x", goals=(Goal("ratio", ">=", 3.0, 4.0),), state="not judged")
    assert row.verdict == "not judged"
    assert row.plain()["goals"] == []
