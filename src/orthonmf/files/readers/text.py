"""CSV, TSV and other tables of numbers as text, packed or not.

Names may stand in their first line and column. NumPy reads the numbers, some megabytes of lines at
a time. Lines in which it meets anything else are read again cell by cell, which is what decides:
the error then names line, column and remedy.
"""

from __future__ import annotations

import csv
import math
import re
import shlex
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, islice, pairwise

import numpy as np

from orthonmf.files.readers.opening import line_blocks, open_lines
from orthonmf.files.readers.request import NamedMatrix, Names, Request
from orthonmf.typing import Array

MISSING = ("", "na", "nan", "n/a", "#n/a", "null", "none", "-", "--", "?")
DELIMITERS = "\t;|,"  # a comma last: it may be decimal
LOOK_AHEAD = 20
CELLS_LOOKED_AT = 50  # in a line
MOST_TITLES = 10
FEWEST_ENTRIES = 10
WORDS_OF_A_TEXT = 3
COMMA = re.compile(r"[+-]?\d*,\d+(e[+-]?\d+)?", re.IGNORECASE)
POINT = re.compile(r"[+-]?\d*\.\d+(e[+-]?\d+)?", re.IGNORECASE)
MAY_BE_THOUSANDS = re.compile(r"[+-]?[1-9]\d{0,2},\d{3}")
THOUSANDS = re.compile(r"[+-]?\d{1,3}((,\d{3})+(\.\d+)?|(\.\d{3})+(,\d+)?|([ '\u00a0]\d{3})+)")
SIGNS = "%$€£¥"
# What a spreadsheet takes for a formula, behind the quotes that we put before such names.
FORMULA = re.compile(r"'*[=+\-@\t\r]")
TRUTHS = ("true", "false")
PLAIN_NUMBERS = (
    "write plain numbers: decimal points, no separators of thousands, no signs such as % or $, "
    "and 1 and 0 for what is true and false"
)
DECIMAL_COMMAS = "numbers have a decimal comma: 1,5 was read as 1.5"
LONG_TABLE = (
    "the lines look like row, column and value, and were taken as rows of a matrix; if they are, "
    "read them with --format edges"
)
Line = tuple[int, list[str]]  # its number in the file, its cells


def read_text(request: Request) -> NamedMatrix:
    """A table of numbers; names in its first line and first column are kept."""
    delimiter = "\t" if ".tsv" in request.path.suffixes else None
    with open_lines(request) as lines:
        return read_table(lines, request, delimiter)


def read_table(lines: Iterator[str], request: Request, delimiter: str | None) -> NamedMatrix:
    """The (n, m) matrix of a table in float64; None to find the delimiter out."""
    blocks = line_blocks(lines, request)
    _, ahead = next(blocks, (1, []))
    delimiter = delimiter or find_delimiter(ahead)
    records = list(split_lines(ahead, 1, delimiter, request))
    if not records:
        raise request.error("the file is empty")
    n_titles = _count_titles(records) if request.header is None else 0
    table, first = _lay_out(records[n_titles:], delimiter, request)
    notes = [DECIMAL_COMMAS] if table.decimal == "," else []
    if n_titles:
        notes.append(f"left out above the table: {' '.join(records[0][1]).strip()[:60]!r}")
    names: list[str] = []
    parts: list[Array] = []
    n_cells = 0
    for number, block in chain([(first, ahead[first - 1 :])], blocks):
        names_of_rows, values = table.read_block(number, block)
        names += names_of_rows
        parts.append(values)
        n_cells += values.size
        request.check_size(16 * n_cells, "the table so far")
    X = np.ascontiguousarray(np.concatenate(parts))
    if not table.has_index and _lists_entries(X):
        notes.append(LONG_TABLE)
    row_names = tuple(names) if table.has_index else None
    return request.matrix(X, row_names, table.names, notes=tuple(notes), chosen=True)


def split_lines(
    lines: Iterable[str], number: int, delimiter: str, request: Request
) -> Iterator[Line]:
    """Lines split into cells, each with the number of its first line; empty ones are left out."""
    reader = csv.reader(lines, delimiter=delimiter, strict=True)
    begins = number
    try:
        for cells in reader:
            if any(map(str.strip, cells)):
                yield begins, cells
            begins = number + reader.line_num
    except csv.Error as error:
        raise request.error(f"it cannot be split into cells: {error}", begins) from error


def find_delimiter(lines: Sequence[str]) -> str:
    """What splits most lines into as many cells, and into the most numbers."""
    ahead = list(islice((line for line in lines if line.strip()), LOOK_AHEAD))

    def fitness(delimiter: str) -> tuple[bool, float, float, int]:
        split = [
            cells for cells in csv.reader(ahead, delimiter=delimiter) if any(map(str.strip, cells))
        ]
        width, agreeing = Counter(map(len, split)).most_common(1)[0] if split else (1, 0)
        cells = [cell.strip() for line in split for cell in line[:CELLS_LOOKED_AT]]
        values = sum(map(looks_like_number, cells))
        return width > 1, agreeing / max(1, len(split)), values / max(1, len(cells)), width

    return max(DELIMITERS, key=fitness)


