"""Groups that were known before: how they meet the components, and a map of the rows."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from orthonmf.numerics.arrays import Array
from orthonmf.report.colors import own_color
from orthonmf.report.markup import Safe, row, table, tag
from orthonmf.report.story import Story, percent, shorten

MOST_GROUPS = 24
MOST_COMPONENTS = 60
MOST_POINTS = 5_000
SIDE = 480


def groups_section(story: Story) -> Safe:
    """The cross table of known groups and components, if groups were given."""
    if story.groups is None:
        return Safe("")
    from sklearn.metrics import adjusted_rand_score  # takes a second to import

    labels = story.findings.row_labels
    names, numbers = np.unique(np.asarray(story.groups, dtype=object).astype(str),
                               return_inverse=True)  # fmt: skip
    agreement = adjusted_rand_score(numbers, labels)
    text = (
        f"{len(names)} known groups against the components; the adjusted Rand index is "
        f"{agreement:.3f} (1 if they agree, about 0 by chance)."
    )
    counts = _cross_table(names.tolist(), numbers, labels, story.result.n_components_found)
    return Safe(tag("p", text) + tag("div", counts, class_="wide", tabindex=0))


def _cross_table(names: Sequence[str], numbers: Array, labels: Array, k: int) -> Safe:
    """Rows of every group in every component, the largest groups first."""
    counts = np.zeros((len(names), k + 1), dtype=np.int64)
    np.add.at(counts, (numbers, labels), 1)  # label -1 is the last column
    order = np.argsort(-counts.sum(axis=1), kind="stable")
    shown = list(range(min(k, MOST_COMPONENTS))) + ([k] if counts[:, k].any() else [])
    head = ["group", *("none" if one == k else str(one) for one in shown)]
    body = [_group(names[one], counts[one], shown) for one in order[:MOST_GROUPS]]
    rest = counts[order[MOST_GROUPS:]]
    if len(rest):
        body.append(_group(f"{len(rest)} smaller groups", rest.sum(axis=0), shown))
    return table(head, body, class_="cross")


def _group(name: str, counts: Array, shown: Sequence[int]) -> Safe:
    total = max(1, int(counts.sum()))
    cells = [
        tag("td", f"{counts[one]:,}", title=percent(counts[one] / total),
            style=f"--share: {100 * counts[one] / total:.0f}%")
        for one in shown
    ]  # fmt: skip
    return row(shorten(name), cells)


def positions_map(story: Story) -> Safe:
    """The rows at places that came with the data, in the colors of their components."""
    if story.positions is None:
        return Safe("")
    places = np.asarray(story.positions, dtype=np.float64)[:, :2]
    labels = story.findings.row_labels
    known = np.flatnonzero(np.isfinite(places).all(axis=1))
    step = -(-len(known) // MOST_POINTS) if len(known) else 1
    kept = known[::step]
    if not len(kept):
        return Safe("")
    low, high = places[kept].min(axis=0), places[kept].max(axis=0)
    span = np.where(high > low, high - low, 1.0)
    shares = (places[kept] - low) / span
    across, down = 8 + shares[:, 0] * (SIDE - 16), 8 + (1 - shares[:, 1]) * (SIDE - 16)
    radius = 2.6 if len(kept) > 1000 else 3.6
    # One path per component: thousands of elements would make the page slow.
    drawn = [
        tag("path", d="".join(
            f"M{x:.1f} {y:.1f}h0" for x, y in zip(across[own], down[own], strict=True)
        ), class_="spot", style=own_color(int(component)), stroke_width=f"{2 * radius:.1f}")
        for component in np.unique(labels[kept])
        for own in [labels[kept] == component]
    ]  # fmt: skip
    words = f"{story.positions_name or 'Map'} of the rows, in the colors of their components"
    picture = tag("svg", tag("title", words), drawn, viewBox=f"0 0 {SIDE} {SIDE}", role="img",
                  class_="spots")  # fmt: skip
    note = f" Every {step}th row is shown." if step > 1 else ""
    return tag("figure", tag("figcaption", f"{words}.{note}"), picture)
