"""How promises follow from one another: ratios are rounded up, and kinds never get stronger."""

import math

import pytest

from orthonmf.certificate import Promise
from orthonmf.onmf.promises import (
    double_from_lines,
    double_from_means,
    in_floating_point,
    in_sequence,
    single_from_means,
    strongest,
)

NOTHING = Promise(reason="why")


def test_a_ratio_of_the_clustering_is_doubled_and_of_no_ratio_the_reason_stays():
    assert single_from_means(Promise(9.0, "expected")) == Promise(18.0, "expected")
    for derived in (single_from_means, double_from_means, double_from_lines):
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


@pytest.mark.parametrize("ratio", [1.0, 19.0, 26.0])
def test_from_lines_it_is_about_half_of_that(ratio):
    derived = double_from_lines(Promise(ratio, "always"))
    c = 1 / math.sin(math.radians(15)) ** 2
    wanted = (1 + math.sqrt(3)) / 2 * ratio + c * (1 + math.sqrt(ratio)) ** 2
    assert derived.ratio == pytest.approx(wanted, rel=1e-5)
    assert derived.ratio >= wanted * (1 - 1e-12)
    assert derived.ratio < 0.55 * double_from_means(Promise(ratio, "always")).ratio
    assert derived.kind == "always"


@pytest.mark.parametrize("derived", [double_from_means, double_from_lines])
def test_what_rounding_adds_to_clusters_counts_as_often_as_the_slope_of_the_ratio_says(derived):
    """A cost of clusters that is larger by d leaves an error larger by at most that times d."""
    best = 1.0  # the optimum over both sides
    for ratio in (1.0, 5.0, 40.0):
        promise = derived(Promise(ratio, "always"))
        # Means cost twice what lines do: their unit of cost is that of the optimum over one side.
        unit = 2.0 if derived is double_from_means else 1.0
        more = derived(Promise(ratio + 1e-6 / unit, "always"))
        slope = (more.ratio - promise.ratio) * best / 1e-6
        assert slope <= promise.amplifies * (1 + 1e-6)
        assert promise.amplifies <= slope * (1 + 1e-4)
    assert single_from_means(Promise(3.0, "always")).amplifies == 1.0


def test_rounding_enlarges_amplified_promises_more():
    plain, amplified = Promise(30.0, "expected"), Promise(30.0, "expected", amplifies=20.0)
    sizes = {"relative_squared_error": 1e-3, "shape": (500, 400), "k": 5}
    enlarged = [in_floating_point(p, **sizes).ratio / 30.0 - 1.0 for p in (plain, amplified)]
    assert 0 < enlarged[0] < enlarged[1] < 1e-3
    # Draws are what is amplified most; there the error has to be further above rounding.
    assert in_floating_point(plain, 1e-5, (500, 400), 5).ratio is not None
    assert in_floating_point(amplified, 1e-7, (500, 400), 5).ratio is None


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
