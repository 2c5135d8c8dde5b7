"""The core of a page: what every component takes from every group of features, and the groups."""

from __future__ import annotations

from orthant.report.cards import TOP_FEATURES, list_weights
from orthant.report.colors import own_color
from orthant.report.markup import Safe, tag
from orthant.report.pictures import tile
from orthant.report.story import Story, percent

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
    return [
        tag("h2", "The core", id="core"),
        tag("p", explained, class_="soft small"),
        tag("div", _table(story), class_="wide"),
        _note(story),
        tag("h3", "Groups of features", class_="above"),
        tag("div", [_group(story, one) for one in range(_shown(story)[1])], class_="cards groups"),
    ]


def _shown(story: Story) -> tuple[int, int]:
    """How many components and groups are shown."""
    k, n_groups = story.core_shares.shape
    return min(k, MOST_SHOWN), min(n_groups, MOST_SHOWN)


def _note(story: Story) -> Safe:
    if max(story.core_shares.shape) <= MOST_SHOWN:
        return Safe("")
    text = f"The first {MOST_SHOWN} of each side are shown; core.csv holds all."
    return tag("p", text, class_="soft small")


def _table(story: Story) -> Safe:
    shares, (n_rows, n_groups) = story.core_shares, _shown(story)
    largest = max(float(shares.max(initial=0.0)), 1e-300)
    heads = [
        tag("th", _dot(one), f" {one} ", _name(story.group_label(one)), scope="col")
        for one in range(n_groups)
    ]
    body = []
    for component in range(n_rows):
        name = _name(story.label(component))
        link = tag("a", f"{component}", href=f"#component-{component}")
        head = tag("th", _dot(component), " ", link, " ", name, scope="row")
        cells = [_cell(float(share), largest) for share in shares[component, :n_groups]]
        body.append(tag("tr", head, cells))
    corner = tag("th", "component \N{RIGHTWARDS ARROW} group of features", scope="col")
    return tag("table", tag("thead", tag("tr", corner, heads)), tag("tbody", body), class_="core")


def _cell(share: float, largest: float) -> Safe:
    heat = share / largest
    shown = f"opacity: {max(heat, LEAST_HEAT):.3f}" if share > 0 else "opacity: 0"
    return tag("td", tag("i", style=shown), percent(share))


def _dot(number: int) -> Safe:
    return tag("i", class_="dot-c", style=own_color(number))


def _name(label: str) -> Safe:
    return tag("span", label, class_="soft") if label else Safe("")


def _group(story: Story, group: int) -> Safe:
    """A card: how many features, how much energy, the heaviest of them."""
    members = story.findings.columns_of(group)
    energy = float(story.core_shares[:, group].sum())
    top = story.top_of_group(group, TOP_FEATURES)
    weights = story.findings.column_weights
    count = f"{len(members):,} feature{'s' * (len(members) != 1)}"
    picture = Safe("")
    if story.image_shape is not None:
        inside = weights * (story.findings.column_labels == group)
        picture = tile(inside, story.image_shape, f"group {group}", "tile large")
    return tag(
        "article",
        tag("h3", f"Group {group}"),
        tag("p", f"{count} \N{MIDDLE DOT} {percent(energy)} of the energy", class_="sizes"),
        picture,
        list_weights(story, top, weights),
        class_="card",
        id=f"group-{group}",
        style=own_color(group),
    )
