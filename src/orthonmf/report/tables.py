"""The tables of a result as CSV: of rows, of features, of all weights, of the core."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Sequence
from typing import Any, TextIO

import numpy as np

from orthonmf.files.readers.text import shield
from orthonmf.report.story import Story
from orthonmf.stability.record import Membership

ASSIGNMENTS, FEATURES, COMPONENTS = "assignments.csv", "features.csv", "components.csv"
CORE = "core.csv"  # of a full core alone
Table = tuple[Sequence[str], Iterable[Sequence[Any]]]  # headings and rows


def tables_of(story: Story) -> dict[str, Table]:
    """Every table there is, by the name of its file."""
    names = names_or_numbers(story.result.feature_names, story.shape[1])
    weights = (
        (component, names[column], _number(weights[column]))
        for component, weights in enumerate(story.result.components)
        for column in story.top_columns(component, len(weights))
    )
    tables: dict[str, Table] = {
        ASSIGNMENTS: assignments(story),
        FEATURES: _features(story, names),
        COMPONENTS: (("component", "feature", "weight"), weights),
    }
    if story.has_core:
        core: Any = story.result.core
        shares = story.core_shares
        entries = ((*at, _number(core[at]), _number(shares[at])) for at in np.ndindex(core.shape))
        tables[CORE] = ("component", "group", "core", "energy"), entries
    return tables


def assignments(story: Story) -> Table:
    """The component of every row, its loading, and the share of the row that is captured."""
    findings = story.findings
    names = names_or_numbers(story.result.sample_names, len(findings.row_labels))
    numbers = (map(_number, findings.row_scales), map(_number, findings.row_shares))
    headings, refitted = _refitted(story, "samples")
    rows = zip(names, findings.row_labels.tolist(), *refitted, *numbers, strict=True)
    return ("row", "component", *headings, "scale", "share_captured"), rows


def _features(story: Story, names: Sequence[str]) -> Table:
    """The component, or group, in which every feature weighs most, and its weight there."""
    findings = story.findings
    weights = map(_number, findings.column_weights)
    belongs = "group" if story.has_core else "component"
    headings, refitted = _refitted(story, "features")
    rows = zip(names, findings.column_labels.tolist(), *refitted, weights, strict=True)
    return ("feature", belongs, *headings, "weight"), rows


def _refitted(story: Story, side: str) -> tuple[Sequence[str], Sequence[Iterable[Any]]]:
    """What refits say of the points of a side: certainty, and the second group; or nothing."""
    members: Membership | None = getattr(story.stability, side, None)
    if members is None:
        return (), ()
    return ("certainty", "second"), (map(_number, members.certainty), members.second.tolist())


def write_rows(file: TextIO, headings: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    """A table; no name in it becomes a formula or breaks a line."""
    plain_rows = csv.writer(file, lineterminator="\n")
    quoted = csv.writer(file, lineterminator="\n", quoting=csv.QUOTE_ALL)
    plain_rows.writerow(headings)
    for row in rows:
        cells = [shield(cell) if isinstance(cell, str) else cell for cell in row]
        # Older versions of Python leave a carriage return without quotes.
        broken = any(isinstance(cell, str) and "\r" in cell for cell in cells)
        (quoted if broken else plain_rows).writerow(cells)


def _number(value: Any) -> str:
    """The shortest text that reads back as the same number; nothing for NaN."""
    return "" if np.isnan(value) else repr(value.item())


def names_or_numbers(names: Sequence[str] | None, count: int) -> Sequence[str]:
    """The names, or numbers from 0."""
    return names if names is not None else [str(number) for number in range(count)]
