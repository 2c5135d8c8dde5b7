"""From rows to something one can look at: a summary, figures and a page."""

from __future__ import annotations

import csv
import io
from pathlib import Path

from orthonmf.files.whole_files import replacing
from orthonmf.reproduction.environment import ENVIRONMENT, read_sittings
from orthonmf.reproduction.figures import as_png, as_svg, figure_of
from orthonmf.reproduction.latex import latex_tables
from orthonmf.reproduction.page import page
from orthonmf.reproduction.rows import RESULTS, read_rows
from orthonmf.reproduction.summary import MEASURES, SETTING, Measured

SUMMARY, LATEX, PAGE = "summary.csv", "summary.tex", "index.html"
STATISTICS = ("median", "minimum", "maximum", "count")


def publish(folder: Path) -> list[Path]:
    """Write the summary (.csv and .tex), the figures of every experiment and index.html.

    Reads results.csv and, where there is one, environment.json. Works on whatever
    runs are in; each file appears whole. Returns the paths written.
    """
    measured = Measured(read_rows(folder / RESULTS))
    recorded = folder / ENVIRONMENT
    sittings = read_sittings(recorded) if recorded.exists() else []
    contents: dict[str, bytes] = {SUMMARY: summary_csv(measured).encode()}
    contents[LATEX] = latex_tables(measured).encode()
    for name in measured.experiments():
        figure = figure_of(measured, name)
        contents[f"{name}.svg"] = as_svg(figure, name).encode()
        contents[f"{name}.png"] = as_png(figure)
    contents[PAGE] = page(measured, sittings).encode()
    for name, content in contents.items():
        with replacing(folder / name, "xb") as file:
            file.write(content)
    return [folder / name for name in contents]


def summary_csv(measured: Measured) -> str:
    """One line per setting and method: how many runs, cut, failed, and every measure's spread."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    spreads = [f"{measure}_{statistic}" for measure in MEASURES for statistic in STATISTICS]
    writer.writerow([*SETTING, "runs", "cut", "failed", *spreads])
    for group in measured.all_groups():
        cells: list[object] = [*group.key, len(group.rows), group.cut, group.failed]
        for measure in MEASURES:
            spread = group.spread(measure)
            cells += [
                getattr(spread, statistic) if spread else ("" if statistic != "count" else 0)
                for statistic in STATISTICS
            ]
        writer.writerow(["" if cell is None else cell for cell in cells])
    return text.getvalue()
