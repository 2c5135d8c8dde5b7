"""The heat maps of a page: their frames, and the data that the page's script draws from."""

from __future__ import annotations

import base64
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np

from orthant.numerics.arrays import Array
from orthant.report.colors import color_of
from orthant.report.heatmap import DECADES, Axis, HeatMap, HeatMaps
from orthant.report.markup import Safe, tag
from orthant.report.story import Story

MOST_NAMES = 250_000
WIDEST, TALLEST = 1.9, 1.25  # a picture is at most this many times as wide as high, and reverse


def maps_section(story: Story, maps: HeatMaps) -> Safe:
    """The pictures side by side, the scale, and a line that says what is under the pointer."""
    n, m = story.shape
    down, across = maps.original.levels.shape
    each = (
        ""
        if (down, across) == (n, m)
        else (
            f" Each of the {down} \N{MULTIPLICATION SIGN} {across} cells is the root mean square "
            "of a block."
        )
    )
    hint = tag(
        "p",
        "Point at a cell, or move with the arrow keys, to see the names." + each,
        class_="soft small",
    )
    ratio = float(np.clip(across / down, 1 / TALLEST, WIDEST))
    bands = _bands(story, maps)
    pictures = tag(
        "div",
        [
            _map(
                identity,
                _ordered(story) if one is maps.ordered else caption.format(story.part),
                one,
                ratio,
                () if one is maps.original else bands,
            )
            for identity, caption, one in maps.named()
        ],
        class_="maps",
    )
    scale = tag(
        "p",
        tag("i", class_="zero"), "nothing",
        tag("span", f"{_at_most(maps)}{maps.low:.2g}"), tag("i"), tag("span", f"{maps.high:.2g}"),
        tag("span", "(log scale)"),
        class_="scale",
    )  # fmt: skip
    without = tag("noscript", tag("p", "The pictures and the search need JavaScript."))
    live = tag("p", id="readout", class_="readout", aria_live="polite")
    return Safe(hint + without + pictures + scale + live)


def _ordered(story: Story) -> str:
    full = story.result.has_full_core
    return "Ordered by the groups of both sides" if full else f"Ordered by {story.part}"


def _at_most(maps: HeatMaps) -> str:
    return "\N{LESS-THAN OR EQUAL TO} " if is_clipped(maps) else ""


def is_clipped(maps: HeatMaps) -> bool:
    """Whether the palest color stands for all that is smaller, too."""
    return maps.low > 0 and maps.high / maps.low > 10**DECADES * 0.999


def _map(identity: str, caption: str, picture: HeatMap, ratio: float, bands: Any) -> Safe:
    down, across = picture.levels.shape
    words = (
        f"Heat map of the matrix, {caption.lower()}: {down} by {across} cells. "
        "Use the arrow keys to hear the names of a cell."
    )
    edges = [
        tag("line", **{key: f"{value:.5f}" for key, value in ends.items()})
        for ends in _edges(bands)
    ]
    field = tag(
        "div",
        tag("canvas", width=across, height=down),
        tag("svg", edges, viewBox="0 0 1 1", preserveAspectRatio="none", aria_hidden="true"),
        tag("div", class_="cursor", hidden=""),
        class_="field",
        tabindex=0,
        role="application",
        aria_label=words,
        style=f"aspect-ratio: {ratio:.3f}",
    )
    rows, columns = bands if bands else ([], [])
    frame = tag(
        "div",
        tag("span", class_="corner"),
        tag("div", _band(columns, "left", "width"), class_="band", aria_hidden="true"),
        tag("div", _band(rows, "top", "height"), class_="band", aria_hidden="true"),
        field,
        class_="frame",
    )
    return tag(
        "figure",
        tag("figcaption", tag("b", caption)),
        frame,
        id=f"map-{identity}",
        class_="map",
    )


Band = tuple[int, float, float]  # component, where it begins and ends as a share of the side


