"""``.csv`` and ``.tsv``, packed or not: header and index are recognized, errors have a line."""

from __future__ import annotations

import csv
import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain, islice
from pathlib import Path

import numpy as np

from orthonmf.files.readers.names import unshield
from orthonmf.files.readers.packed import open_lines
from orthonmf.files.readers.record import NamedMatrix, Names, Request
from orthonmf.numerics.arrays import Array

ROWS_AT_ONCE = 1024
MISSING = {"", "na", "nan", "n/a", "null", "none"}
DELIMITERS = "\t,;|"
DECIMAL_COMMAS = re.compile(r"-?\d+(,\d+)?(;-?\d+(,\d+)?)+")
LOOK_AHEAD = 20
FEWEST_ENTRIES = 10
LONG_TABLE = (
    "the lines look like row, column and value, and were taken as rows of a matrix; if they are, "
    "keep these three columns and read them with --format edges"
)
Line = tuple[int, list[str]]


def read_text(request: Request) -> NamedMatrix:
    """A table of numbers; names in its first line and first column are kept."""
    with open_lines(request) as lines:
        return _table(_rows(lines, request), request)


def _rows(lines: Iterator[str], request: Request) -> Iterator[Line]:
    """Lines with their numbers, split into cells; lines without anything are left out."""
    numbered = ((skipped, line) for skipped, line in enumerate(lines) if line.strip())
    skipped, first = next(numbered, (0, ""))
    reader = csv.reader(chain([first], lines), delimiter=delimiter_of(first, request.path))
    return ((skipped + reader.line_num, cells) for cells in reader if any(map(str.strip, cells)))


def delimiter_of(line: str, path: Path) -> str:
    """Tabs in a ``.tsv``; otherwise what stands in the first line most often."""
    if ".tsv" in path.suffixes:
        return "\t"
    if DECIMAL_COMMAS.fullmatch(line.strip()):
        return ";"
    return max(DELIMITERS, key=lambda one: (line.count(one), one == ","))


def _table(rows: Iterator[Line], request: Request) -> NamedMatrix:
    ahead = list(islice(rows, LOOK_AHEAD))
    if not ahead:
        raise request.error("the file is empty")
    has_header = _has_header(ahead) if request.header is None else request.header
    header = ahead.pop(0)[1] if has_header else None
    if not ahead:
        raise request.error("there is a header and nothing below it", 1)
    has_index = _has_index(header, ahead) if request.index is None else request.index
    width = len(ahead[0][1])
    column_names = _column_names(header, width, has_index, request)
    layout = _lay_out(column_names, width, has_index, request)
    blocks: list[Array] = []
    row_names: list[str] = []
    n_cells = 0
    body = chain(ahead, rows)
    while lines := list(islice(body, ROWS_AT_ONCE)):
        blocks.append(_block(lines, layout, request))
        if has_index:
            row_names.extend(unshield(cells[0].strip()) for _, cells in lines)
        n_cells += blocks[-1].size
        request.check_size(16 * n_cells, "the table so far")
    X = np.concatenate(blocks)
    notes = (LONG_TABLE,) if not has_index and _lists_entries(X) else ()
    names = tuple(row_names) if has_index else None
    return request.matrix(X, names, layout.names, notes=notes, chosen=True)


