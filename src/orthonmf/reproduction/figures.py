"""Figures of the experiments, as SVG and PNG: the same bytes for the same results."""

from __future__ import annotations

import io
import math
import re
from collections.abc import Callable
from functools import partial
from typing import Any

from orthonmf.extras import import_extra
from orthonmf.report.markup import Safe, escape
from orthonmf.reproduction.panels import (
    LOOKS,
    PLANTED,
    PLANTED_COLOR,
    UNKNOWN,
    draw_panel,
    dress_axes,
    palette,
    panels_of,
)
from orthonmf.reproduction.paper import PUBLISHED, paper_order
from orthonmf.reproduction.summary import BEST, DEFINITIONS, ONMF_APX, SIDES, Measured, label

DOTS_PER_INCH = 150
PANEL_INCHES, RANGES_INCHES = (5.4, 3.5), (5.4, 2.1)
PANEL_PLACE = (0.185, 0.14, 0.795, 0.76)  # left, bottom, width, height, as shares
RANGES_PLACE = (0.2, 0.27, 0.77, 0.58)
KEY_INCHES = (0.5, 0.2)
EARLIER_DASHES = (0, (2, 2))
CAPTION = "Medians over the seeds, with bars from the smallest to the largest"
HOLLOW = "hollow: at least one run ended by the time limit"


def figure_of(measured: Measured, experiment: str) -> Any:
    """The figure of an experiment: four panels, or the ranges of the real data."""
    drawings = _drawings(measured, experiment)
    real = experiment == "real-data"
    rows = max(1, math.ceil(len(drawings) / 2))
    figure = _new_figure(11, 1.1 + 2.1 * rows if real else 8.4)
    if not drawings:
        axes = figure.add_subplot()
        axes.text(0.5, 0.5, "not measured", ha="center", color=palette()["soft"])
        axes.set_axis_off()
    for place, draw in enumerate(drawings.values()):
        draw(figure.add_subplot(rows, 2, place + 1))
    figure.suptitle(DEFINITIONS[experiment].title, x=0.02, ha="left", color=palette()["ink"])
    _add_legend(figure, measured, experiment, CAPTION if real else f"{CAPTION}; {HOLLOW}")
    figure.draw_without_rendering()
    figure.set_layout_engine("none")  # the places are found; they need not be for every file
    return figure


def panel_figures(measured: Measured, experiment: str) -> dict[str, Any]:
    """Every panel as a figure of its own, by what it shows: a page can stack them."""
    real = experiment == "real-data"
    figures = {}
    for title, draw in _drawings(measured, experiment).items():
        figures[title] = _new_figure(*(RANGES_INCHES if real else PANEL_INCHES), layout=None)
        draw(figures[title].add_axes(RANGES_PLACE if real else PANEL_PLACE))
    return figures


def _drawings(measured: Measured, experiment: str) -> dict[str, Callable[[Any], None]]:
    """What draws each panel on axes, by its title: a measure, or a real set with results."""
    if experiment != "real-data":
        return {
            panel.title: partial(draw_panel, measured=measured, experiment=experiment, panel=panel)
            for panel in panels_of(experiment)
        }
    present = {row.dataset for row in measured.of("real-data", ONMF_APX, BEST)}
    return {
        name: partial(_draw_ranges, measured=measured, name=name) for name in paper_order(present)
    }


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


def inline(figure: Any, prefix: str, words: str | None) -> Safe:
    """A figure as an element of a page; ``words`` describe it, None hides it from readers.

    Its colors become the variables of the page's style, so they follow light and dark.
    """
    text = as_svg(figure, prefix)
    text = text[text.index("<svg") :]
    text = re.sub(r"<defs>\s*<style.*?</style>\s*</defs>", "", text, flags=re.DOTALL)
    text = re.sub(r'(\bid=")|(\burl\(#)|(href="#)', lambda found: f"{found[0]}{prefix}-", text)
    for name, color in palette().items():
        text = text.replace(color, f"var(--{name})")
    size = re.findall(r'viewBox="[^"]*"', text)[0]
    spoken = f'role="img" aria-label="{escape(words)}"' if words else 'aria-hidden="true"'
    opening = f'<svg class="drawn" {size} {spoken}>'
    return Safe(opening + re.sub(r"\s*\n\s*", "\n", text[text.index(">") + 1 :]).strip())


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


def _handles(measured: Measured, experiment: str) -> dict[str, Any]:
    """What stands in the legend of an experiment, by name."""
    line, colors = import_extra("matplotlib.lines", "report").Line2D, palette()
    handles = {}
    for method in measured.methods(experiment):
        look = LOOKS.get(method, UNKNOWN)
        handles[label(method)] = line(
            [], [], color=colors[look.color], linewidth=look.width, linestyle=look.dashes,
            marker=look.marker, markersize=look.size,
        )  # fmt: skip
    if experiment == "real-data":
        dashed = {"linewidth": 1.6, "linestyle": EARLIER_DASHES}
        handles["published in the paper"] = line([], [], color=colors["ink"], linewidth=1.6)
        handles["Asteris et al."] = line([], [], color=colors["soft"], **dashed)
    else:
        thick = {"linewidth": PLANTED, "alpha": 0.45}
        handles["planted solution"] = line([], [], color=colors[PLANTED_COLOR], **thick)
    return handles


def _add_legend(figure: Any, measured: Measured, experiment: str, caption: str) -> None:
    handles = _handles(measured, experiment)
    legend = figure.legend(
        handles.values(), handles.keys(), loc="outside lower center", ncols=5, frameon=False,
        fontsize=9, title=caption, title_fontsize=9, handlelength=3.5,
    )  # fmt: skip
    for text in legend.get_texts():
        text.set_parse_math(False)  # a name is a name, whatever signs are in it


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
