"""What is not captured: how much of every row, what chance would capture, and the worst rows."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from orthonmf.numerics.arrays import Array
from orthonmf.report.charts import bar_chart
from orthonmf.report.colors import own_color
from orthonmf.report.markup import Safe, remark, row, table, tag
from orthonmf.report.story import Story, percent

WORST_ROWS = 12
BINS = 20


def missed_section(story: Story) -> Safe:
    """The histogram of captured shares, then the rows with the largest part of the error."""
    shares = story.findings.row_shares
    shares = shares[~np.isnan(shares)]
    parts = [chance(story)]
    if len(shares):
        parts += [_spread(shares), tag("div", _histogram(shares), class_="charts")]
    parts += [remark("The rows that contribute most to the error:"), worst_rows(story)]
    return Safe("".join(parts))


def chance(story: Story) -> Safe:
    """What as many components capture of data without structure, if that was computed."""
    if story.chance is None:
        return Safe("")
    captured = max(0.0, 1.0 - story.result.relative_squared_error)
    text = (
        f"As many components capture {percent(story.chance)} of a copy in which every column is "
        f"shuffled by itself, and {percent(captured)} of these data. "
    )
    if captured <= story.chance * 1.02 + 0.001:
        text += "So they tell next to nothing that chance would not: this may be noise."
    else:
        text += "Only what is above chance is structure."
    return tag("p", text, id="chance")


def _spread(shares: Array) -> Safe:
    low, middle, high = (percent(float(one)) for one in np.quantile(shares, (0.1, 0.5, 0.9)))
    text = (
        f"Of a row in the middle {middle} of its energy is captured; "
        f"of one row in ten less than {low}, of one in ten more than {high}."
    )
    return tag("p", text)


def _histogram(shares: Array) -> Safe:
    counts, edges = np.histogram(np.clip(shares, 0.0, 1.0), bins=BINS, range=(0.0, 1.0))
    return bar_chart(
        "How much of a row is captured",
        [f"{100 * low:.0f} to {100 * high:.0f}%" for low, high in pairwise(edges)],
        counts.tolist(),
        x_label="share of the row's energy",
        y_label="rows",
        ticks=[(0, "0%"), (BINS / 4, "25%"), (BINS / 2, "50%"), (3 * BINS / 4, "75%"),
               (BINS, "100%")],
    )  # fmt: skip


def worst_rows(story: Story) -> Safe:
    """A table of the rows with the largest part of the error."""
    rows = story.worst_rows(WORST_ROWS)
    if not len(rows):
        return tag("p", "Nothing: every row is captured.")
    total = max(float(story.findings.row_misses.sum()), 1e-300)
    body = []
    for one in rows:
        component = int(story.findings.row_labels[one])
        dot = tag("i", class_="dot-c", style=own_color(component))
        cells = [
            tag("td", dot, f" {component if component >= 0 else 'none'}"),
            _share_or_dash(float(story.findings.row_shares[one])),
            percent(float(story.findings.row_misses[one]) / total),
        ]
        body.append(row(story.row(one), cells))
    head = ("row", "component", "captured of it", "of the whole error")
    return tag("div", table(head, body), class_="wide")


def _share_or_dash(share: float) -> str:
    return "\N{EN DASH}" if np.isnan(share) else percent(share)
