"""A card for every component: its size, what makes it different, its most typical rows."""

from __future__ import annotations

from collections.abc import Sequence

from orthant.numerics.arrays import Array
from orthant.report.colors import own_color
from orthant.report.markup import Safe, tag
from orthant.report.pictures import tile
from orthant.report.story import Story, percent

MOST_CARDS = 60
TOP_FEATURES, TOP_PIXELS = 10, 5
TYPICAL_ROWS = 6


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
            f"{story.size(component)} \N{MIDDLE DOT} {percent(energy)} of the energy",
            class_="sizes",
        ),
        meter,
        _pictures(story, component),
        tag("h4", "What makes it different"),
        _top_features(story, component),
        tag("h4", "Most typical rows"),
        _typical(story, component),
        class_="card",
        id=f"component-{component}",
        style=own_color(component),
    )


def _top_features(story: Story, component: int) -> Safe:
    top = story.distinctive_columns(component, TOP_PIXELS if story.image_shape else TOP_FEATURES)
    lifts = [story.lift(component, one) for one in top]
    return list_weights(story, top, story.result.components[component], lifts)


def list_weights(
    story: Story, top: Array, weights: Array, remarks: Sequence[str] | None = None
) -> Safe:
    """Some columns with their weights (m,) as bars and numbers, and a remark on each."""
    largest = float(weights[top].max()) if len(top) else 1.0
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
            tag("span", f"{weights[one]:.3f} ", tag("small", remark), class_="value"),
        )
        for one, remark in zip(top, remarks or [""] * len(top), strict=True)
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
