"""The pictures of a page and its search: frames for the template, data for the script."""

from __future__ import annotations

import base64
import json
from itertools import pairwise
from typing import Any

import numpy as np

from orthonmf.report.heatmap import Axis, heat_maps
from orthonmf.report.story import Story
from orthonmf.typing import Array

# Names that the search knows, of each side: so many of them, and so many bytes together.
MOST_NAMES, MOST_BYTES = 100_000, 3_000_000
WIDEST, TALLEST = 1.9, 1.25  # a picture is at most this many times as wide as high, and reverse
N_COLORS = 12


def color(number: int, palette: str = "c") -> str:
    """The variable of the style sheet with the color of a component ("c") or group ("g")."""
    return f"var(--{palette}{number % N_COLORS})" if number >= 0 else "var(--none)"


def pictures(story: Story) -> dict[str, Any]:
    """What a template and its script need for the pictures, ordered by parts, and the search."""
    maps = heat_maps(story.findings, story.result)
    orders = {"came": maps.came, "ordered": maps.ordered}
    rows, columns = maps.ordered
    findings, palette = story.findings, "g" if story.has_core else "c"
    bands = (
        _runs(findings.row_labels[rows.order], "c"),
        _runs(findings.column_labels[columns.order], palette),
    )
    down, across = maps.levels["ordered"].shape
    sides = {"rows": _Side(story, "row", rows), "columns": _Side(story, "column", columns)}
    return {
        "maps": maps,
        "bands": bands,
        "ratio": float(np.clip(across / down, 1 / TALLEST, WIDEST)),
        "searched": {key: (len(side.kept), len(side.labels)) for key, side in sides.items()},
        "data": {
            "maps": {
                name: base64.b64encode(levels.tobytes()).decode()
                for name, levels in maps.levels.items()
            },
            "cells": {
                order: [
                    side.cell_names(axis) for side, axis in zip(sides.values(), axes, strict=True)
                ]
                for order, axes in orders.items()
            },
            "scale": {"low": maps.low, "high": maps.high, "clipped": maps.is_clipped},
            "names": {key: side.searchable() for key, side in sides.items()},
        },
    }


def _runs(labels: Array, palette: str) -> list[tuple[str, float, float]]:
    """Stretches of one label: its color, where it begins and how long it is, as percentages."""
    starts = [0, *(np.flatnonzero(np.diff(labels)) + 1).tolist(), len(labels)]
    share = 100 / len(labels)
    return [
        (color(int(labels[start]), palette), start * share, (stop - start) * share)
        for start, stop in pairwise(starts)
    ]


class _Side:
    """Rows or columns: their names, what they belong to, and which of them can be searched."""

    def __init__(self, story: Story, kind: str, axis: Axis) -> None:
        result, findings = story.result, story.findings
        self.axis = axis
        if kind == "row":
            self.short, self.whole, self.plural = story.row, story.whole_row, "rows"
            self.belongs, self.certain = story.part, result.labels
            self.labels, strengths = findings.row_labels, findings.row_misses
        else:
            self.short, self.whole, self.plural = story.column, story.whole_column, "features"
            self.belongs = "group" if story.has_core else story.part
            self.certain = result.feature_labels
            self.labels, strengths = findings.column_labels, findings.column_weights
        strongest = np.argsort(-strengths, kind="stable")[:MOST_NAMES]
        names = [self.whole(int(number)) for number in strongest]
        fits = np.cumsum([len(json.dumps(name)) for name in names]) <= MOST_BYTES
        listed = sorted(zip(strongest[fits].tolist(), names, strict=False))
        self.kept, self.names = [number for number, _ in listed], [name for _, name in listed]

    def cell_names(self, axis: Axis) -> list[str]:
        """What stands in each cell: one name, or the first and the last; its component."""
        texts = []
        for start, stop in pairwise(axis.edges):
            members = axis.order[start:stop]
            text, remarks = self.short(int(members[0])), []
            if len(members) > 1:
                text += f" \N{HORIZONTAL ELLIPSIS} {self.short(int(members[-1]))}"
                remarks.append(f"{len(members)} {self.plural}")
            labels = None if self.certain is None else self.certain[members]
            if labels is not None and (labels == labels[0]).all():
                named = f"{self.belongs} {labels[0]}" if labels[0] >= 0 else f"no {self.belongs}"
                remarks.append(named)
            texts.append(f"{text} ({', '.join(remarks)})" if remarks else text)
        return texts

    def searchable(self) -> dict[str, Any]:
        """Names with their component and place."""
        return {
            "total": len(self.labels),
            "belongs": self.belongs,
            "palette": "g" if self.belongs == "group" else "c",
            "name": self.names,
            "number": self.kept,
            "component": self.labels[self.kept].tolist(),
            "place": self.axis.positions[self.kept].tolist(),
        }
