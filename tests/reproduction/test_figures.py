"""What figures show: medians, ranges, cut runs, exact zeros, and the planted line."""

import re
from dataclasses import replace

import matplotlib as mpl
import pytest
from matplotlib.colors import to_hex

from orthonmf.reproduction.figures import as_png, as_svg, figure_of, key_figures, panel_figures
from orthonmf.reproduction.panels import LOOKS, palette
from orthonmf.reproduction.summary import Measured
from tests.reproduction.made_results import changed, made_rows, small

pytestmark = pytest.mark.slow  # all together take long


@pytest.fixture(scope="module")
def measured():
    return Measured(filter(small, made_rows()))


def lines_of(axes, method):
    """The line of medians and the two sets of markers of a method, by its color."""
    color = palette()[LOOKS[method].color]
    of_color = [line for line in axes.lines if to_hex(line.get_color()) == color]
    markers = [line for line in axes.lines if to_hex(line.get_markeredgecolor()) == color]
    drawn = next(line for line in of_color if line.get_linestyle() != "None")
    return drawn, [line for line in markers if line.get_marker() == LOOKS[method].marker]


def test_lines_are_medians_and_ours_is_red_and_thick(measured):
    axes = figure_of(measured, "experiment-1").axes[0]
    drawn, _ = lines_of(axes, "onmf-apx")
    medians = measured.medians("experiment-1", "onmf-apx", "recovery_error")
    assert list(drawn.get_ydata()) == pytest.approx(list(medians.values()))
    assert max(line.get_linewidth() for line in axes.lines) == drawn.get_linewidth()
    red, green, blue = (int(to_hex(drawn.get_color())[at : at + 2], 16) for at in (1, 3, 5))
    assert red > 2 * max(green, blue)


@pytest.mark.slow
def test_panels_stand_as_in_the_paper(measured):
    figure = figure_of(measured, "experiment-2")
    titles = [axes.get_title(loc="left") for axes in figure.axes]
    assert titles == [
        "Recovery error", "Reconstruction error", "Non-orthogonality", "Running time",
    ]  # fmt: skip
    assert figure.axes[3].get_yscale() == "log"
    assert all(axes.get_xlabel() == "noise level" for axes in figure.axes)
    inner = figure_of(measured, "inner-dimensions")
    assert all(axes.get_xlabel() == "number of components" for axes in inner.axes)
    assert [one.get_text() for one in inner.axes[0].get_xticklabels()] == ["2", "5", "10", "20"]


def test_ranges_reach_from_the_smallest_to_the_largest(measured):
    axes = figure_of(measured, "experiment-1").axes[0]
    group = measured.groups("experiment-1", "em-onmf")[0.5]
    spread = group.spread("recovery_error")
    ends = [tuple(s[:, 1]) for one in axes.collections for s in one.get_segments()]
    assert (spread.minimum, spread.maximum) in ends
    assert spread.minimum < spread.median < spread.maximum


def test_the_planted_line_is_drawn(measured):
    axes = figure_of(measured, "experiment-1").axes[1]
    planted = [line for line in axes.lines if line.get_alpha() and line.get_linewidth() > 4]
    assert len(planted) == 1
    assert list(planted[0].get_ydata()) == pytest.approx([0, 100, 500, 1000], rel=1e-3)


def test_cut_runs_have_hollow_markers(measured):
    cut = changed(
        lambda row: row.method == "nhl" and row.noise == 0.5 and row.seed == 1,
        stop_reason="time_limit",
    )
    axes = figure_of(Measured(map(cut, measured.rows)), "experiment-1").axes[0]
    full, hollow = (
        sorted(len(m.get_xdata()) for m in lines_of(axes, "nhl")[1] if to_hex(
            m.get_markerfacecolor()) == face)
        for face in (palette()[LOOKS["nhl"].color], "#ffffff")
    )  # fmt: skip
    assert (full, hollow) == ([3], [1])


@pytest.mark.slow
def test_zeros_are_named_exact_and_stand_below_all_else(measured):
    axes = figure_of(measured, "experiment-1").axes[2]
    names = [one.get_text() for one in axes.get_yticklabels()]
    assert names[0] == "exactly 0"
    ours, _ = lines_of(axes, "onmf-apx")
    others, _ = lines_of(axes, "nmf")
    assert set(ours.get_ydata()) == {axes.get_yticks()[0]}
    assert max(ours.get_ydata()) < min(others.get_ydata()) / 50
    only_zeros = figure_of(measured, "experiment-2").axes[2]
    assert [one.get_text() for one in only_zeros.get_yticklabels()] == ["exactly 0"]


def test_without_zeros_nothing_is_called_exact(measured):
    rows = [replace(row, non_orthogonality=0.5) for row in measured.rows]
    axes = figure_of(Measured(rows), "experiment-1").axes[2]
    assert "exactly 0" not in [one.get_text() for one in axes.get_yticklabels()]


def test_the_time_panel_says_how_many_runs_were_timed(measured):
    rows = [replace(r, seconds=r.seconds if r.seed else None) for r in measured.rows]
    axes = figure_of(Measured(rows), "experiment-2").axes[3]
    assert axes.get_title(loc="right") == "timed serially only: 32 of 48 runs"


def test_the_legend_names_all_methods(measured):
    (legend,) = figure_of(measured, "double-factor").legends
    assert [text.get_text() for text in legend.get_texts()] == [
        "ONMF-apx", "ONMF-apx, best of 10", "orthonmf (best)", "NMF", "ONMF-Ding-double",
        "ONMF-Ding-double-noisy", "planted solution",
    ]  # fmt: skip
    assert set(key_figures(measured, "double-factor")) == {
        text.get_text() for text in legend.get_texts()
    }


def test_real_data_show_both_sides_and_the_published_values(measured):
    figures = panel_figures(measured, "real-data")
    assert list(figures) == [
        "amazon-commerce-reviews", "arcene-train", "mfeat-pix", "bow-kos", "bow-nips",
    ]  # fmt: skip
    (axes,) = figures["bow-kos"].axes
    upright = {line.get_xdata()[0] for line in axes.lines if len(set(line.get_xdata())) == 1}
    assert {0.7685, 0.7609} <= upright
    names = [text.get_text() for text in axes.get_yticklabels()]
    assert names == ["over samples", "over features"]


@pytest.mark.slow
@pytest.mark.parametrize("experiment", ["double-factor", "real-data"])
def test_files_are_the_same_every_time_and_say_nothing_of_the_day(measured, experiment):
    drawn = [figure_of(measured, experiment) for _ in range(2)]
    first, second = (as_svg(figure, experiment) for figure in drawn)
    assert first == second
    assert not re.search(r"<metadata|\d{4}-\d\d-\d\d", first)
    if experiment == "double-factor":
        pictures = [as_png(figure) for figure in drawn]
        assert pictures[0] == pictures[1]
        assert pictures[0].startswith(b"\x89PNG")
        assert b"Software" not in pictures[0]


def test_drawing_leaves_no_trace_in_the_settings(measured):
    before = dict(mpl.rcParams)
    as_svg(figure_of(measured, "experiment-2"), "x")
    assert dict(mpl.rcParams) == before


@pytest.mark.slow
def test_strange_names_are_drawn_as_they_are(measured):
    rows = [replace(row, method="$\\frac<&") for row in measured.of("experiment-2", "onmfs")]
    text = as_svg(figure_of(Measured(rows), "experiment-2"), "x")
    assert "$\\frac&lt;&amp;" in text
