"""The core of a page: what every component takes from every group of features, and the groups."""

from __future__ import annotations

from orthonmf.report.cards import TOP_FEATURES, card, list_weights
from orthonmf.report.colors import own_color
from orthonmf.report.markup import Safe, remark, row, section, table, tag
from orthonmf.report.pictures import tile
from orthonmf.report.story import Story, count, percent

# Larger tables are no longer looked at as a whole; core.csv has all of it.
MOST_SHOWN = 40
LEAST_HEAT = 0.06


def core_section(story: Story) -> list[Safe]:
    """A heading, the core as a table of energies, and its groups; nothing without a full core."""
    if not story.result.has_full_core:
        return []
    explained = (
        "How much of the energy every component takes from every group of features. A row of this "
        "table is what a component is made of: components differ by the proportions in their rows."
    )
    groups = [_group(story, one) for one in range(_show(story)[1])]
    parts = [
        remark(explained),
        tag("div", _table(story), class_="wide"),
        _note(story),
        tag("h3", "Groups of features", class_="above"),
        tag("div", groups, class_="cards groups"),
    ]
    return [section("The core", "core", parts)]


def _show(story: Story) -> tuple[int, int]:
    """How many components and groups are shown."""
    k, n_groups = story.core_shares.shape
    return min(k, MOST_SHOWN), min(n_groups, MOST_SHOWN)


def _note(story: Story) -> Safe:
    if max(story.core_shares.shape) <= MOST_SHOWN:
        return Safe("")
    return remark(f"The first {MOST_SHOWN} of each side are shown; core.csv holds all.")


def _table(story: Story) -> Safe:
    shares, (n_rows, n_groups) = story.core_shares, _show(story)
    largest = max(float(shares.max(initial=0.0)), 1e-300)
    heads = [
        tag("th", _dot(one), f" {one} ", _name(story.group_label(one)), scope="col")
        for one in range(n_groups)
    ]
    body = []
    for component in range(n_rows):
        link = tag("a", f"{component}", href=f"#component-{component}")
        name = [_dot(component), " ", link, " ", _name(story.label(component))]
        cells = [_cell(float(share), largest) for share in shares[component, :n_groups]]
        body.append(row(name, cells))
    return table(["component \N{RIGHTWARDS ARROW} group of features", *heads], body, class_="core")


def _cell(share: float, largest: float) -> Safe:
    heat = f"{max(share / largest, LEAST_HEAT):.3f}" if share > 0 else "0"
    return tag("td", tag("i", style=f"opacity: {heat}"), percent(share))


def _dot(number: int) -> Safe:
    return tag("i", class_="dot-c", style=own_color(number))


def _name(label: str) -> Safe:
    return tag("span", label, class_="soft") if label else Safe("")


def _group(story: Story, group: int) -> Safe:
    """A card: how many features, how much energy, the heaviest of them."""
    energy = float(story.core_shares[:, group].sum())
    weights = story.findings.column_weights
    picture = Safe("")
    if story.image_shape is not None:
        inside = weights * (story.findings.column_labels == group)
        picture = tile(inside, story.image_shape, f"group {group}", "tile large")
    weighed = list_weights(story, story.top_of_group(group, TOP_FEATURES), weights)
    size = count(len(story.findings.columns_of(group)), "feature")
    return card("group", group, f"Group {group}", size, energy, picture, weighed)