def as_number(cell: str, decimal: str = ".") -> float | None:
    """The number that a cell holds; None if it holds something else."""
    if decimal == ",":
        cell = "?" if "." in cell else cell.replace(",", ".", 1)
    try:
        return None if "_" in cell else float(cell)
    except ValueError:
        return None


def looks_like_number(cell: str) -> bool:
    """Whether people take a cell for a number, or for a missing one, however it is written."""
    text = cell.strip().strip(f"{SIGNS} \u00a0").strip()
    if text.lower() in (*MISSING, *TRUTHS) or as_number(text) is not None:
        return True
    return bool(COMMA.fullmatch(text) or THOUSANDS.fullmatch(text))


def shield(name: str) -> str:
    """A name for a table: with a quote before it where a spreadsheet would take it for a formula.

    Numbers are no formulas and stay as they are. :func:`unshield` gives every name back.
    """
    is_number = as_number(name) is not None and name == name.strip()
    return name if is_number or not FORMULA.match(name) else f"'{name}"


def unshield(cell: str) -> str:
    """The name that a cell of a table stands for."""
    return cell[1:] if cell.startswith("'") and FORMULA.match(cell) else cell


@dataclass(frozen=True, slots=True)
class _Table:
    """How the lines of a table are made: cells, which of them are numbers, and their names."""

    delimiter: str
    decimal: str
    width: int
    has_index: bool
    places: list[int]  # of the cells that are wanted as numbers
    names: Names  # of these
    labels: list[str]  # of all cells, as --columns and --drop call them
    words: list[int]  # places of cells that hold words in all lines looked at
    request: Request

    def read_block(self, number: int, lines: list[str]) -> tuple[list[str], Array]:
        """Names of rows and (rows, columns) numbers, all of them finite and not negative."""
        try:
            return self._parse(lines)
        except ValueError:
            names, values = [], []
        for line, cells in split_lines(lines, number, self.delimiter, self.request):
            if len(cells) != self.width:
                raise self.request.error(
                    f"it has {len(cells)} cells, the lines above {self.width}", line
                )
            values.append([self._read_cell(cells, place, line) for place in self.places])
            names.append(unshield(cells[0].strip()))
        return names, np.array(values, dtype=np.float64).reshape(-1, len(self.places))

    def _parse(self, lines: list[str]) -> tuple[list[str], Array]:
        """The same by NumPy; a ValueError where something must be looked at cell by cell."""
        if self.decimal != "." or not any(map(str.strip, lines)):
            raise ValueError("nothing that NumPy reads")
        wanted = set(self.places)
        cells = np.loadtxt(
            lines,
            dtype=[(str(place), "f8" if place in wanted else "O") for place in range(self.width)],
            delimiter=self.delimiter,
            quotechar='"',
            comments=None,
            ndmin=1,
        )
        values = np.column_stack([cells[str(place)] for place in self.places])
        if self.request.find_unusable(values).any():
            raise ValueError("it holds what is no amount")
        return [unshield(name.strip()) for name in cells["0"]] if self.has_index else [], values

    def _read_cell(self, cells: list[str], place: int, line: int) -> float:
        text = cells[place].strip()
        if self.request.allow_missing and text.lower() in MISSING:
            return math.nan
        value = as_number(text, self.decimal)
        if value is not None and 0 <= value < math.inf:
            return value
        name = f" ({self.labels[place][:40]!r})" if self.names is not None else ""
        where = f"column {place + 1}{name}"
        if text.lower() in MISSING:
            what = f"{text!r} is" if text else "the cell is empty, which is"
            remedy = "" if self.request.allow_missing is None else "--missing leaves such cells out"
            raise self.request.error(f"{where}: {what} no number", line, remedy)
        if value is not None:
            raise self.request.error(f"{where}: {text} must be finite and not negative", line)
        remedy = "; ".join(self._advise(text, place))
        raise self.request.error(f"{where}: {text[:40]!r} is no number", line, remedy)

    def _advise(self, text: str, place: int) -> Iterator[str]:
        """What may be done about a cell that is no number: write it otherwise, or drop columns."""
        if "\0" in text:
            yield "this is no text, or one in UTF-16: save it as 'CSV UTF-8'"
        elif looks_like_number(text.replace("_", "")):
            yield PLAIN_NUMBERS
        elif self.width == 1 and all(map(looks_like_number, text.split())):
            yield "there is one column: put commas, semicolons or tabs between cells"
        elif self.width > 1:
            if place in self.words and len(text.split()) >= WORDS_OF_A_TEXT:
                yield "texts become numbers with sklearn.feature_extraction.text.TfidfVectorizer"
            words = self.words if place in self.words else [place]
            if len(words) < self.width - self.has_index:
                listed = [self.labels[word] for word in words]
                what = "columns of words" if place in self.words else "the column"
                named = not any("," in label or not label for label in listed)
                yield f"{_option('--drop', listed) if named else '--drop'} leaves {what} out"
            if words == [1] and self.has_index:
                chosen = [label or "0" for label in self.labels[:3]]
                columns = f" {_option('--columns', chosen)}" if self.width > 3 else ""
                line = "a row and a column" if self.width == 2 else "a row, a column and a value"
                yield f"if every line is {line}, --format edges{columns} reads it"


