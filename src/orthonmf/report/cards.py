"""A card for every component: its size, what makes it different, its most typical rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from orthonmf.numerics.arrays import Array
from orthonmf.report.colors import own_color
from orthonmf.report.markup import Safe, tag
from orthonmf.report.pictures import tile
from orthonmf.report.story import Story, percent

MOST_CARDS = 60
TOP_FEATURES, TOP_PIXELS = 10, 5
TYPICAL_ROWS = 6


def cards(story: Story) -> Safe:
    """All components, the one that captures most first."""
    k = story.result.n_components_found
    shown = [_card(story, component) for component in range(min(k, MOST_CARDS))]
    text = (
        f"The {MOST_CARDS} components that capture most are shown; all {k} are in components.csv."
    )
    note = tag("p", text, class_="soft") if k > MOST_CARDS else ""
    return Safe(note + tag("div", shown, class_="cards"))


def energy_meter(story: Story, component: int) -> Safe:
    """A bar as long as the energy of a component next to the largest one's."""
    energies = story.findings.energies
    width = 100 * float(energies[component]) / max(float(energies.max()), 1e-300)
    return tag("div", tag("i", style=f"width: {width:.1f}%"), class_="meter", aria_hidden="true")


def card(what: str, number: int, heading: Any, size: str, energy: float, *inside: Any) -> Safe:
    """A card of a component or a group: its heading, its size, and what else there is."""
    sizes = f"{size} \N{MIDDLE DOT} {percent(energy)} of the energy"
    head = [tag("h3", heading), tag("p", sizes, class_="sizes")]
    identity, color = f"{what}-{number}", own_color(number)
    return tag("article", head, inside, class_="card", id=identity, style=color)


def _card(story: Story, component: int) -> Safe:
    energy, size = float(story.findings.energies[component]), story.size(component)
    label = story.label(component)
    named = [tag("span", f"{component}", class_="number"), f" {label}"]
    top = story.distinctive_columns(component, TOP_PIXELS if story.image_shape else TOP_FEATURES)
    lifts = [story.lift(component, one) for one in top]
    inside = (
        energy_meter(story, component),
        _pictures(story, component),
        tag("h4", "What makes it different"),
        list_weights(story, top, story.result.components[component], lifts),
        tag("h4", "Most typical rows"),
        _typical(story, component),
    )
    heading = named if label else f"Component {component}"
    return card("component", component, heading, size, energy, *inside)


def list_weights(
    story: Story, top: Array, weights: Array, remarks: Sequence[str] | None = None
) -> Safe:
    """Some columns with their weights (m,) as bars and numbers, and a remark on each."""
    largest = float(weights[top].max()) if len(top) else 1.0
    items = []
    for one, remark in zip(top, remarks or [""] * len(top), strict=True):
        bar = tag("i", style=f"width: {100 * float(weights[one]) / largest:.1f}%")
        name = story.column(one)
        value = tag("span", f"{weights[one]:.3f} ", tag("small", remark), class_="value")
        items.append(tag("li", tag("span", bar, name, class_="name", title=name), value))
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
    tiles = [tile(values[i], shape, story.row(row)) for i, row in enumerate(rows)]
    large = tile(weights, shape, f"component {component}", "tile large")
    return tag("div", large, tag("div", tiles), class_="tiles")
