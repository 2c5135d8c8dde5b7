"""One picture before all others: components, their sizes, and what makes each different."""

from __future__ import annotations

from orthant.numerics.arrays import Array
from orthant.report.colors import own_color
from orthant.report.markup import Safe, tag
from orthant.report.pictures import tile
from orthant.report.story import Story, percent

MOST_COMPONENTS = 24
MOST_FEATURES = 24
MOST_EACH = 3
LARGEST_DOT = 18  # pixels across


def overview(story: Story) -> Safe:
    """A row for every component: its size, and a dot for every distinctive feature of any."""
    k = story.result.n_components_found
    if k == 0:
        return Safe("")
    shown = range(min(k, MOST_COMPONENTS))
    columns = [] if story.image_shape else _columns(story, shown)
    head = [tag("th", word, scope="col", class_="text") for word in ("Component", "Size", "Energy")]
    head += [tag("th", tag("span", story.column(one)), scope="col", class_="up") for one in columns]
    body = [_row(story, component, columns) for component in shown]
    table = tag("table", tag("thead", tag("tr", head)), tag("tbody", body), class_="overview")
    return Safe(_about(story, k) + tag("div", table, class_="wide", tabindex=0))


def _about(story: Story, k: int) -> Safe:
    text = "A dot is as large as the weight of a feature in a component."
    if story.image_shape:
        text = "Every component as a picture."
    if k > MOST_COMPONENTS:
        text += f" The {MOST_COMPONENTS} components that capture most of {k} are shown."
    return tag("p", text, class_="soft small")


def _columns(story: Story, shown: range) -> list[int]:
    """The most distinctive features of every component, each once, in the order of components."""
    each = max(1, min(MOST_EACH, MOST_FEATURES // len(shown)))
    found: dict[int, None] = {}
    for component in shown:
        found |= dict.fromkeys(story.distinctive_columns(component, each).tolist())
    return list(found)[:MOST_FEATURES]


def _row(story: Story, component: int, columns: list[int]) -> Safe:
    found = story.findings
    energy = float(found.energies[component])
    width = 100 * energy / max(float(found.energies.max()), 1e-300)
    meter = tag("div", tag("i", style=f"width: {width:.1f}%"), class_="meter", aria_hidden="true")
    name = tag("a", tag("span", f"{component}", class_="number"), href=f"#component-{component}")
    cells = [
        tag("th", name, " ", story.label(component), scope="row"),
        tag("td", story.size(component), class_="text"),
        tag("td", percent(energy), meter, class_="text"),
    ]
    if story.image_shape:
        weights = story.result.components[component]
        cells.append(tag("td", tile(weights, story.image_shape, f"component {component}")))
    else:
        cells += _dots(story.result.components[:, columns], component)
    return tag("tr", cells, style=own_color(component))


def _dots(weights: Array, component: int) -> list[Safe]:
    """A dot for each of some features; ``weights`` (k, c) are those of all components."""
    largest = max(float(weights.max()), 1e-300) if weights.size else 1.0
    return [
        tag("td", tag("i", class_="dot-w", style=f"--size: {_across(value / largest):.1f}px"),
            tag("span", f"{value:.3f}", class_="hidden"))
        for value in weights[component].tolist()
    ]  # fmt: skip


def _across(share: float) -> float:
    """How wide a dot is whose area is this share of the largest one's."""
    return LARGEST_DOT * float(share) ** 0.5
