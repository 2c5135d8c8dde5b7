"""Trials summed up by hand, and the rule of the suggestion on tables made for it."""

from dataclasses import replace

import numpy as np
import pytest

from orthonmf.selection.choice import LEEWAY, Selection, suggest, sum_up
from orthonmf.selection.trial import Trial


def trial(k, error=0.5, null=0.9, *, repetition=0, bound=None, cosine=1.0, rand=1.0):
    return Trial(k, repetition, k if isinstance(k, int) else k[0], error, bound, null, cosine, rand)


def test_a_candidate_has_the_smallest_error_the_largest_bound_and_means_of_the_rest():
    trials = [
        trial(3, 0.2, 0.7, repetition=1, bound=None, cosine=0.8, rand=0.4),
        trial(2, 0.5, 0.8, bound=0.3, cosine=1.0, rand=0.6),
        trial(2, 0.4, 0.6, repetition=1, bound=0.35, cosine=0.6, rand=0.2),
        trial(3, 0.3, 0.5, bound=0.1, cosine=0.8, rand=0.4),
    ]
    two, three = sum_up(trials)
    assert (two.n_components, three.n_components) == (2, 3)
    assert (two.relative_error, two.lower_bound) == (0.4, 0.35)
    assert two.null_error == pytest.approx(0.7)
    # Gains are shares of the error that was left: 1 before the first.
    assert two.gain == pytest.approx(0.6)
    assert two.null_gain == pytest.approx(0.3)
    assert three.gain == pytest.approx(0.5)
    assert three.null_gain == pytest.approx(0.1 / 0.7)
    assert (two.matched_cosine, two.adjusted_rand) == (pytest.approx(0.8), pytest.approx(0.4))
    # Stabilities of the repetitions are 0.8 and 0.4: mean 0.6, deviation 0.2828 over root 2.
    assert two.stability == pytest.approx(0.6)
    assert two.stability_error == pytest.approx(0.2)
    assert three.stability_error == pytest.approx(0.0)


def test_before_a_pair_are_those_with_no_more_groups_on_either_side():
    trials = [
        trial((2, 2), 0.6, 0.9),
        trial((2, 3), 0.5, 0.85),
        trial((3, 2), 0.4, 0.95),
        trial((3, 3), 0.45, 0.7),
    ]
    by_size = {candidate.n_components: candidate for candidate in sum_up(trials)}
    assert by_size[2, 3].gain == pytest.approx(0.1 / 0.6)
    # What (3, 2) found counts for (3, 3) as well, in the data and in the permuted ones.
    assert by_size[3, 3].relative_error == 0.4
    assert by_size[3, 3].gain == 0.0
    assert by_size[3, 2].null_error == 0.9
    assert by_size[3, 3].null_gain == pytest.approx(0.15 / 0.85)


def summary(*rows):
    """Candidates 1, 2, ... from pairs of whether the error gains, and stability."""
    error, null, trials = 1.0, 1.0, []
    for k, (gains, stability) in enumerate(rows, start=1):
        error, null = error * (0.5 if gains else 0.9), null * 0.7
        trials.append(trial(k, error, null, cosine=stability, rand=stability))
    return sum_up(trials)


@pytest.mark.parametrize(
    ("rows", "number"),
    [
        ([(True, 1.0), (True, 1.0), (True, 0.5)], 2),  # the largest of the stable
        ([(True, 1.0), (True, 1.0 - LEEWAY / 2), (True, 0.5)], 2),  # nearly as stable is enough
        ([(True, 0.9), (False, 1.0)], 1),  # stable, but the error falls no faster than by chance
        ([(False, 0.2), (False, 0.8), (False, 0.5)], 2),  # no parts: where halves agree best
    ],
)
def test_the_largest_stable_number_that_still_gains_is_suggested(rows, number):
    suggestion, reason = suggest(summary(*rows))
    assert suggestion == number
    assert ("no parts" in reason) == (not any(gains for gains, _ in rows))


def test_a_spread_of_repetitions_wider_than_the_leeway_counts():
    stabilities = {1: (1.0, 0.6), 2: (0.7, 0.7)}  # 0.8 with a standard error of 0.2, and 0.7
    trials = [
        trial(k, 0.5**k, 0.9**k, repetition=number, cosine=agreed, rand=agreed)
        for k, several in stabilities.items()
        for number, agreed in enumerate(several)
    ]
    assert suggest(sum_up(trials))[0] == 2


def test_a_selection_is_shown_with_its_suggestion_in_text_html_and_table():
    trials = tuple(trial(k, 0.5**k, 0.9**k, bound=0.1 if k == 1 else None) for k in range(1, 11))
    candidates = sum_up(trials)
    selection = Selection(2, "of <reasons>", candidates, trials)
    lines = repr(selection).splitlines()
    assert lines[0] == "Selection(suggestion=2: of <reasons>)"
    assert [line for line in lines if line.endswith("<- suggested")] == [lines[2]]
    assert lines[-1] == "  and 2 more"
    assert "of &lt;reasons&gt;" in selection._repr_html_()
    table = selection.table
    assert table.index.name == "n_components"
    assert table["suggested"].sum() == 1
    assert np.isnan(table.loc[2, "lower_bound"])


@pytest.mark.parametrize(
    ("sizes", "ends"),
    [((1, 2, 3), False), ((1, 2), True), (((2, 2), (2, 3), (3, 3)), True)],
)
def test_a_suggestion_that_is_the_last_one_tried_says_so(sizes, ends):
    trials = [
        trial(size, 0.5**number, 0.9**number, cosine=1.0 if number < 2 or ends else 0.2)
        for number, size in enumerate(sizes)
    ]
    assert ("end of the range" in suggest(sum_up(trials))[1]) == ends


@pytest.mark.parametrize(
    ("errors", "number", "words"),
    [
        ((0.9, 0.8, 0.85), 2, "loses least"),
        ((0.9, 0.8, 0.8), 2, "loses least"),  # no more groups than lose as little
        ((0.9, 0.8, 0.7), 3, "end of the range"),
        ((1.1, 1.01, 1.2), 2, "no parts"),
    ],
)
def test_the_number_that_loses_least_of_held_out_counts_is_suggested(errors, number, words):
    trials = [
        replace(trial(k, 0.5**k, 0.9**k, repetition=r, rand=1 / k), held_out_error=error + shift)
        for k, error in enumerate(errors, start=1)
        for r, shift in enumerate((-0.005, 0.005))
    ]
    candidates = sum_up(trials)
    assert [each.held_out_error for each in candidates] == pytest.approx(errors)
    chosen, reason = suggest(candidates)
    assert chosen == number
    assert words in reason
    shown = Selection(chosen, reason, candidates, tuple(trials))
    assert f"held out {errors[1]:.4g}" in repr(shown)
    assert "held_out_error" in shown._repr_html_()


def test_one_component_that_explains_everything_is_the_suggestion():
    number, reason = suggest(sum_up([Trial(k, 0, 1, 0.0, None, 0.0, 1.0, 1.0) for k in (2, 3)]))
    assert number == 1
    assert "nothing to choose" in reason
