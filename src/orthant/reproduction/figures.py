"""Figures of the experiments, as SVG and PNG: the same bytes for the same results."""

from __future__ import annotations

import io
import math
from typing import Any

from orthant.extras import import_extra
from orthant.reproduction.panels import (
    LOOKS,
    PLANTED,
    PLANTED_COLOR,
    UNKNOWN,
    draw_panel,
    dress_axes,
    palette,
    panels_of,
)
from orthant.reproduction.paper import PUBLISHED
from orthant.reproduction.summary import BEST, DEFINITIONS, ONMF_APX, SIDES, Measured, label

DOTS_PER_INCH = 150
PANEL_INCHES = (5.4, 3.5)
PANEL_PLACE = (0.185, 0.14, 0.795, 0.76)  # left, bottom, width, height, as shares
RANGES_PLACE = (0.2, 0.27, 0.77, 0.58)
KEY_INCHES = (0.5, 0.2)
EARLIER_DASHES = (0, (2, 2))
CAPTION = "Medians over the seeds, with bars from the smallest to the largest"
HOLLOW = "hollow: at least one run ended by the time limit"


def figure_of(measured: Measured, experiment: str) -> Any:
    """The figure of an experiment: four panels, or the ranges of the real data."""
    figure = _real_figure(measured) if experiment == "real-data" else _four(measured, experiment)
    figure.draw_without_rendering()
    figure.set_layout_engine("none")  # the places are found; they need not be for every file
    return figure


def _four(measured: Measured, experiment: str) -> Any:
    figure = _new_figure(11, 8.4)
    for place, panel in enumerate(panels_of(experiment)):
        draw_panel(figure.add_subplot(2, 2, place + 1), measured, experiment, panel)
    figure.suptitle(DEFINITIONS[experiment].title, x=0.02, ha="left", color=palette()["ink"])
    _add_legend(figure, measured, experiment, f"{CAPTION}; {HOLLOW}")
    return figure


def panel_figures(measured: Measured, experiment: str) -> dict[str, Any]:
    """Every panel as a figure of its own, by what it shows: a page can stack them."""
    figures = {}
    if experiment == "real-data":
        for name in _sets(measured):
            figures[name] = _new_figure(PANEL_INCHES[0], 2.1, layout=None)
            _draw_ranges(figures[name].add_axes(RANGES_PLACE), measured, name)
        return figures
    for panel in panels_of(experiment):
        figures[panel.title] = _new_figure(*PANEL_INCHES, layout=None)
        draw_panel(figures[panel.title].add_axes(PANEL_PLACE), measured, experiment, panel)
    return figures


def key_figures(measured: Measured, experiment: str) -> dict[str, Any]:
    """The line and marker of every method as small figures, by label, for a page's legend."""
    figures = {}
    for name, handle in _handles(measured, experiment).items():
        figure = _new_figure(*KEY_INCHES, layout=None)
        handle.set_data([0.1, 0.5, 0.9], [0.5, 0.5, 0.5])
        handle.set_markevery([1])
        handle.set_transform(figure.transFigure)
        figure.add_artist(handle)
        figures[name] = figure
    return figures


def as_svg(figure: Any, salt: str) -> str:
    """A figure as SVG; text stays text, and ``salt`` tells its identities from other figures'."""
    nothing = dict.fromkeys(("Creator", "Date", "Format", "Type"))
    with import_extra("matplotlib", "report").rc_context(
        {"svg.hashsalt": salt, "svg.fonttype": "none"}
    ):
        text = io.StringIO()
        figure.savefig(text, format="svg", metadata=nothing)
    return text.getvalue()


def as_png(figure: Any) -> bytes:
    """A figure as PNG, without a word about the program that drew it."""
    content = io.BytesIO()
    figure.savefig(content, format="png", dpi=DOTS_PER_INCH, metadata={"Software": None})
    return content.getvalue()


def _new_figure(width: float, height: float, layout: str | None = "constrained") -> Any:
    # The object itself, without pyplot: no window system, no state shared with a caller.
    return import_extra("matplotlib.figure", "report").Figure(
        figsize=(width, height), layout=layout, facecolor="white"
    )


