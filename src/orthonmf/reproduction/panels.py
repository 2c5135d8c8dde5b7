"""Panels: one measure of one experiment, drawn on axes."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from math import floor, inf, log10
from typing import Any

from orthonmf.report.shell import read_template
from orthonmf.reproduction.summary import BEST, OF_TEN, ONMF_APX, Group, Measured

DODGE = 0.003  # of the width: bars of different methods at one level stand side by side
THIN, THICK, PLANTED = 1.2, 3.0, 5.0


@dataclass(frozen=True, slots=True)
class Panel:
    """What one panel shows."""

    measure: str
    title: str
    unit: str


@dataclass(frozen=True, slots=True)
class Look:
    """How a method is drawn: a color of the page's palette, a marker, and dashes."""

    color: str
    marker: str
    dashes: Any = "-"
    width: float = THIN
    size: float = 4.5  # of the marker


# Ours is red and thick and EM-ONMF black, as in the paper.
LOOKS = {
    ONMF_APX: Look("mark", "o", width=THICK, size=8.0),
    OF_TEN: Look("c3", "o", (0, (3, 1.5)), width=2.0, size=5.0),
    BEST: Look("c0", "D", width=2.0, size=6.0),
    "nmf": Look("c7", "s", (0, (5, 1.5))),
    "pnmf": Look("c1", "^"),
    "onfs-ding": Look("c4", "v", (0, (1.5, 1))),
    "nhl": Look("c5", "<", (0, (5, 1, 1, 1))),
    "onmf-a": Look("c6", ">"),
    "hals": Look("c9", "P", (0, (3, 1))),
    "em-onmf": Look("ink", "X"),
    "onmfs": Look("c8", "p", (0, (4, 1.5))),
    "onmf-ding-double": Look("c4", "h", (0, (4, 1.5))),
    "onmf-ding-double-noisy": Look("c9", "*", (0, (1.5, 1))),
}
UNKNOWN = Look("none", "d")
PLANTED_COLOR = "c2"

NON_ORTHOGONALITY = Panel("non_orthogonality", "Non-orthogonality", "non-orthogonality of W")
BOTH = Panel("either_non_orthogonality", "Non-orthogonality", "the larger one of A and W")
TIME = Panel("seconds", "Running time", "seconds (log scale)")


def panels_of(experiment: str) -> list[Panel]:
    """The four panels in the paper's arrangement, row by row."""
    return [
        Panel("recovery_error", "Recovery error", "distance to the planted matrix"),
        Panel("reconstruction_error", "Reconstruction error", "distance to the input"),
        BOTH if experiment == "double-factor" else NON_ORTHOGONALITY,
        TIME,
    ]


@cache
def palette() -> dict[str, str]:
    """The light colors of the report's pages by name: ink, soft, rule, mark, none, c0 to c9."""
    light = read_template("page.css").partition("}")[0]
    return dict(re.findall(r"--([a-z]+\d?): (#[0-9a-f]{6})", light))


def draw_panel(axes: Any, measured: Measured, experiment: str, panel: Panel) -> None:
    """Draw medians as lines, ranges over the seeds as thin bars, cut runs as hollow markers."""
    groups, levels = measured.by_method(experiment)
    spreads = [group.spread(panel.measure) for one in groups.values() for group in one.values()]
    heights = [end for one in spreads if one for end in (one.minimum, one.median, one.maximum)]
    bottom = _exact_zero(heights) if panel.measure.endswith("non_orthogonality") else None
    step = DODGE * ((levels[-1] - levels[0]) or 1.0) if levels else 0.0
    for place, (method, own) in enumerate(groups.items()):
        aside = step * (place - (len(groups) - 1) / 2)
        look, lowest = LOOKS.get(method, UNKNOWN), -inf if bottom is None else bottom
        _draw_method(axes, own, look, panel.measure, aside, lowest)
    if panel.measure == "reconstruction_error":
        errors = measured.planted_errors(experiment)
        axes.plot(
            list(errors), list(errors.values()), color=palette()[PLANTED_COLOR],
            linewidth=PLANTED, alpha=0.45, zorder=2, solid_capstyle="round",
        )  # fmt: skip
    if panel is TIME and heights:
        axes.set_yscale("log")
    if bottom is not None:
        _label_exact_zero(axes, bottom, heights)
    if not heights:
        axes.text(0.5, 0.5, "not measured", transform=axes.transAxes, ha="center",
                  color=palette()["soft"])  # fmt: skip
    _dress(axes, measured, experiment, panel, levels)


