"""The picture of a stability: a map of where points go, and a dot for every point."""

from __future__ import annotations

from typing import Any

import numpy as np

from orthonmf.extras import import_extra
from orthonmf.stability.record import THRESHOLD, Membership
from orthonmf.typing import Array

MOST_DOTS = 150  # of a group
MOST_FIGURES = 15  # groups up to which shares are written into the map
WORTH_A_FIGURE = 0.05
HALF_WIDTH = 0.33  # of a band of dots


def draw(side: Membership) -> Any:
    """A matplotlib Figure of the groups of one side, the surest group first."""
    order = order_of_groups(side)
    k = len(order)
    figure = import_extra("matplotlib.figure", "report").Figure(
        (9, 2.6 + 0.22 * k), layout="constrained"
    )
    where, dots = figure.subplots(1, 2, width_ratios=(1, 1.6))
    moved = side.exchange[np.ix_(order, order)]
    where.imshow(moved, vmin=0, vmax=1, cmap="Blues")
    where.set(
        xlabel="group in refits",
        ylabel="group",
        title="share of refits (%)",
        xticks=range(k),
        yticks=range(k),
        xticklabels=order,
        yticklabels=order,
    )
    for row, column in np.argwhere(moved >= WORTH_A_FIGURE) if k <= MOST_FIGURES else ():
        color = "white" if moved[row, column] > 0.6 else "black"
        share = f"{100 * moved[row, column]:.0f}"
        where.text(column, row, share, ha="center", va="center", fontsize=7, color=color)
    for place, group in enumerate(order):
        certainty, heights = dots_of(side, group)
        dots.plot(certainty, place + heights, ".", ms=3, alpha=0.6)
        members = side.labels == group
        kept = np.mean(side.certainty[members] >= THRESHOLD) if members.any() else 0.0
        dots.text(1.03, place, f"{kept:.0%} of {members.sum():,}", va="center", fontsize=8)
    dots.axvline(THRESHOLD, color="0.5", lw=0.8, ls=":")
    dots.set(
        xlim=(-0.02, 1.02),
        ylim=(k - 0.5, -0.5),
        yticks=range(k),
        yticklabels=order,
        xlabel="share of refits that keep a point in its group",
        title=f"a dot for each; right: share at {THRESHOLD} or more",
    )
    return figure


def order_of_groups(side: Membership) -> Array:
    """Groups by their mean certainty, the surest first."""
    return np.argsort(-np.diag(side.exchange), kind="stable")


def dots_of(side: Membership, group: int) -> tuple[Array, Array]:
    """The certainty of some points of a group, and how far each dot is moved aside."""
    members = side.certainty[side.labels == group]
    rng = np.random.default_rng(group)
    drawn = members[rng.permutation(len(members))[:MOST_DOTS]]
    return drawn, rng.uniform(-HALF_WIDTH, HALF_WIDTH, len(drawn))
