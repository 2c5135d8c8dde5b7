"""Tables of a page: the medians of an experiment, the real data, and the machine."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from orthonmf.report.markup import Safe, row, table, tag
from orthonmf.reproduction.panels import TIME, Panel, panels_of
from orthonmf.reproduction.paper import PUBLISHED, paper_order
from orthonmf.reproduction.summary import (
    BEST,
    OF_TEN,
    ONMF_APX,
    SIDES,
    Group,
    Measured,
    Spread,
    label,
    level_word,
)
from orthonmf.reproduction.table_checks import fits

NOTHING = "\N{EN DASH}"
FACTS = {
    "date": "Date", "orthonmf": "orthonmf", "python": "Python", "numpy": "NumPy", "scipy": "SciPy",
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
    groups, levels = measured.by_method(experiment)
    rows = [
        row(label(method), [_cell(own.get(at), panel.measure) for at in levels])
        for method, own in groups.items()
    ]
    unit = " in seconds" if panel is TIME else ""
    head = ["method", *(f"{level_word(experiment)} {at:g}" for at in levels)]
    return _wide(table(head, rows, caption=f"{panel.title}{unit}"), panel.title)


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
        "Median as published", "Starts", "Paper's value", "Best of 10", "orthonmf (best)",
    )  # fmt: skip
    skipped = (row for row in measured.skipped if row.experiment == "real-data")
    present = {row.dataset for row in (*measured.of("real-data"), *skipped)}
    rows = [_real_row(measured, name, side) for name in paper_order(present) for side in SIDES]
    return _wide(table(columns, rows), "Real data", "wide sides")


def _real_row(measured: Measured, name: str, side: str) -> Safe:
    published = PUBLISHED.get(name)
    values = (published.published, published.asteris) if published else ()
    cells = [*([f"{one:.4f}" for one in values] or [NOTHING] * 2), side]
    spread = measured.error_range(name, side, ONMF_APX)
    if spread is None:
        cells.append(tag("td", "not measured", colspan="6"))
    else:
        before = measured.error_range(name, side, ONMF_APX, "published_error")
        cells += [f"{one:.4f}" for one in (spread.minimum, spread.median, spread.maximum)]
        cells += [NOTHING if before is None else f"{before.median:.4f}", f"{spread.count}"]
        within = published is not None and fits(published.published, spread)
        cells.append(NOTHING if published is None else "within the range" if within else "outside")
    # The best of ten starts of the paper's algorithm, and the best we have.
    cells += [_range_cell(measured.error_range(name, side, one)) for one in (OF_TEN, BEST)]
    return row(published.label if published else name, cells)


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
        row(FACTS.get(name, name), [_plain(sitting.get(name)) for sitting in sittings])
        for name in names
    ]
    return _wide(tag("table", tag("tbody", rows), class_="facts"), "Environment")


def _wide(inside: Safe, label: str, look: str = "wide") -> Safe:
    """A frame in which a table that is too wide scrolls."""
    return tag("div", inside, class_=look, tabindex="0", role="group", aria_label=label)


def _plain(fact: Any) -> str:
    if isinstance(fact, list):
        return ", ".join(map(str, fact))
    if isinstance(fact, bool):
        return "yes" if fact else "no"
    return NOTHING if fact is None else str(fact)