def _draw_method(
    axes: Any, groups: dict[float, Group], look: Look, measure: str, aside: float, bottom: float
) -> None:
    """One method; what is lower than ``bottom`` is drawn there."""
    color = palette()[look.color]
    spreads = {at: group.spread(measure) for at, group in groups.items()}
    known = {at: spread for at, spread in spreads.items() if spread is not None}
    # The thickest lie lowest, so that lines that coincide are all seen.
    front = 6 - look.width
    across = [at + aside for at in known]
    low, middle, high = (
        [max(getattr(one, name), bottom) for one in known.values()]
        for name in ("minimum", "median", "maximum")
    )
    axes.vlines(across, low, high, color=color, linewidth=0.8, alpha=0.7, zorder=front)
    axes.plot(across, middle, color=color, linewidth=look.width, linestyle=look.dashes,
              zorder=front)  # fmt: skip
    for hollow in (False, True):
        chosen = [i for i, at in enumerate(known) if (groups[at].cut > 0) == hollow]
        axes.plot(
            [across[i] for i in chosen], [middle[i] for i in chosen], linestyle="none",
            marker=look.marker, markersize=look.size, markeredgecolor=color, markeredgewidth=1.2,
            markerfacecolor="white" if hollow else color, zorder=front + 0.1,
        )  # fmt: skip


def _exact_zero(heights: list[float]) -> float | None:
    """Where zero is drawn on a logarithmic axis: a good way below all else; None without zeros."""
    positive = [one for one in heights if one > 0]
    if not heights or min(heights) > 0:
        return 0.0 if not positive else None
    return 10.0 ** (floor(log10(min(positive))) - 2) if positive else 1.0


def _label_exact_zero(axes: Any, bottom: float, heights: list[float]) -> None:
    positive = [one for one in heights if one > 0]
    if not positive:
        axes.set_yticks([bottom], ["exactly 0"])
        axes.set_ylim(bottom - 1, bottom + 3)
        return
    axes.set_yscale("log")
    low, high = floor(log10(min(positive))), floor(log10(max(positive))) + 1
    step = max(1, (high - low + 4) // 5)
    powers = range(low, high + 1, step)
    names = ["exactly 0", *(f"$10^{{{power}}}$" for power in powers)]
    axes.set_yticks([bottom, *(10.0**power for power in powers)], names)
    axes.minorticks_off()
    axes.set_ylim(bottom / 10 ** ((high - low + 2) / 15), 10.0 ** (high + 0.2))


def _dress(
    axes: Any, measured: Measured, experiment: str, panel: Panel, levels: list[float]
) -> None:
    colors = palette()
    axes.set_title(panel.title, loc="left", fontsize=11, fontweight="bold", color=colors["ink"])
    by_components = experiment == "inner-dimensions"
    axes.set_xlabel("number of components" if by_components else "noise level")
    axes.set_ylabel(panel.unit)
    if by_components:
        axes.set_xticks(levels, [f"{at:g}" for at in levels])
    if panel is TIME:
        timed = measured.of(experiment)
        count = sum(row.seconds is not None for row in timed)
        note = f"timed serially only: {count} of {len(timed)} runs"
        axes.set_title(note, loc="right", fontsize=9, color=colors["soft"])
    dress_axes(axes)


def dress_axes(axes: Any) -> None:
    """The page's colors for frame, grid and text."""
    colors = palette()
    axes.grid(color=colors["rule"], linewidth=0.7)
    axes.set_axisbelow(True)
    axes.tick_params(which="both", colors=colors["soft"], labelsize=9)
    for text in (axes.xaxis.label, axes.yaxis.label):
        text.set(color=colors["soft"], fontsize=9.5)
    for name, spine in axes.spines.items():
        spine.set_visible(name in ("left", "bottom"))
        spine.set_color(colors["soft"])
