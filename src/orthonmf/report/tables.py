"""The tables of a result as CSV: of rows, of features, of all weights, of the core."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Sequence
from typing import Any, TextIO

import numpy as np

from orthonmf.files.readers.names import shield
from orthonmf.report.story import Story
from orthonmf.stability.record import Membership

ASSIGNMENTS, FEATURES, COMPONENTS = "assignments.csv", "features.csv", "components.csv"
CORE = "core.csv"  # of a full core alone
Table = tuple[Sequence[str], Iterable[Sequence[Any]]]  # headings and rows


def tables_of(story: Story) -> dict[str, Table]:
    """Every table there is, by the name of its file."""
    tables = {
        ASSIGNMENTS: assignments(story),
        FEATURES: _features(story),
        COMPONENTS: _components(story),
    }
    return {**tables, CORE: _core(story)} if story.has_core else tables


def assignments(story: Story) -> Table:
    """The component of every row, its loading, and the share of the row that is captured."""
    findings = story.findings
    names = names_or_numbers(story.row_names, len(findings.row_labels))
    numbers = (map(_number, findings.row_scales), map(_number, findings.row_shares))
    headings, refitted = _refitted(story, "samples")
    rows = zip(names, findings.row_labels.tolist(), *refitted, *numbers, strict=True)
    return ("row", "component", *headings, "scale", "share_captured"), rows


def _features(story: Story) -> Table:
    """The component, or group, in which every feature weighs most, and its weight there."""
    findings = story.findings
    names = names_or_numbers(story.column_names, len(findings.column_labels))
    weights = map(_number, findings.column_weights)
    belongs = "group" if story.has_core else "component"
    headings, refitted = _refitted(story, "features")
    rows = zip(names, findings.column_labels.tolist(), *refitted, weights, strict=True)
    return ("feature", belongs, *headings, "weight"), rows


def _refitted(story: Story, side: str) -> tuple[Sequence[str], Sequence[Iterable[Any]]]:
    """What refits say of the points of a side: certainty, and the second group; or nothing."""
    if story.stability is None:
        return (), ()
    members: Membership | None = getattr(story.stability, side)
    if members is None:
        return (), ()
    return ("certainty", "second"), (map(_number, members.certainty), members.second.tolist())


def _components(story: Story) -> Table:
    """All weights above zero, those of a component together, the heaviest first."""
    names = names_or_numbers(story.column_names, story.shape[1])
    rows = (
        (component, names[column], _number(weights[column]))
        for component, weights in enumerate(story.result.components)
        for column in story.top_columns(component, len(weights))
    )
    return ("component", "feature", "weight"), rows


def _core(story: Story) -> Table:
    """What every component and every group of features have to do with each other."""
    core, shares = story.result.core, story.core_shares
    assert core is not None
    rows = ((*at, _number(core[at]), _number(shares[at])) for at in np.ndindex(core.shape))
    return ("component", "group", "core", "energy"), rows


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
