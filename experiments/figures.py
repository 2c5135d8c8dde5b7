"""Figures of the experiments as SVG: the same bytes for the same results."""

from __future__ import annotations

import io
import math
from dataclasses import dataclass
from typing import Any

import matplotlib as mpl
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from experiments.checks import Runs, real_errors
from experiments.paper import BEST, OF_TEN, ONMF_APX, PUBLISHED, SIDES
from experiments.tables import EXPERIMENTS, label, methods_of

DODGE = 0.003  # of the width: bars of different methods at one level stand side by side
INK, SOFT, RULE, PLANTED = "#1d1f21", "#62666b", "#d9dadc", "#2e7d32"
CAPTION = "Medians over the seeds, with bars from the smallest to the largest"
HOLLOW = "hollow: at least one run ended by the time limit"


@dataclass(frozen=True, slots=True)
class Look:
    """How a method is drawn."""

    color: str
    marker: str
    dashes: Any = "-"
    width: float = 1.2
    size: float = 4.5  # of the marker


# Ours is red and thick and EM-ONMF black, as in the paper.
LOOKS = {
    ONMF_APX: Look("#c62828", "o", width=3.0, size=8.0),
    OF_TEN: Look("#e08a1e", "o", (0, (3, 1.5)), width=2.0, size=5.0),
    BEST: Look("#1f5fa8", "D", width=2.0, size=6.0),
    "nmf": Look("#8d6e63", "s", (0, (5, 1.5))),
    "pnmf": Look("#3f8fd2", "^"),
    "onfs-ding": Look("#7b52ab", "v", (0, (1.5, 1))),
    "nhl": Look("#00897b", "<", (0, (5, 1, 1, 1))),
    "onmf-a": Look("#d05a9d", ">"),
    "hals": Look("#7a8b00", "P", (0, (3, 1))),
    "em-onmf": Look(INK, "X"),
    "onmfs": Look("#607d8b", "p", (0, (4, 1.5))),
    "onmf-ding-double": Look("#7b52ab", "h", (0, (4, 1.5))),
    "onmf-ding-double-noisy": Look("#7a8b00", "*", (0, (1.5, 1))),
}
UNKNOWN = Look(SOFT, "d")
PANELS = {
    "recovery_error": ("Recovery error", "distance to the planted matrix"),
    "reconstruction_error": ("Reconstruction error", "distance to the input"),
    "non_orthogonality": ("Non-orthogonality", "non-orthogonality of W"),
    "seconds": ("Running time", "seconds (log scale)"),
}


def draw(results: pd.DataFrame, experiment: str) -> str:
    """The figure of an experiment as SVG: four panels, or the ranges of the real data."""
    own = results[(results["experiment"] == experiment) & ~results["missing"]]
    real = experiment == "real-data"
    panels = [name for name in PUBLISHED if name in set(own["dataset"])] if real else list(PANELS)
    rows = max(1, math.ceil(len(panels) / 2))
    figure = Figure(figsize=(11, 1.1 + 2.1 * rows if real else 8.4), layout="constrained")
    for place, panel in enumerate(panels):
        axes = figure.add_subplot(rows, 2, place + 1)
        if real:
            _draw_ranges(axes, Runs(experiment, own, own.iloc[:0]), panel)
        else:
            _draw_panel(axes, own, experiment, panel)
    figure.suptitle(EXPERIMENTS[experiment].title, x=0.02, ha="left", color=INK)
    _add_legend(figure, own, real)
    return as_svg(figure, experiment)


def as_svg(figure: Figure, salt: str) -> str:
    """A figure as SVG: text stays text, and nothing tells the date."""
    text, untold = io.StringIO(), dict.fromkeys(("Creator", "Date", "Format", "Type"))
    with mpl.rc_context({"svg.hashsalt": salt, "svg.fonttype": "none"}):
        figure.savefig(text, format="svg", metadata=untold)
    return text.getvalue()


def _add_legend(figure: Figure, own: pd.DataFrame, real: bool) -> None:
    handles = {}
    for method in methods_of(own):
        look = LOOKS.get(method, UNKNOWN)
        handles[label(method)] = Line2D(
            [], [], color=look.color, linewidth=look.width, linestyle=look.dashes,
            marker=look.marker, markersize=look.size,
        )  # fmt: skip
    if real:
        handles["published in the paper"] = Line2D([], [], color=INK, linewidth=1.6)
        handles["Asteris et al."] = Line2D([], [], color=SOFT, linewidth=1.6, linestyle=":")
    else:
        handles["planted solution"] = Line2D([], [], color=PLANTED, linewidth=5, alpha=0.45)
    figure.legend(
        handles.values(), handles.keys(), loc="outside lower center", ncols=5, frameon=False,
        fontsize=9, title=CAPTION if real else f"{CAPTION}; {HOLLOW}", title_fontsize=9,
        handlelength=3.5,
    )  # fmt: skip