def _lists_entries(X: Array) -> bool:
    """Whether lines look like row, column and value: either repeats, no pair of them does."""
    n, width = X.shape
    if width not in (3, 4) or n < FEWEST_ENTRIES:
        return False
    places = X[:, :2]
    if not (np.isfinite(places) & (places == np.round(places))).all():
        return False
    repeat = all(len(np.unique(side)) <= n // 2 for side in places.T)
    return repeat and len(np.unique(places, axis=0)) == n


def _has_header(ahead: list[Line]) -> bool:
    """The first line is a header if a cell after the first is no number where others are."""
    cells = ahead[0][1]
    if len(cells) == 1:
        return len(ahead) > 1 and not _is_value(cells[0]) and _is_value(ahead[1][1][-1])
    words = [i for i, cell in enumerate(cells) if i and not _is_value(cell)]
    if not words:
        return False
    below = ahead[1][1] if len(ahead) > 1 else []
    if below and not _is_value(cells[0]) and _is_value(below[0]):
        return True
    same_below = [i for i in words if i < len(below) and not _is_value(below[i])]
    return len(ahead) == 1 or len(same_below) < len(words)


def _has_index(header: list[str] | None, ahead: list[Line]) -> bool:
    """The first column holds names: words, or an unnamed column as pandas and R write it."""
    if len(ahead[0][1]) < 2:
        return False
    if header is not None and (len(header) + 1 == len(ahead[0][1]) or not header[0].strip()):
        return True
    return not any(_is_value(cells[0]) for _, cells in ahead)


def _is_value(cell: str) -> bool:
    return cell.strip().lower() in MISSING or as_number(cell) is not None


def as_number(cell: str) -> float | None:
    """The number that a cell holds; None if it holds something else."""
    try:
        return None if "_" in cell else float(cell)
    except ValueError:
        return None


def _column_names(header: list[str] | None, width: int, has_index: bool, request: Request) -> Names:
    if header is None:
        return None
    names = [unshield(name.strip()) for name in header]
    if has_index and len(names) == width:
        names = names[1:]
    if len(names) != width - has_index:
        raise request.error(f"the header has {len(header)} cells, the line below it {width}", 1)
    return tuple(names)


@dataclass(frozen=True, slots=True)
class _Layout:
    """What the lines of a table hold: how many cells, which are numbers, and their names."""

    width: int
    places: list[int]
    names: Names
    whole: bool  # whether all cells but the first few are numbers, which is quicker

    def numbers(self, cells: list[str]) -> list[str]:
        """The cells that hold numbers."""
        return cells[self.places[0] :] if self.whole else [cells[i] for i in self.places]


def _lay_out(names: Names, width: int, has_index: bool, request: Request) -> _Layout:
    first = int(has_index)
    chosen = request.choose(names, width - first)
    if chosen is None:
        return _Layout(width, list(range(first, width)), names, True)
    kept = None if names is None else tuple(names[i] for i in chosen)
    return _Layout(width, [first + i for i in chosen], kept, False)


def _block(lines: list[Line], layout: _Layout, request: Request) -> Array:
    """Some lines as numbers, all of them finite and not negative."""
    values = []
    for number, cells in lines:
        if len(cells) != layout.width:
            raise request.error(
                f"it has {len(cells)} cells, the lines above {layout.width}", number
            )
        held = layout.numbers(cells)
        try:
            row = [float(cell) for cell in held]
            plain = "_" not in "".join(held)  # Python reads 1_000 as a number
        except ValueError:
            plain = False
        values.append(row if plain else _slowly(number, cells, layout, request))
    block = np.array(values, dtype=np.float64)
    bad = request.find_unusable(block)
    if bad.any():
        row, column = np.argwhere(bad)[0]
        number, cells = lines[row]
        raise _bad_cell(cells, number, int(column), layout, request)
    return block


def _slowly(number: int, cells: list[str], layout: _Layout, request: Request) -> list[float]:
    """Cell by cell, for a line that holds something else than numbers."""
    values = []
    for column, cell in enumerate(layout.numbers(cells)):
        if request.allow_missing and cell.strip().lower() in MISSING:
            values.append(math.nan)
            continue
        value = as_number(cell)
        if value is None:
            raise _bad_cell(cells, number, column, layout, request)
        values.append(value)
    return values


def _bad_cell(
    cells: list[str], number: int, column: int, layout: _Layout, request: Request
) -> Exception:
    name = "" if layout.names is None else f" ({layout.names[column][:40]!r})"
    where = f"column {layout.places[column] + 1}{name}"
    text = cells[layout.places[column]].strip()
    if text.lower() in MISSING:
        found = f"{text!r} is" if text else "the cell is empty, which is"
        return request.error(f"{where}: {found} no number; --missing leaves such cells out", number)
    if _is_value(text):
        return request.error(f"{where}: {text} must be finite and not negative", number)
    advice = _advise(text, len(cells))
    return request.error(f"{where}: {text[:40]!r} is no number{advice}", number)


def _advise(text: str, width: int) -> str:
    """What may be done about a cell that is no number."""
    if _is_value(text.replace("_", "")):
        return "; write it without underscores"
    if _is_value(text.replace(",", ".", 1)):
        return (
            "; numbers need a decimal point: save the file with points, or "
            "pandas.read_csv(FILE, sep=';', decimal=',').to_csv(OTHER) writes one"
        )
    if len(text.split()) > 1:
        return (
            "; texts become numbers with sklearn.feature_extraction.text.TfidfVectorizer; "
            "--drop leaves columns out"
        )
    if width == 2:
        return "; if every line is a row and a column, --format edges reads it"
    if width == 3:
        return "; if every line is a row, a column and a value, --format edges reads it"
    if width == 4:
        return (
            "; if every line is a row, a column, a value and more, keep the first three "
            "(cut -d, -f1-3), which --format edges reads"
        )
    return "; --drop leaves columns out" if width > 1 else ""
