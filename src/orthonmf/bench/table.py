"""Rows as people read them: tables of at most 80 columns on a terminal, the same as Markdown."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from rich.box import SIMPLE_HEAD
from rich.table import Table
from rich.text import Text

from orthonmf.bench.columns import Lines, case_lines, cells, columns_of, explain, figure
from orthonmf.bench.phases import PHASE_NAMES
from orthonmf.bench.rows import Row

WHOLE = "the whole"


@dataclass(frozen=True, slots=True)
class Grid:
    """Headings and cells of a table, each of some lines, and which columns hold text."""

    headings: list[Lines]
    is_text: list[bool]
    body: list[list[Lines]]


def grid_of(name: str, rows: Sequence[Row], *, profile: bool = False) -> Grid:
    """The table of one benchmark, or of its profile."""
    if profile:
        return _profile_grid(rows)
    columns = columns_of(name)
    return Grid(
        [column.heading.split("\n") for column in columns],
        [column.is_text for column in columns],
        [cells(row, columns) for row in rows],
    )


def _profile_grid(rows: Sequence[Row]) -> Grid:
    """One line for every phase, one column for every fit."""
    body = [[[phase], *(_spent(row, phase) for row in rows)] for phase in (*PHASE_NAMES, WHOLE)]
    return Grid([["phase"], *(case_lines(row) for row in rows)], [True] + [False] * len(rows), body)


def _spent(row: Row, phase: str) -> Lines:
    if not row.figures:
        return [row.verdict if phase == WHOLE else "-"]
    seconds = {**row.figures["seconds_by_phase"], WHOLE: row.figures["seconds"]}
    share = f"{seconds[phase] / seconds[WHOLE]:.1%}"
    return [f"{figure(1e3 * seconds[phase])} ms {share:>6s}"]


def notes(rows: Sequence[Row]) -> list[str]:
    """A sentence for every row that has something to say."""
    said = [row for row in rows if row.note]
    return [f"{', '.join(filter(None, (one.case, one.against)))}: {one.note}" for one in said]


def rich_table(name: str, rows: Sequence[Row], *, profile: bool = False) -> Table:
    """The table of one benchmark for a terminal."""
    grid = grid_of(name, rows, profile=profile)
    title = f"{name}: where the time goes" if profile else name
    drawn = Table(title=title, box=SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False)
    for heading, is_text in zip(grid.headings, grid.is_text, strict=True):
        justify: Literal["left", "right"] = "left" if is_text else "right"
        drawn.add_column("\n".join(heading), justify=justify, overflow="fold")
    for row in grid.body:
        drawn.add_row(*(Text("\n".join(lines)) for lines in row))
    return drawn


def markdown(document: dict[str, Any], rows: Sequence[Row], *, profile: bool = False) -> str:
    """All tables as one Markdown file, headed by the machine."""
    parts = ["# orthonmf bench" + (" --profile" if profile else ""), machine_line(document)]
    for name in dict.fromkeys(row.benchmark for row in rows):
        own = [row for row in rows if row.benchmark == name]
        grid = grid_of(name, own, profile=profile)
        lines = [
            _markdown_row([[" ".join(heading).replace("- ", "")] for heading in grid.headings]),
            "|" + "".join("---|" if is_text else "---:|" for is_text in grid.is_text),
            *(_markdown_row(row) for row in grid.body),
        ]
        parts += [f"## {name}", explain(name, profile), "\n".join(lines)]
        if notes(own):
            parts.append("\n".join(f"- {note}" for note in notes(own)))
    return "\n\n".join(parts) + "\n"


def _markdown_row(row: Sequence[Lines]) -> str:
    joined = ("<br>".join(lines).replace("|", "\\|") for lines in row)
    return "| " + " | ".join(joined) + " |"


def machine_line(document: dict[str, Any]) -> str:
    """The machine and the versions in one sentence."""
    machine = document["machine"]
    return (
        f"{machine['cpu']}, {machine['cores']} cores, load {machine['load']}; orthonmf "
        f"{machine['orthonmf']}, Python {machine['python']}, NumPy {machine['numpy']}, "
        f"SciPy {machine['scipy']}, scikit-learn {machine['scikit-learn']}, "
        f"{', '.join(machine['blas'])}"
    )
