"""One row per finished run, in a CSV file that only grows.

The file is a journal: whatever ends a runner, the rows that are finished stay. A run done again
(timed alone after it ran next to others) gets another row; the last one counts.
"""

from __future__ import annotations

import csv
import io
from dataclasses import astuple, dataclass, fields
from pathlib import Path
from typing import Any

from orthonmf.errors import InvalidInputError
from orthonmf.files.journal import Journal
from orthonmf.reproduction.definition import Key

RESULTS = "results.csv"
FAILED, NOT_MEASURED = "failed: ", "not measured: "  # how such stop reasons begin


@dataclass(frozen=True, slots=True)
class Row:
    """What one run gave; measures are None where there are none."""

    experiment: str
    dataset: str
    orthogonal: str
    n_samples: int
    n_features: int
    n_components: int
    noise: float | None
    seed: int
    method: str
    time_limit: float
    recovery_error: float | None = None  # |M_truth - A W|_F
    reconstruction_error: float | None = None  # |M - A W|_F, factors as the method left them
    relative_squared_error: float | None = None  # |M - A W|_F^2 / |M|_F^2
    non_orthogonality: float | None = None  # of the rows of W
    column_non_orthogonality: float | None = None  # of the columns of A
    seconds: float | None = None  # of the method alone; None unless it ran alone
    iterations: int | None = None
    stop_reason: str = ""
    serial: int = 1  # whether the run was alone, and so timed
    planted_error: float | None = None  # |M - M_truth|_F
    published_error: float | None = None  # the relative squared one before our last assignment

    @property
    def key(self) -> Key:
        """What tells the run from all others; equal to ``Run.key``."""
        return astuple(self)[:N_KEY]


COLUMNS = tuple(field.name for field in fields(Row))
N_KEY = COLUMNS.index("time_limit") + 1
HEADER = ",".join(COLUMNS)
EARLIER = COLUMNS[: COLUMNS.index("published_error")]  # what older files, and lines in them, hold
TEXT = {"experiment", "dataset", "orthogonal", "method", "stop_reason"}
INTEGER = {"n_samples", "n_features", "n_components", "seed", "iterations", "serial"}
MAY_BE_EMPTY = {field.name for field in fields(Row) if "None" in str(field.type)}


def is_missing(row: Row) -> bool:
    """Whether the row only says why there is none; such a run is tried again every time."""
    return row.stop_reason.startswith(NOT_MEASURED)


def read_rows(path: Path) -> list[Row]:
    """All rows of a results file, the last one of every run; nothing is changed on disk."""
    path.stat()  # a file that is not there is an error here
    return list(_rows_of(_open(path)).values())


class ResultsFile:
    """A results file opened to go on: what it holds, and how a row is added."""

    def __init__(self, path: Path) -> None:
        self.path, self._journal = path, _open(path)
        self.rows = _rows_of(self._journal)
        if not self._journal.lines:
            self._journal.append(HEADER)

    def add(self, row: Row) -> None:
        """Append a row, on disk when this returns."""
        self._journal.append(_line(row))
        self.rows[row.key] = row


def _open(path: Path) -> Journal:
    foreign = (
        f"{path}: line 1 is not the header of a results file; name another folder, or move the "
        "file away"
    )
    journal = Journal(path, HEADER, foreign)
    if journal.lines and journal.lines[0] not in (HEADER, ",".join(EARLIER)):
        raise InvalidInputError(foreign)
    return journal


def _rows_of(journal: Journal) -> dict[Key, Row]:
    earlier = journal.lines[:1] != [HEADER]
    lines = enumerate(journal.lines[1:], start=2)
    rows = (_parse(journal.path, number, line, earlier) for number, line in lines)
    return {row.key: row for row in rows}


def _line(row: Row) -> str:
    cells = ["" if value is None else value for value in astuple(row)]
    text = io.StringIO()
    csv.writer(text, lineterminator="").writerow(
        repr(cell) if isinstance(cell, float) else cell for cell in cells
    )
    return text.getvalue()


def _parse(path: Path | None, number: int, line: str, earlier: bool) -> Row:
    try:
        (cells,) = csv.reader([line], strict=True)
        names = EARLIER if earlier and len(cells) == len(EARLIER) else COLUMNS
        values = {name: _value(name, cell) for name, cell in zip(names, cells, strict=True)}
    except (ValueError, csv.Error) as error:
        raise InvalidInputError(
            f"{path}: line {number} is damaged ({error}); remove the line to have its run repeated"
        ) from error
    return Row(**values)


def _value(name: str, cell: str) -> Any:
    if name in TEXT:
        return cell
    if not cell and name in MAY_BE_EMPTY:
        return None
    try:
        return int(cell) if name in INTEGER else float(cell)
    except ValueError:
        raise ValueError(f"{name} is {cell!r}") from None
