"""One picture before all others: components, their sizes, and what makes each different."""

from __future__ import annotations

import numpy as np

from orthonmf.numerics.arrays import Array
from orthonmf.report.cards import energy_meter
from orthonmf.report.colors import own_color
from orthonmf.report.markup import Safe, remark, row, table, tag
from orthonmf.report.pictures import tile
from orthonmf.report.story import Story, percent

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
    dots = table(head, body, class_="overview")
    return Safe(_about(story, k) + tag("div", dots, class_="wide", tabindex=0))


def _about(story: Story, k: int) -> Safe:
    text = "A dot is as large as the weight of a feature in a component."
    if story.image_shape:
        text = "Every component as a picture."
    if k > MOST_COMPONENTS:
        text += f" The {MOST_COMPONENTS} components that capture most of {k} are shown."
    return remark(text)


def _columns(story: Story, shown: range) -> list[int]:
    """The most distinctive features of every component, each once, in the order of components."""
    each = max(1, min(MOST_EACH, MOST_FEATURES // len(shown)))
    found: dict[int, None] = {}
    for component in shown:
        found |= dict.fromkeys(story.distinctive_columns(component, each).tolist())
    return list(found)[:MOST_FEATURES]


def _row(story: Story, component: int, columns: list[int]) -> Safe:
    energy = percent(float(story.findings.energies[component]))
    name = tag("a", tag("span", f"{component}", class_="number"), href=f"#component-{component}")
    cells = [
        tag("td", story.size(component), class_="text"),
        tag("td", energy, energy_meter(story, component), class_="text"),
    ]
    if story.image_shape:
        weights = story.result.components[component]
        cells.append(tag("td", tile(weights, story.image_shape, f"component {component}")))
    else:
        cells += _dots(story.result.components[:, columns], component)
    return row([name, " ", story.label(component)], cells, style=own_color(component))


def _dots(weights: Array, component: int) -> list[Safe]:
    """A dot for each of some features; ``weights`` (k, c) are those of all components."""
    largest = max(float(weights.max()), 1e-300) if weights.size else 1.0
    # The area of a dot is its share of the largest one.
    sizes = LARGEST_DOT * np.sqrt(weights[component] / largest)
    return [
        tag("td", tag("i", class_="dot-w", style=f"--size: {size:.1f}px"),
            tag("span", f"{value:.3f}", class_="hidden"))
        for size, value in zip(sizes.tolist(), weights[component].tolist(), strict=True)
    ]  # fmt: skip