def _handle(method: str) -> Any:
    look = LOOKS.get(method, UNKNOWN)
    return import_extra("matplotlib.lines", "report").Line2D(
        [], [], color=palette()[look.color], linewidth=look.width, linestyle=look.dashes,
        marker=look.marker, markersize=look.size,
    )  # fmt: skip


def _handles(measured: Measured, experiment: str) -> dict[str, Any]:
    """What stands in the legend of an experiment, by name."""
    line = import_extra("matplotlib.lines", "report").Line2D
    handles = {label(method): _handle(method) for method in measured.methods(experiment)}
    if experiment == "real-data":
        dashed = {"linewidth": 1.6, "linestyle": EARLIER_DASHES}
        handles["published in the paper"] = line([], [], color=palette()["ink"], linewidth=1.6)
        handles["Asteris et al."] = line([], [], color=palette()["soft"], **dashed)
    else:
        thick = {"linewidth": PLANTED, "alpha": 0.45}
        handles["planted solution"] = line([], [], color=palette()[PLANTED_COLOR], **thick)
    return handles


def _add_legend(figure: Any, measured: Measured, experiment: str, caption: str) -> None:
    handles = _handles(measured, experiment)
    legend = figure.legend(
        handles.values(), handles.keys(), loc="outside lower center", ncols=5, frameon=False,
        fontsize=9, title=caption, title_fontsize=9, handlelength=3.5,
    )  # fmt: skip
    for text in legend.get_texts():
        text.set_parse_math(False)  # a name is a name, whatever signs are in it


def _sets(measured: Measured) -> list[str]:
    """The real sets with at least one result, in the order of the paper's table."""
    present = {row.dataset for row in measured.of("real-data", ONMF_APX, BEST)}
    return [*(name for name in PUBLISHED if name in present), *sorted(present - set(PUBLISHED))]


def _real_figure(measured: Measured) -> Any:
    names = _sets(measured)
    rows = max(1, math.ceil(len(names) / 2))
    figure = _new_figure(11, 1.1 + 2.1 * rows)
    if not names:
        axes = figure.add_subplot()
        axes.text(0.5, 0.5, "not measured", ha="center", color=palette()["soft"])
        axes.set_axis_off()
    for place, name in enumerate(names):
        _draw_ranges(figure.add_subplot(rows, 2, place + 1), measured, name)
    figure.suptitle(DEFINITIONS["real-data"].title, x=0.02, ha="left", color=palette()["ink"])
    _add_legend(figure, measured, "real-data", CAPTION)
    return figure


def _draw_ranges(axes: Any, measured: Measured, name: str) -> None:
    """Smallest, median and largest error on both sides of a set, and the published values."""
    colors = palette()
    for place, side in enumerate(SIDES):
        for method, aside in ((ONMF_APX, 0.13), (BEST, -0.13)):
            spread = measured.error_range(name, side, method)
            if spread is None:
                continue
            look, height = LOOKS[method], -place + aside
            ends = [spread.minimum, spread.maximum]
            axes.plot(ends, [height, height], color=colors[look.color], linewidth=2.5,
                      marker="|", markersize=9)  # fmt: skip
            axes.plot([spread.median], [height], color=colors[look.color], linestyle="none",
                      marker=look.marker, markersize=7)  # fmt: skip
    if name in PUBLISHED:
        known = PUBLISHED[name]
        axes.axvline(known.published, color=colors["ink"], linewidth=1.6)
        axes.axvline(known.asteris, color=colors["soft"], linewidth=1.6, linestyle=EARLIER_DASHES)
    axes.set_xlabel("relative squared error")
    axes.set_yticks([0, -1], [f"over {side}" for side in SIDES])
    axes.set_ylim(-1.5, 0.5)
    axes.margins(x=0.08)
    axes.ticklabel_format(axis="x", useOffset=False)
    axes.locator_params(axis="x", nbins=5)
    title = PUBLISHED[name].label if name in PUBLISHED else name
    axes.set_title(title, loc="left", fontsize=11, fontweight="bold", color=colors["ink"],
                   parse_math=False)  # fmt: skip
    dress_axes(axes)
    axes.grid(visible=False, axis="y")
