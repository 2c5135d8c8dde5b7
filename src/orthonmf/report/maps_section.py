"""The heat maps of a page: their frames, and the data that the page's script draws from."""

from __future__ import annotations

import base64
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from orthonmf.numerics.arrays import Array
from orthonmf.report.colors import color_of
from orthonmf.report.heatmap import DECADES, Axis, HeatMap, HeatMaps
from orthonmf.report.markup import Safe, escape, remark, tag
from orthonmf.report.story import Story

MOST_NAMES = 250_000
TIP = tag("div", id="tip", class_="tip", hidden="", aria_hidden="true")  # at the end of a page
WIDEST, TALLEST = 1.9, 1.25  # a picture is at most this many times as wide as high, and reverse


def maps_section(story: Story, maps: HeatMaps) -> Safe:
    """The pictures side by side, the scale, and a line that says what is under the pointer."""
    down, across = maps.original.levels.shape
    hint = "Point at a cell, or move with the arrow keys, to see the names."
    if (down, across) != story.shape:
        cells = f"{down} \N{MULTIPLICATION SIGN} {across} cells"
        hint += f" Each of the {cells} is the root mean square of a block."
    ratio = float(np.clip(across / down, 1 / TALLEST, WIDEST))
    bands = _bands(story, maps)
    full = story.result.has_full_core
    pictures = []
    for name, caption, one in maps.list_pictures():
        part = "the groups of both sides" if full and one is maps.ordered else story.part
        edges = NO_BANDS if one is maps.original else bands
        pictures.append(_map(name, caption.format(part), one, ratio, edges))
    least = "\N{LESS-THAN OR EQUAL TO} " if is_clipped(maps) else ""
    scale = tag(
        "p",
        tag("i", class_="zero"), "nothing",
        tag("span", f"{least}{maps.low:.2g}"), tag("i"), tag("span", f"{maps.high:.2g}"),
        tag("span", "(log scale)"),
        class_="scale",
    )  # fmt: skip
    without = tag("noscript", tag("p", "The pictures and the search need JavaScript."))
    live = tag("p", id="readout", class_="readout", aria_live="polite")
    return escape([remark(hint), without, tag("div", pictures, class_="maps"), scale, live])


def is_clipped(maps: HeatMaps) -> bool:
    """Whether the palest color stands for all that is smaller, too."""
    return maps.low > 0 and maps.high / maps.low > 10**DECADES * 0.999


Band = tuple[int, float, float]  # component, where it begins and ends as a share of the side
Bands = tuple[list[Band], list[Band]]  # of the rows and of the columns
NO_BANDS: Bands = ([], [])


def _map(identity: str, caption: str, picture: HeatMap, ratio: float, bands: Bands) -> Safe:
    down, across = picture.levels.shape
    words = (
        f"Heat map of the matrix, {caption.lower()}: {down} by {across} cells. "
        "Use the arrow keys to hear the names of a cell."
    )
    field = tag(
        "div",
        tag("canvas", width=across, height=down),
        tag("svg", _edges(bands), viewBox="0 0 1 1", preserveAspectRatio="none",
            aria_hidden="true"),
        tag("div", class_="cursor", hidden=""),
        class_="field", tabindex=0, role="application", aria_label=words,
        style=f"aspect-ratio: {ratio:.3f}",
    )  # fmt: skip
    rows, columns = bands
    frame = tag(
        "div",
        tag("span", class_="corner"),
        tag("div", _band(columns, "left", "width"), class_="band", aria_hidden="true"),
        tag("div", _band(rows, "top", "height"), class_="band", aria_hidden="true"),
        field,
        class_="frame",
    )
    title = tag("figcaption", tag("b", caption))
    return tag("figure", title, frame, id=f"map-{identity}", class_="map")


def _bands(story: Story, maps: HeatMaps) -> Bands:
    findings = story.findings
    return (
        _runs(findings.row_labels[maps.ordered.rows.order]),
        _runs(findings.column_labels[maps.ordered.columns.order]),
    )


def _runs(labels: Array) -> list[Band]:
    """Stretches of one label."""
    starts = np.concatenate(([0], np.flatnonzero(np.diff(labels)) + 1, [len(labels)]))
    return [(int(labels[a]), a / len(labels), b / len(labels)) for a, b in pairwise(starts)]