def _lay_out(records: list[Line], delimiter: str, request: Request) -> tuple[_Table, int]:
    """How the lines are made, and the number of the first one below the header."""
    body = records[:LOOK_AHEAD]
    has_header = _has_header(body) if request.header is None else request.header
    header = body.pop(0) if has_header else None
    if not body:
        raise request.error("there is a header and nothing below it", records[0][0])
    width = len(body[0][1])
    has_index = request.index
    if has_index is None:
        has_index = _has_index(header, body, delimiter, request)
    first = int(has_index)
    if width == first:
        raise request.error("the only column holds the names of rows", body[0][0])
    names = _column_names(header, width, has_index, request)
    index_label = [header[1][0] if header and len(header[1]) == width else ""][:first]
    labels = [*index_label, *(names or map(str, range(width - first)))]
    words = [
        place
        for place in range(first, width)
        if not any(looks_like_number(cells[place]) for _, cells in body if len(cells) == width)
    ]
    chosen = request.choose(names, width - first)
    if chosen is None:
        chosen = list(range(width - first))
    table = _Table(
        delimiter=delimiter,
        decimal=_find_decimal(records),
        width=width,
        has_index=has_index,
        places=[first + number for number in chosen],
        names=None if names is None else tuple(names[number] for number in chosen),
        labels=labels,
        words=words,
        request=request,
    )
    return table, body[0][0]


def _find_decimal(records: list[Line]) -> str:
    """A comma where some cells have one, none has a point, and thousands cannot be meant."""
    cells = [cell.strip() for _, line in records for cell in line if "," in cell or "." in cell]
    commas = [cell for cell in cells if COMMA.fullmatch(cell)]
    clear = not all(map(MAY_BE_THOUSANDS.fullmatch, commas))
    return "," if clear and not any(map(POINT.fullmatch, cells)) else "."


def _count_titles(records: list[Line]) -> int:
    """How many lines on top are no part of the table: words, in fewer cells than its lines have."""
    ahead = [cells for _, cells in records[: MOST_TITLES + LOOK_AHEAD]]
    width = Counter(map(len, ahead)).most_common(1)[0][0]
    for count, (cells, below) in enumerate(pairwise(ahead)):
        filled = [cell for cell in cells if cell.strip()]
        shorter = len(cells) < width or (len(filled) == 1 and bool(cells[0].strip()))
        if not shorter or any(map(looks_like_number, filled)):
            return count
        # R leaves the name of the first column out, which makes a header short.
        nearly_whole = len(cells) >= width - 1
        if nearly_whole and any(cell.strip() and looks_like_number(cell) for cell in below):
            return count
    return 0


def _has_header(ahead: list[Line]) -> bool:
    """The first line is a header if a cell after the first is no number where others are."""
    values = [looks_like_number(cell) for cell in ahead[0][1]]
    below = [looks_like_number(cell) for cell in ahead[1][1]] if len(ahead) > 1 else []
    if len(values) == 1:
        return bool(below) and not values[0] and below[-1]
    words = [place for place, value in enumerate(values) if place and not value]
    if not words:
        return False
    if below and not values[0] and below[0]:
        return True
    same_below = [place for place in words if place < len(below) and not below[place]]
    return len(ahead) == 1 or len(same_below) < len(words)


def _has_index(header: Line | None, ahead: list[Line], delimiter: str, request: Request) -> bool:
    """The first column holds names: words, or an unnamed column as pandas and R write it."""
    number, cells = ahead[0]
    if len(cells) < 2:
        return False
    if header is not None and not header[1][0].strip():
        return True
    named = [cells[0] for _, cells in ahead if cells[0].strip().lower() not in MISSING]
    words = bool(named) and not any(map(looks_like_number, named))
    if header is not None and len(header[1]) + 1 == len(cells):
        if len(cells) == 2 and delimiter == "," and not words:
            raise request.error(
                f"{','.join(cells)!r} may be a number with a decimal comma, or a name and a number;"
                " write decimal points, or say --index",
                number,
            )
        return True
    return words


def _column_names(header: Line | None, width: int, has_index: bool, request: Request) -> Names:
    if header is None:
        return None
    names = [unshield(name.strip()) for name in header[1]]
    if has_index and len(names) == width:
        names = names[1:]
    if len(names) != width - has_index:
        raise request.error(
            f"the header has {len(header[1])} cells, the line below it {width}; if it is none, "
            "delete the lines above the table",
            header[0],
        )
    return tuple(names)


def _option(name: str, values: list[str]) -> str:
    return f"{name} {shlex.quote(','.join(values))}"


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
