"""Gaps of synthetic fits, worked out by hand."""

import pytest

from orthonmf.bench.quality.best_known import Case
from orthonmf.bench.quality.fits import Fit
from orthonmf.bench.quality.gaps import QUALITY, figures_of, gap, sum_up
from orthonmf.bench.rows import Row

CASE = Case("a", "samples", 6)


def fits(*errors, seconds=1.0):
    return [Fit(error, seconds, 6) for error in errors]


def row(case, **programs):
    named = {name.replace("_", " "): own for name, own in programs.items()}
    return Row(QUALITY, case.title, figures=figures_of(case, named, 0.1))


def test_a_gap_is_the_share_above_the_best():
    assert gap(0.102, 0.1) == pytest.approx(0.02)
    assert gap(0.09, 0.1) == pytest.approx(-0.1)


def test_errors_that_are_nothing_but_rounding_have_no_gap():
    assert gap(3e-16, 0.0) == 0.0
    assert gap(0.0, 3e-16) == 0.0
    assert gap(0.1, 0.0) > 1e6


def test_median_largest_and_share_are_those_of_the_gaps():
    found = figures_of(CASE, {"orthonmf": fits(0.1, 0.1005, 0.102, 0.12)}, 0.1)
    ours = found["programs"]["orthonmf"]
    assert ours["gaps"] == pytest.approx([0, 0.005, 0.02, 0.2])
    assert ours["median_gap"] == pytest.approx(0.0125)
    assert ours["largest_gap"] == pytest.approx(0.2)
    assert (ours["n_above"], ours["share_above"]) == (2, 0.5)
    assert ours["median_error"] == pytest.approx(0.10125)
    assert found["best_is_known"]
    assert not found["is_new_best"]


def test_without_a_value_known_the_best_of_all_programs_is_it():
    programs = {"orthonmf": fits(0.11, 0.12), "three lines": fits(0.1, 0.2)}
    found = figures_of(CASE, programs, None)
    assert found["best"] == found["best_found"] == 0.1
    assert not found["best_is_known"]
    assert not found["is_new_best"]
    assert min(found["programs"]["orthonmf"]["gaps"]) == pytest.approx(0.1)


def test_an_error_below_the_value_known_is_a_new_best_and_its_gap_negative():
    found = figures_of(CASE, {"orthonmf": fits(0.099, 0.11)}, 0.1)
    assert found["is_new_best"]
    assert found["best"] == 0.1
    assert found["best_found"] == 0.099
    assert found["programs"]["orthonmf"]["gaps"][0] == pytest.approx(-0.01)
    assert not figures_of(CASE, {"orthonmf": fits(0.1 - 1e-10)}, 0.1)["is_new_best"]


@pytest.mark.parametrize(("theirs", "is_better"), [(0.10144, True), (0.10146, False), (0.2, False)])
def test_three_lines_are_marked_where_they_are_more_than_a_little_better(theirs, is_better):
    programs = {"orthonmf": fits(0.1015, 0.1015, 0.1), "three lines": fits(theirs, theirs, 0.9)}
    marked = figures_of(CASE, programs, 0.1)["programs"]
    assert marked["three lines"]["is_better"] is is_better
    assert not marked["orthonmf"]["is_better"]


def test_a_setting_sums_up_all_fits_of_its_rows():
    rows = [
        row(CASE, orthonmf=fits(0.1, 0.102), three_lines=fits(0.1, 0.1, seconds=3.0)),
        row(Case("b", "samples", 6), orthonmf=fits(0.1, 0.13), three_lines=fits(0.2, 0.2)),
        row(Case("a", "both", 6), orthonmf=fits(0.1)),
        Row(QUALITY, "c", state="skipped", note="why"),
    ]
    samples, both = sum_up(rows)
    assert (samples.case, both.case) == ("samples", "both")
    ours, theirs = samples.figures["programs"].values()
    assert (ours["n_fits"], ours["n_above"], ours["n_rows"]) == (4, 2, 2)
    assert ours["largest_gap"] == pytest.approx(0.3)
    assert ours["median_gap"] == pytest.approx(0.01)
    assert (theirs["n_rows_better"], ours["n_rows_better"]) == (1, 0)
    assert theirs["ratio_of_seconds"] == pytest.approx(2.0)
    assert list(both.figures["programs"]) == ["orthonmf"]