def _band(bands: list[Band], start: str, size: str) -> list[Safe]:
    across = "top: 0; bottom: 0" if start == "left" else "left: 0; right: 0"
    bars = []
    for component, low, high in bands:
        place = f"{start}: {100 * low:.3f}%; {size}: {100 * (high - low):.3f}%"
        color = f"background: {color_of(component)}"
        bars.append(tag("i", style=f"{across}; {place}; {color}"))
    return bars


def _edges(bands: Bands) -> list[Safe]:
    """Lines where a band ends and the next begins."""
    down, across = ([f"{high:.5f}" for _, _, high in own[:-1]] for own in bands)
    return [
        *(tag("line", x1="0.00000", x2="1.00000", y1=at, y2=at) for at in down),
        *(tag("line", y1="0.00000", y2="1.00000", x1=at, x2=at) for at in across),
    ]


def search_section(story: Story) -> Safe:
    """A box that finds names of rows and columns, and says how many are searched."""
    too_many = [
        f"{MOST_NAMES:,} of {size:,} {what}"
        for size, what in zip(story.shape, ("rows", "features"), strict=True)
        if size > MOST_NAMES
    ]
    searched = f"Searched: {' and '.join(too_many)}; the files hold all."
    box = tag(
        "div",
        tag("label", "Name of a row or feature", for_="search", class_="hidden"),
        tag("input", id="search", type="search", placeholder="Name of a row or feature",
            autocomplete="off", spellcheck="false"),
        tag("span", id="hit-count", class_="soft small", aria_live="polite"),
        class_="search",
    )  # fmt: skip
    hits = tag("ul", id="hits", class_="hits")
    return escape([box, remark(searched) if too_many else None, hits])


def maps_data(story: Story, maps: HeatMaps) -> dict[str, Any]:
    """What the page's script needs: levels, names under the pointer, names to search."""
    found, result = story.findings, story.result
    sides = {
        "rows": Side(story.row, "rows", story.part, result.labels,
                     found.row_labels, found.row_misses),
        "columns": Side(story.column, "features", "group" if result.has_full_core else story.part,
                        result.feature_labels, found.column_labels, found.column_weights),
    }  # fmt: skip
    maps_of = [
        {
            "id": identity,
            "levels": base64.b64encode(picture.levels.tobytes()).decode(),
            **{key: _cell_names(getattr(picture, key), side) for key, side in sides.items()},
        }
        for identity, _, picture in maps.list_pictures()
    ]
    return {
        "maps": maps_of,
        "scale": {"low": maps.low, "high": maps.high, "clipped": is_clipped(maps)},
        "names": {
            key: _searchable(getattr(maps.ordered, key), side) for key, side in sides.items()
        },
    }


@dataclass(frozen=True, slots=True, eq=False)
class Side:
    """Rows or columns: their names and what they are, what they belong to, and how strongly.

    ``certain`` are the labels of a side on which everything belongs to one component.
    """

    name: Callable[[int], str]
    plural: str
    belongs: str
    certain: Array | None
    labels: Array
    strengths: Array


def _cell_names(axis: Axis, side: Side) -> list[str]:
    """What stands in each cell: one name, or the first and the last of several; its component."""
    texts = []
    for start, stop in pairwise(axis.edges):
        members = axis.order[start:stop]
        text, remarks = side.name(int(members[0])), []
        if len(members) > 1:
            text += f" \N{HORIZONTAL ELLIPSIS} {side.name(int(members[-1]))}"
            remarks.append(f"{len(members)} {side.plural}")
        labels = None if side.certain is None else side.certain[members]
        if labels is not None and (labels == labels[0]).all():
            word = f"{side.belongs} {labels[0]}" if labels[0] >= 0 else f"no {side.belongs}"
            remarks.append(word)
        texts.append(f"{text} ({', '.join(remarks)})" if remarks else text)
    return texts


def _searchable(axis: Axis, side: Side) -> dict[str, Any]:
    """Names with their component and place; the strongest ones if there are too many."""
    kept = np.arange(len(side.labels))
    if len(kept) > MOST_NAMES:
        kept = np.sort(np.argsort(-side.strengths, kind="stable")[:MOST_NAMES])
    return {
        "total": len(side.labels),
        "belongs": side.belongs,
        "name": [side.name(int(one)) for one in kept],
        "number": kept.tolist(),
        "component": side.labels[kept].tolist(),
        "place": axis.positions[kept].tolist(),
    }
