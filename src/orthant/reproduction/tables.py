"""Tables of a page: the medians of an experiment, the real data, and the machine."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from orthant.report.markup import Safe, tag
from orthant.reproduction.panels import TIME, Panel, panels_of
from orthant.reproduction.paper import PUBLISHED
from orthant.reproduction.summary import (
    BEST,
    OF_TEN,
    ONMF_APX,
    SIDES,
    Group,
    Measured,
    Spread,
    label,
)
from orthant.reproduction.table_checks import fits

NOTHING = "\N{EN DASH}"
FACTS = {
    "date": "Date", "orthant": "orthant", "python": "Python", "numpy": "NumPy", "scipy": "SciPy",
    "scikit-learn": "scikit-learn", "blas": "BLAS", "platform": "System", "cpu": "Processor",
    "cores": "Cores", "threads_per_run": "Threads of a run", "jobs": "Runs side by side",
    "timed": "Timed",
}  # fmt: skip


def median_tables(measured: Measured, experiment: str) -> Safe:
    """One table for every panel: medians by method and level, with their ranges."""
    tables = [_median_table(measured, experiment, panel) for panel in panels_of(experiment)]
    summary = tag("summary", "Numbers: medians, ranges, runs ended by the time limit")
    return tag("details", summary, tables, class_="tables")


def _median_table(measured: Measured, experiment: str, panel: Panel) -> Safe:
    methods = measured.methods(experiment)
    groups = {method: measured.groups(experiment, method) for method in methods}
    levels = sorted({at for one in groups.values() for at in one})
    kind = "components" if experiment == "inner-dimensions" else "noise"
    head = [tag("th", "method"), *(tag("th", f"{kind} {at:g}") for at in levels)]
    rows = [
        tag(
            "tr",
            tag("th", label(method), scope="row"),
            [_cell(groups[method].get(at), panel.measure) for at in levels],
        )
        for method in methods
    ]
    unit = " in seconds" if panel is TIME else ""
    table = tag(
        "table",
        tag("caption", f"{panel.title}{unit}"),
        tag("thead", tag("tr", head)),
        tag("tbody", rows),
    )
    return _wide(table, panel.title)


def _cell(group: Group | None, measure: str) -> Safe:
    spread = group.spread(measure) if group else None
    if group is None or spread is None:
        return tag("td", "failed" if group and group.failed else NOTHING)
    notes = [f"{spread.minimum:.4g} \N{EN DASH} {spread.maximum:.4g}"]
    if group.cut:
        notes.append(f"{group.cut} of {len(group.rows)} cut")
    if group.failed:
        notes.append(f"{group.failed} of {len(group.rows)} failed")
    return tag("td", f"{spread.median:.4g}", [tag("small", note) for note in notes])


def real_table(measured: Measured) -> Safe:
    """The paper's table next to the single starts on both sides and `best`."""
    columns = (
        "Set", "Paper", "Asteris et al.", "Orthogonal over", "Smallest", "Median", "Largest",
        "Median as published", "Starts", "Paper's value", "Best of 10", "orthant (best)",
    )  # fmt: skip
    skipped = (row for row in measured.skipped if row.experiment == "real-data")
    present = {row.dataset for row in (*measured.of("real-data"), *skipped)}
    known = [name for name in PUBLISHED if name in present]
    names = [*known, *sorted(present - set(PUBLISHED))]
    rows = [_real_row(measured, name, side) for name in names for side in SIDES]
    table = tag(
        "table", tag("thead", tag("tr", [tag("th", one) for one in columns])), tag("tbody", rows)
    )
    return _wide(table, "Real data", "wide sides")


def _real_row(measured: Measured, name: str, side: str) -> Safe:
    published = PUBLISHED.get(name)
    cells = [tag("th", published.label if published else name, scope="row")]
    values = (published.published, published.asteris) if published else ()
    cells += [tag("td", f"{one:.4f}") for one in values] or [tag("td", NOTHING)] * 2
    cells.append(tag("td", side))
    spread = measured.error_range(name, side, ONMF_APX)
    if spread is None:
        return tag(
            "tr", cells, tag("td", "not measured", colspan="6"), *_best_cells(measured, name, side)
        )
    ends = (spread.minimum, spread.median, spread.maximum)
    cells += [tag("td", f"{one:.4f}") for one in ends]
    before = measured.error_range(name, side, ONMF_APX, "published_error")
    cells.append(tag("td", NOTHING if before is None else f"{before.median:.4f}"))
    word = NOTHING
    if published is not None:
        word = "within the range" if fits(published.published, spread) else "outside"
    cells += [tag("td", spread.count), tag("td", word)]
    return tag("tr", cells, *_best_cells(measured, name, side))


def _best_cells(measured: Measured, name: str, side: str) -> list[Safe]:
    """The best of ten starts of the paper's algorithm, and the best we have."""
    return [_range_cell(measured.error_range(name, side, one)) for one in (OF_TEN, BEST)]


def _range_cell(best: Spread | None) -> Safe:
    if best is None:
        return tag("td", NOTHING)
    ends = f"{best.minimum:.4f} \N{EN DASH} {best.maximum:.4f}, {best.count} runs"
    return tag("td", f"{best.median:.4f}", tag("small", ends))


def environment_table(sittings: Sequence[Mapping[str, Any]]) -> Safe:
    """Where the results come from: a column for every sitting."""
    if not sittings:
        return tag("p", "The environment was not recorded.")
    names = list(dict.fromkeys(name for sitting in sittings for name in sitting))
    rows = [
        tag(
            "tr",
            tag("th", FACTS.get(name, name), scope="row"),
            [tag("td", _plain(sitting.get(name))) for sitting in sittings],
        )
        for name in names
    ]
    table = tag("table", tag("tbody", rows), class_="facts")
    return _wide(table, "Environment")


def _wide(table: Safe, label: str, look: str = "wide") -> Safe:
    """A frame in which a table that is too wide scrolls."""
    return tag("div", table, class_=look, tabindex="0", role="group", aria_label=label)


def _plain(fact: Any) -> str:
    if isinstance(fact, list):
        return ", ".join(map(str, fact))
    if isinstance(fact, bool):
        return "yes" if fact else "no"
    return NOTHING if fact is None else str(fact)
