"""Matrix Market: ``.mtx`` and ``.mtx.gz``, with the names that 10x Genomics puts next to them.

The header is checked here, the entries are read by NumPy, some ten thousand lines at a time. Lines
in which it meets anything else are read again one by one, so that the error names the line.
(pandas takes two to three times as long for them; SciPy's reader dies of a file that is cut.)
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np
from scipy.sparse import coo_array, csr_array

from orthonmf.files.readers.names import tenx_neighbors
from orthonmf.files.readers.opening import DAMAGED_PACKING, open_text
from orthonmf.files.readers.request import NamedMatrix, Request
from orthonmf.files.readers.text import as_number
from orthonmf.typing import Array

LONGEST_HEADER = 100_000  # lines of comments
LONGEST_COMMENT, LONGEST_ENTRY = 2**20, 2**10  # characters; the format allows 1024
LINES_AT_ONCE = 2**15
TYPES = ("real", "double", "integer", "unsigned-integer", "pattern")
SYMMETRIES = ("general", "symmetric", "hermitian")
WHOLE = re.compile(r"[+-]?\d+", re.ASCII)


@dataclass(frozen=True, slots=True)
class _Header:
    """What the first lines declare."""

    layout: str  # coordinate: row, column and value in a line; array: a value
    type: str  # of the values
    mirrored: bool
    shape: tuple[int, int]
    n_entries: int
    line: int  # of the sizes

    @property
    def columns(self) -> list[str]:
        """What stands in a line of the body."""
        places = ["row", "column"] if self.layout == "coordinate" else []
        return places if self.type == "pattern" else [*places, "value"]

    def is_whole(self, column: str) -> bool:
        """Whether a column holds whole numbers."""
        return column != "value" or "integer" in self.type


def read_mtx(request: Request) -> NamedMatrix:
    """Read a coordinate file as CSR and an array file as an array, both in float64."""
    try:
        with open_text(request.path, errors="replace") as file:
            lines = iter(lambda: file.readline(LONGEST_COMMENT), "")
            header = _read_header(lines, request)
            _check_room(header, request)
            entries = _read_entries(lines, header, request)
    except DAMAGED_PACKING as error:
        raise request.error(f"the packed file is damaged: {error}") from error
    X = _as_csr(entries, header) if header.layout == "coordinate" else _as_array(entries, header)
    return _add_names(X, request)


def _read_header(lines: Iterator[str], request: Request) -> _Header:
    """The banner and the line of sizes; everything is checked that does not need the entries."""
    layout, kind, mirrored = _read_banner(next(lines, ""), request)
    for number, line in enumerate(islice(lines, LONGEST_HEADER), start=2):
        sizes = line.split()
        if line.startswith("%") or not sizes:
            continue
        expected = 3 if layout == "coordinate" else 2
        if len(sizes) != expected or not all(map(WHOLE.fullmatch, sizes)):
            raise request.error(f"a line of sizes was expected, found {line[:60]!r}", number)
        if any(size.startswith("-") or len(size) > 18 for size in sizes):
            raise request.error(f"the sizes {' '.join(sizes)[:80]} make no sense", number)
        counts = [int(size) for size in sizes]
        n, m = request.check_shape((counts[0], counts[1]), number)
        if mirrored and n != m:
            raise request.error(f"a symmetric matrix is square, this one is {n} x {m}", number)
        in_array = n * (n + 1) // 2 if mirrored else n * m
        n_entries = counts[2] if layout == "coordinate" else in_array
        return _Header(layout, kind, mirrored, (n, m), n_entries, number)
    raise request.error("it ends before the line of sizes")


def _read_banner(line: str, request: Request) -> tuple[str, str, bool]:
    """The layout, the type of the values, and whether one triangle stands for both."""
    words = line.lower().split()
    if not words or not words[0].startswith("%%matrixmarket"):
        raise request.error("it does not begin with %%MatrixMarket", 1)
    if len(words) != 5 or words[1] != "matrix":
        raise request.error("%%MatrixMarket matrix LAYOUT NUMBERS SYMMETRY was expected", 1)
    layout, field, symmetry = words[2:]
    if layout not in ("coordinate", "array"):
        raise request.error(f"the layout {layout[:40]!r} is unknown", 1)
    if field not in TYPES or (field == "pattern" and layout == "array"):
        raise request.error(f"it holds {field[:40]} numbers; real ones are needed", 1)
    if symmetry == "skew-symmetric":
        raise request.error("a skew-symmetric matrix has negative entries", 1)
    if symmetry not in SYMMETRIES:
        raise request.error(f"the symmetry {symmetry[:40]!r} is unknown", 1)
    return layout, field, symmetry != "general"


def _check_room(header: _Header, request: Request) -> None:
    """Refuse more entries than the memory allows; those declared in vain cost none."""
    n, m = header.shape
    in_coordinates = header.n_entries * (48 if header.mirrored else 24)
    what = f"{header.n_entries:,} declared entries"
    request.check_size(8 * n * m if header.layout == "array" else in_coordinates, what, header.line)


def _read_entries(lines: Iterator[str], header: _Header, request: Request) -> dict[str, Array]:
    """What the body holds, by `_Header.columns`; places are counted from 0."""
    whole = np.int32 if max(header.shape) < 2**31 else np.int64
    entries: dict[str, Array] = {
        name: np.empty(header.n_entries, dtype=np.float64 if name == "value" else whole)
        for name in header.columns
    }
    start, number = 0, header.line + 1
    while block := list(islice(lines, LINES_AT_ONCE)):
        columns = _read_block(block, number, header.n_entries - start, header, request)
        end = start + len(columns[0])
        for name, numbers in zip(header.columns, columns, strict=True):
            entries[name][start:end] = numbers - (name != "value")
        start = end
        number += len(block)
    if start < header.n_entries:
        raise request.error(
            f"it ends early: {header.n_entries:,} entries were declared, {start:,} are there"
        )
    return entries


def _read_block(
    block: list[str], number: int, left: int, header: _Header, request: Request
) -> list[Array]:
    """The numbers of some lines, column by column: all usable, no more than are left."""
    kinds = [(name, "i8" if header.is_whole(name) else "f8") for name in header.columns]
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")  # a fraction where an integer belongs only warns
            rows = np.loadtxt(block, dtype=kinds, comments=None, ndmin=1)
        columns = [rows[name] for name in header.columns]
        usable = (_is_usable(rows[name], name, header, request) for name in header.columns)
        if len(rows) <= left and all(usable):
            return columns
    except (ValueError, OverflowError, UserWarning, DeprecationWarning):
        pass
    filled = [(at, line) for at, line in enumerate(block, number) if line.strip()]
    if len(filled) > left:
        why = f"{header.n_entries:,} entries were declared, here is more"
        raise request.error(why, filled[left][0])
    values = [_read_line(line, at, header, request) for at, line in filled]
    return list(np.array(values).reshape(-1, len(header.columns)).T)


def _is_usable(numbers: Array, name: str, header: _Header, request: Request) -> bool:
    if name == "value":
        return not request.find_unusable(numbers).any()
    return bool(((numbers >= 1) & (numbers <= header.shape[name == "column"])).all())


def _read_line(line: str, number: int, header: _Header, request: Request) -> list[float]:
    """The numbers of a line, or the error that says what is wrong with it."""
    cells, columns = line.split(), header.columns
    if len(line) > LONGEST_ENTRY:
        raise request.error(f"it is longer than {LONGEST_ENTRY:,} characters", number)
    if len(cells) != len(columns):
        raise request.error(
            f"an entry has {len(columns)} numbers here, found {len(cells)}: {line[:40]!r}", number
        )
    numbers: list[float] = []
    for name, cell in zip(columns, cells, strict=True):
        whole = header.is_whole(name)
        value = as_number(cell)
        if value is None or (whole and not WHOLE.fullmatch(cell)):
            kind = "whole number" if whole else "number"
            raise request.error(f"the {name} {cell[:40]!r} is no {kind}", number)
        if not _is_usable(np.array(value), name, header, request):
            limits = f"is outside 1 to {header.shape[name == 'column']}"
            unusable = "is not usable: entries must be finite and not negative"
            what = unusable if name == "value" else limits
            raise request.error(f"the {name} {cell[:40]} {what}", number)
        numbers.append(value)
    return numbers


def _as_csr(entries: dict[str, Array], header: _Header) -> csr_array:
    rows, columns = entries["row"], entries["column"]
    values = entries.get("value", np.ones(len(rows)))
    if header.mirrored:
        apart = rows != columns
        rows, columns = np.append(rows, columns[apart]), np.append(columns, rows[apart])
        values = np.append(values, values[apart])
    return coo_array((values, (rows, columns)), shape=header.shape).tocsr()


def _as_array(entries: dict[str, Array], header: _Header) -> Array:
    n, m = header.shape
    values = entries["value"]
    if not header.mirrored:
        return np.ascontiguousarray(values.reshape((n, m), order="F"))
    X = np.empty((n, n))
    # The lower triangle column by column is the upper one row by row.
    rows, columns = np.triu_indices(n)
    X[rows, columns] = X[columns, rows] = values
    return X


def _add_names(X: Any, request: Request) -> NamedMatrix:
    """Names from the files next to a 10x matrix, which is turned so that cells are rows."""
    neighbors = tenx_neighbors(request.path)
    if neighbors is None:
        return request.matrix(X)
    cells, genes = neighbors
    if X.shape == (len(genes), len(cells)):
        turned = np.ascontiguousarray(X.T) if isinstance(X, np.ndarray) else X.T.tocsr()
        return request.matrix(turned, cells, genes)
    if X.shape == (len(cells), len(genes)):
        return request.matrix(X, cells, genes)
    raise request.error(
        f"its shape {X.shape[0]} x {X.shape[1]} does not fit the files next to it: "
        f"{len(cells)} barcodes and {len(genes)} features"
    )
