"""The time of a search: who ends whom, and what is said about it; no clock is waited for."""

import math

from orthonmf.bounds.allowance import INTERRUPTED, STOPPED, Allowance

AMPLE = 1e6
"""Seconds that no test takes."""


def test_without_a_limit_nothing_ends():
    allowance = Allowance()
    assert allowance.left == math.inf
    assert not allowance.ends()
    assert not allowance.ends(reserve=AMPLE)
    assert allowance.tell("a method") == "a method"


def test_no_seconds_end_at_once_and_say_so():
    allowance = Allowance(0.0)
    assert not allowance.cut  # nobody asked yet
    assert allowance.ends()
    assert allowance.cut == STOPPED
    assert allowance.left == 0.0
    assert allowance.tell("a method") == "a method, stopped by its time limit"


def test_the_reserve_is_time_that_a_search_does_not_have():
    assert not Allowance(AMPLE).ends(reserve=AMPLE / 2)
    allowance = Allowance(AMPLE)
    assert allowance.ends(reserve=2 * AMPLE)
    assert allowance.ends(), "once cut short, all that follows is too"


def test_a_share_is_that_part_of_what_is_left():
    whole = Allowance(AMPLE)
    half = whole.share(0.5)
    assert half.seconds == AMPLE / 2
    assert 0.4 * AMPLE < half.left <= AMPLE / 2
    given = whole.share(0.5, 7.0)
    assert given.seconds == 7.0, "choices count on these"
    assert given.left > 7.0, "the clock does not"


def test_the_limit_of_a_share_ends_that_share_alone():
    whole = Allowance(AMPLE)
    share = whole.share(0.0)
    assert share.ends()
    assert share.tell("a share") == "a share, stopped by its time limit"
    assert not whole.cut
    assert not whole.ends()
    assert whole.tell("all") == "all, stopped by its time limit", "it is known, all the same"


def test_an_interrupt_ends_all_that_shares_the_time():
    interrupts = []
    whole = Allowance(AMPLE, lambda: bool(interrupts))
    middle = whole.share(0.5)
    inner = middle.share(0.5)
    assert not inner.ends()
    interrupts.append("now")
    for allowance in (inner, middle, whole):
        assert allowance.cut == INTERRUPTED
        assert allowance.ends()
        assert allowance.tell("x") == "x, interrupted"
    later = whole.share(0.5)
    assert later.ends(), "nothing is left to share"