def _draw_panel(axes: Axes, own: pd.DataFrame, experiment: str, panel: str) -> None:
    """Medians as lines, ranges over the seeds as thin bars, cut runs as hollow markers."""
    both = panel == "non_orthogonality" and experiment == "double-factor"
    measure = "either_non_orthogonality" if both else panel
    title, unit = PANELS[panel]
    known = own.dropna(subset=[measure])
    spreads = known.groupby(["method", "level"], observed=True).agg(
        low=(measure, "min"), middle=(measure, "median"), high=(measure, "max"), cut=("cut", "any")
    )
    if panel == "non_orthogonality":
        # Linear below the smallest, so that what is exactly 0 has its place.
        smallest = known[measure].where(known[measure] > 0, 1.0).min()
        axes.set_yscale("symlog", linthresh=smallest, linscale=2)
        if not known[measure].any():
            axes.set_yticks([0.0])
    elif panel == "seconds" and len(spreads):
        axes.set_yscale("log")
    methods = methods_of(known)
    levels = sorted(own["level"].unique())
    step = DODGE * ((levels[-1] - levels[0]) or 1.0) if levels else 0.0
    for place, method in enumerate(methods):
        aside = step * (place - (len(methods) - 1) / 2)
        _draw_method(axes, spreads.loc[method], LOOKS.get(method, UNKNOWN), aside)
    if panel == "reconstruction_error":
        planted = own.drop_duplicates(["level", "seed"]).groupby("level")["planted_error"].median()
        axes.plot(planted.index, planted, color=PLANTED, linewidth=5, alpha=0.45, zorder=2)
    by_components = experiment == "inner-dimensions"
    axes.set_xlabel("number of components" if by_components else "noise level")
    axes.set_ylabel("the larger one of A and W" if both else unit)
    if by_components:
        axes.set_xticks(levels, [f"{at:g}" for at in levels])
    if panel == "seconds":
        note = f"timed serially only: {len(known)} of {len(own)} runs"
        axes.set_title(note, loc="right", fontsize=9, color=SOFT)
    _dress(axes, title)


def _draw_method(axes: Axes, spreads: pd.DataFrame, look: Look, aside: float) -> None:
    front = 6 - look.width  # the thickest lie lowest, so that lines that coincide are all seen
    across = spreads.index + aside
    bars = spreads.assign(gap=np.nan)[["low", "high", "gap"]].to_numpy().ravel()
    axes.plot(np.repeat(across, 3), bars, color=look.color, linewidth=0.8, alpha=0.7,
              zorder=front)  # fmt: skip
    axes.plot(across, spreads["middle"], color=look.color, linewidth=look.width,
              linestyle=look.dashes, zorder=front)  # fmt: skip
    for hollow in (False, True):
        chosen = spreads["cut"] == hollow
        axes.plot(
            across[chosen], spreads.loc[chosen, "middle"], linestyle="none", marker=look.marker,
            markersize=look.size, markeredgecolor=look.color, markeredgewidth=1.2,
            markerfacecolor="white" if hollow else look.color, zorder=front + 0.1,
        )  # fmt: skip


def _draw_ranges(axes: Axes, runs: Runs, name: str) -> None:
    """Smallest, median and largest error on both sides of a set, and the published values."""
    for place, side in enumerate(SIDES):
        for method, aside in ((ONMF_APX, 0.13), (BEST, -0.13)):
            errors = real_errors(runs, name, side, method)
            if not len(errors):
                continue
            look, height = LOOKS[method], -place + aside
            axes.plot([errors.min(), errors.max()], [height, height], color=look.color,
                      linewidth=2.5, marker="|", markersize=9)  # fmt: skip
            axes.plot([errors.median()], [height], color=look.color, linestyle="none",
                      marker=look.marker, markersize=7)  # fmt: skip
    axes.axvline(PUBLISHED[name].published, color=INK, linewidth=1.6)
    axes.axvline(PUBLISHED[name].asteris, color=SOFT, linewidth=1.6, linestyle=":")
    axes.set_xlabel("relative squared error")
    axes.set_yticks([0, -1], [f"over {side}" for side in SIDES])
    axes.set_ylim(-1.5, 0.5)
    axes.margins(x=0.08)
    axes.ticklabel_format(axis="x", useOffset=False)
    axes.locator_params(axis="x", nbins=5)
    _dress(axes, PUBLISHED[name].label)


def _dress(axes: Axes, title: str) -> None:
    axes.set_title(title, loc="left", fontsize=11, fontweight="bold", color=INK)
    axes.grid(color=RULE, linewidth=0.7)
    axes.set_axisbelow(True)
    axes.tick_params(which="both", colors=SOFT, labelsize=9)
    axes.spines[["top", "right"]].set_visible(False)
