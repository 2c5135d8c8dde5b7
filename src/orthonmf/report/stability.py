"""What refits say, for the page: where the members of every group are, and a dot for each."""

from __future__ import annotations

from typing import Any

from orthonmf.report.charts import dots_path
from orthonmf.report.story import Story
from orthonmf.stability.picture import MOST_DOTS, dots_of, order_of_groups
from orthonmf.stability.record import THRESHOLD, Membership

MOST_MAPPED = 24  # groups that are drawn, the surest and the least sure ones
WIDTH, ROW, LEFT, RIGHT, TOP, BOTTOM = 520, 22, 40, 96, 8, 36
TICKS = (0.0, 0.25, 0.5, 0.75, 1.0)


def told_refits(story: Story) -> list[dict[str, Any]]:
    """One record for every side that has groups; empty where nothing was refitted.

    Groups stand from the surest to the least sure; of too many the middle ones are left out.
    """
    told: list[dict[str, Any]] = []
    for points, name in (("rows", "samples"), ("features", "features")):
        side: Membership | None = getattr(story.stability, name, None)
        if side is None:
            continue
        groups, half = order_of_groups(side).tolist(), MOST_MAPPED // 2
        if len(groups) > MOST_MAPPED:
            groups = groups[:half] + groups[-half:]
        labels = story.group_labels if points == "features" and story.has_core else story.labels
        rows = [
            {
                "group": group,
                "label": labels[group],
                "shares": side.exchange[group, groups].tolist(),
                "nowhere": max(0.0, 1.0 - float(side.exchange[group].sum())),
            }
            for group in groups
        ]
        where = {"head": groups, "rows": rows, "all": len(side.jaccard)}
        dots = _dots(side, groups)
        told.append({"points": points, "agreement": side.agreement, "map": where, "dots": dots})
    return told


def _dots(side: Membership, groups: list[int]) -> dict[str, Any]:
    """A path of dots for every group, at the shares of refits that keep its members."""
    kept = side.groups["kept"]
    right, bottom = WIDTH - RIGHT, TOP + ROW * len(groups)
    bands = []
    for place, group in enumerate(groups):
        certainty, aside = dots_of(side, group)
        middle = TOP + ROW * (place + 0.5)
        across, down = LEFT + certainty * (right - LEFT), middle + aside * ROW
        bands.append(
            {"group": group, "path": dots_path(across, down), "middle": middle, "kept": kept[group]}
        )
    return {
        "frame": (WIDTH, bottom + BOTTOM, LEFT, right, TOP, bottom),
        "bands": bands,
        "ticks": [(LEFT + share * (right - LEFT), f"{share:.0%}") for share in TICKS],
        "threshold": LEFT + THRESHOLD * (right - LEFT),
        "most": MOST_DOTS if (side.groups["size"] > MOST_DOTS).any() else 0,
    }
