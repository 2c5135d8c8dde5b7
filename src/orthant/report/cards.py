"""A card for every component, and the rows that no component captures well."""

from __future__ import annotations

import numpy as np

from orthant.numerics.arrays import Array
from orthant.report.markup import Safe, tag
from orthant.report.pictures import tile
from orthant.report.story import Story, percent

MOST_CARDS = 60
TOP_FEATURES, TOP_PIXELS = 10, 5
TYPICAL_ROWS = 6
WORST_ROWS = 12


def cards(story: Story) -> Safe:
    """All components, the one that captures most first."""
    k = story.result.n_components_found
    shown = [_card(story, component) for component in range(min(k, MOST_CARDS))]
    note = ""
    if k > MOST_CARDS:
        note = tag(
            "p",
            f"The {MOST_CARDS} components that capture most are shown; "
            f"all {k} are in components.csv.",
            class_="soft",
        )
    return Safe(note + tag("div", shown, class_="cards"))


def own_color(component: int) -> str:
    """The style that gives an element the color of a component."""
    return f"--own: var(--c{component % 10})" if component >= 0 else "--own: var(--none)"


def _card(story: Story, component: int) -> Safe:
    energy = float(story.findings.energies[component])
    label = story.label(component)
    number = tag("span", f"{component}", class_="number")
    heading = tag("h3", number, f" {label}") if label else tag("h3", f"Component {component}")
    width = 100 * energy / max(float(story.findings.energies.max()), 1e-300)
    meter = tag("div", tag("i", style=f"width: {width:.1f}%"), class_="meter", aria_hidden="true")
    return tag(
        "article",
        heading,
        tag(
            "p",
            f"{_sizes(story, component)} \N{MIDDLE DOT} {percent(energy)} of the energy",
            class_="sizes",
        ),
        meter,
        _pictures(story, component),
        tag("h4", "Heaviest features"),
        _top_features(story, component),
        tag("h4", "Most typical rows"),
        _typical(story, component),
        class_="card",
        id=f"component-{component}",
        style=own_color(component),
    )


def _sizes(story: Story, component: int) -> str:
    rows = len(story.findings.rows_of(component))
    columns = len(story.findings.columns_of(component))
    setting = "samples" if story.result.has_full_core else story.result.orthogonal
    rows_text = f"{rows:,} row{'s' * (rows != 1)}"
    columns_text = f"{columns:,} feature{'s' * (columns != 1)}"
    if setting == "samples":
        return rows_text
    if setting == "features":
        return f"{columns_text} \N{MIDDLE DOT} strongest in {rows_text}"
    return f"{rows_text} \N{MIDDLE DOT} {columns_text}"


def _top_features(story: Story, component: int) -> Safe:
    top = story.top_columns(component, TOP_PIXELS if story.image_shape else TOP_FEATURES)
    return list_weights(story, top, story.result.components[component])


def list_weights(story: Story, top: Array, weights: Array) -> Safe:
    """Some columns, the heaviest first, with their weights (m,) as bars and numbers."""
    largest = float(weights[top[0]]) if len(top) else 1.0
    items = [
        tag(
            "li",
            tag(
                "span",
                tag("i", style=f"width: {100 * float(weights[one]) / largest:.1f}%"),
                story.column(one),
                class_="name",
                title=story.column(one),
            ),
            tag("span", f"{weights[one]:.3f}", class_="value"),
        )
        for one in top
    ]
    return tag("ol", items, class_="tops")


def _typical(story: Story, component: int) -> Safe:
    rows = story.typical_rows(component, TYPICAL_ROWS)
    if not len(rows):
        return tag("p", "No row is strongest here.", class_="small soft")
    items = [
        tag("li", f"{story.row(one)} ", tag("span", percent(float(story.findings.row_shares[one]))))
        for one in rows
    ]
    return tag("ul", items, class_="typical")


def _pictures(story: Story, component: int) -> Safe:
    """The component and its most typical rows as pictures, when features are pixels."""
    shape = story.image_shape
    if shape is None:
        return Safe("")
    weights = story.result.components[component]
    rows = story.typical_rows(component, TYPICAL_ROWS)
    values = story.findings.matrix.source.rows(rows)
    tiles = [
        tile(picture, shape, story.row(row)) for row, picture in zip(rows, values, strict=True)
    ]
    large = tile(weights, shape, f"component {component}", "tile large")
    return tag("div", large, tag("div", tiles), class_="tiles")


def worst_rows(story: Story) -> Safe:
    """A table of the rows with the largest part of the error."""
    rows = story.worst_rows(WORST_ROWS)
    if not len(rows):
        return tag("p", "Nothing: every row is captured.")
    total = max(float(story.findings.row_misses.sum()), 1e-300)
    head = ("row", "component", "captured of it", "of the whole error")
    body = []
    for one in rows:
        component = int(story.findings.row_labels[one])
        dot = tag("i", class_="dot-c", style=own_color(component))
        body.append(
            tag(
                "tr",
                tag("th", story.row(one), scope="row"),
                tag("td", dot, f" {component if component >= 0 else 'none'}"),
                tag("td", _share_or_dash(float(story.findings.row_shares[one]))),
                tag("td", percent(float(story.findings.row_misses[one]) / total)),
            )
        )
    columns = [tag("th", name, scope="col") for name in head]
    return tag(
        "div", tag("table", tag("thead", tag("tr", columns)), tag("tbody", body)), class_="wide"
    )


def _share_or_dash(share: float) -> str:
    return "\N{EN DASH}" if np.isnan(share) else percent(share)