def _bands(story: Story, maps: HeatMaps) -> tuple[list[Band], list[Band]]:
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
    return [
        tag(
            "i",
            style=(
                f"{across}; {start}: {100 * low:.3f}%; {size}: {100 * (high - low):.3f}%; "
                f"background: {color_of(component)}"
            ),
        )
        for component, low, high in bands
    ]


def _edges(bands: Any) -> list[dict[str, float]]:
    if not bands:
        return []
    rows, columns = bands
    across = [{"x1": 0, "x2": 1, "y1": high, "y2": high} for _, _, high in rows[:-1]]
    return across + [{"y1": 0, "y2": 1, "x1": high, "x2": high} for _, _, high in columns[:-1]]


def search_section(story: Story) -> Safe:
    """A box that finds names of rows and columns, and says how many are searched."""
    too_many = [
        f"{MOST_NAMES:,} of {size:,} {what}"
        for size, what in zip(story.shape, ("rows", "features"), strict=True)
        if size > MOST_NAMES
    ]
    note = f" Searched: {' and '.join(too_many)}; the files hold all." if too_many else ""
    box = tag(
        "div",
        tag("label", "Name of a row or feature", for_="search", class_="hidden"),
        tag("input", id="search", type="search", placeholder="Name of a row or feature",
            autocomplete="off", spellcheck="false"),
        tag("span", id="hit-count", class_="soft small", aria_live="polite"),
        class_="search",
    )  # fmt: skip
    return Safe(
        box
        + (tag("p", note.strip(), class_="soft small") if note else "")
        + tag("ul", id="hits", class_="hits")
    )


def maps_data(story: Story, maps: HeatMaps) -> dict[str, Any]:
    """What the page's script needs: levels, names under the pointer, names to search."""
    belongs = "group" if story.result.has_full_core else story.part
    return {
        "maps": [
            {
                "id": identity,
                "levels": base64.b64encode(picture.levels.tobytes()).decode(),
                "rows": _cell_names(
                    picture.rows, story.row, "rows", story.result.labels, story.part
                ),
                "columns": _cell_names(
                    picture.columns,
                    story.column,
                    "features",
                    story.result.feature_labels,
                    belongs,
                ),
            }
            for identity, _, picture in maps.named()
        ],
        "scale": {"low": maps.low, "high": maps.high, "clipped": is_clipped(maps)},
        "names": {
            "rows": _searchable(
                maps.ordered.rows,
                story.findings.row_labels,
                story.findings.row_misses,
                story.row,
                story.part,
            ),
            "columns": _searchable(
                maps.ordered.columns,
                story.findings.column_labels,
                story.findings.column_weights,
                story.column,
                belongs,
            ),
        },
    }


def _cell_names(
    axis: Axis, name: Callable[[int], str], plural: str, labels: Array | None, belongs: str
) -> list[str]:
    """What stands in each cell: one name, or the first and the last of several; its component."""
    texts = []
    for start, stop in pairwise(axis.edges):
        members = axis.order[start:stop]
        text, remarks = name(int(members[0])), []
        if len(members) > 1:
            text += f" \N{HORIZONTAL ELLIPSIS} {name(int(members[-1]))}"
            remarks.append(f"{len(members)} {plural}")
        if labels is not None and (labels[members] == labels[members[0]]).all():
            label = int(labels[members[0]])
            remarks.append(f"{belongs} {label}" if label >= 0 else f"no {belongs}")
        texts.append(f"{text} ({', '.join(remarks)})" if remarks else text)
    return texts


def _searchable(
    axis: Axis, labels: Array, strengths: Array, name: Callable[[int], str], belongs: str
) -> dict[str, Any]:
    """Names with their component and place; the strongest ones if there are too many."""
    kept = np.arange(len(labels))
    if len(kept) > MOST_NAMES:
        kept = np.sort(np.argsort(-strengths, kind="stable")[:MOST_NAMES])
    return {
        "total": len(labels),
        "belongs": belongs,
        "name": [name(int(one)) for one in kept],
        "number": kept.tolist(),
        "component": labels[kept].tolist(),
        "place": axis.positions[kept].tolist(),
    }
