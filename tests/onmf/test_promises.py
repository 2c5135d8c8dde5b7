"""How promises follow from one another: ratios are rounded up, and kinds never get stronger."""

import math

import pytest

from orthonmf.certificate import Promise
from orthonmf.onmf.promises import double_from_means, in_sequence, single_from_means, strongest

NOTHING = Promise(reason="why")


def test_a_ratio_of_the_clustering_is_doubled_and_of_no_ratio_the_reason_stays():
    assert single_from_means(Promise(9.0, "expected")) == Promise(18.0, "expected")
    for derived in (single_from_means, double_from_means):
        assert derived(NOTHING) is NOTHING


@pytest.mark.parametrize("ratio", [1.0, 2.5, 26.0])
def test_the_promise_over_both_sides_is_that_of_the_docstring_and_below_that_of_the_paper(ratio):
    derived = double_from_means(Promise(ratio, "expected"))
    c = 1 / math.sin(math.radians(15)) ** 2
    wanted = 2 * ratio + 2 * c * (1 + math.sqrt(ratio)) ** 2
    assert derived.ratio == pytest.approx(wanted, rel=1e-4)
    assert derived.ratio >= wanted * (1 - 1e-12)
    assert derived.ratio < 2 * ratio + (8 * ratio + 8) * c
    assert derived.kind == "expected"


def test_ratios_of_one_side_after_the_other_add_up_and_are_rounded_up():
    both = in_sequence(Promise(2.0, "always"), Promise(3.5, "always"))
    assert (both.kind, both.ratio) == ("always", math.nextafter(5.5, math.inf))
    assert in_sequence(Promise(2.0, "always"), Promise(1.0, "expected")).kind == "expected"
    assert in_sequence(Promise(2.0, "expected"), Promise(1.0, "always")).kind == "expected"
    assert in_sequence(NOTHING, Promise(1.0, "always")) is NOTHING
    assert in_sequence(Promise(1.0, "always"), NOTHING) is NOTHING


def test_the_best_of_several_answers_keeps_the_smallest_promise():
    some, less = Promise(3.0, "expected"), Promise(2.0, "always")
    assert strongest([NOTHING, some, less]) is less
    assert strongest([NOTHING, Promise(reason="other")]) is NOTHING
    assert strongest([]).ratio is None
