"""Matrix Market: ``.mtx`` and ``.mtx.gz``, with the names that 10x Genomics puts next to them.

The header is checked here, the entries are read by NumPy, some ten thousand lines at a time. Where
it meets anything else the error names the line.
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
from orthonmf.typing import Array

LONGEST_HEADER = 100_000  # lines of comments
LONGEST_LINE = 2**20  # characters
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
    def columns(self) -> list[tuple[str, str]]:
        """What stands in a line of the body: names and dtypes."""
        places = [("row", "i8"), ("column", "i8")] if self.layout == "coordinate" else []
        return places if self.type == "pattern" else [*places, ("value", "f8")]

    def describe_entry(self) -> str:
        """An entry in words, for messages."""
        n, m = self.shape
        words = {
            "row": f"a row from 1 to {n}",
            "column": f"a column from 1 to {m}",
            "value": f"a {'whole ' * ('integer' in self.type)}number, finite and not negative",
        }
        return ", ".join(words[name] for name, _ in self.columns)


def read_mtx(request: Request) -> NamedMatrix:
    """Read a coordinate file as CSR and an array file as an array, both in float64."""
    try:
        with open_text(request.path, errors="replace") as file:
            lines = iter(lambda: file.readline(LONGEST_LINE), "")
            header = _read_header(lines, request)
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
        # Refused before memory is taken; entries that are declared in vain cost none.
        n_bytes = 8 * n * m if layout == "array" else n_entries * (48 if mirrored else 24)
        request.check_size(n_bytes, f"{n_entries:,} declared entries", number)
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


def _read_entries(lines: Iterator[str], header: _Header, request: Request) -> dict[str, Array]:
    """What the body holds, by `_Header.columns`; places are counted from 0."""
    whole = np.int32 if max(header.shape) < 2**31 else np.int64
    entries: dict[str, Array] = {
        name: np.empty(header.n_entries, dtype=np.float64 if name == "value" else whole)
        for name, _ in header.columns
    }
    start, number = 0, header.line + 1
    while block := list(islice(lines, LINES_AT_ONCE)):
        rows = _read_block(block, number, header.n_entries - start, header, request)
        for name, values in entries.items():
            values[start : start + len(rows)] = rows[name] - (name != "value")
        start += len(rows)
        number += len(block)
    if start < header.n_entries:
        raise request.error(
            f"it ends early: {header.n_entries:,} entries were declared, {start:,} are there"
        )
    return entries


def _read_block(
    block: list[str], number: int, left: int, header: _Header, request: Request
) -> Array:
    """The entries of some lines, all usable and no more than are left, as a structured array."""
    rows = _parse(block, header, request)
    if rows is not None and len(rows) <= left:
        return rows
    filled = [(at, line) for at, line in enumerate(block, number) if line.strip()]
    if len(filled) > left:
        why = f"{header.n_entries:,} entries were declared, here is more"
        raise request.error(why, filled[left][0])
    if not filled:
        return np.empty(0, header.columns)
    while len(filled) > 1:  # towards the first line that cannot be read
        first_half = filled[: len(filled) // 2]
        bad = _parse([line for _, line in first_half], header, request) is None
        filled = first_half if bad else filled[len(first_half) :]
    at, line = filled[0]
    raise request.error(
        f"{line.strip()[:60]!r} is no entry, which has here: {header.describe_entry()}", at
    )


def _parse(lines: list[str], header: _Header, request: Request) -> Array | None:
    """The entries of some lines; None where one is no entry that can be used."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")  # NumPy only warns of a fraction for a whole number
            rows = np.loadtxt(lines, dtype=header.columns, comments=None, ndmin=1)
    except (ValueError, OverflowError, UserWarning, DeprecationWarning):
        return None
    sizes = dict(zip(("row", "column"), header.shape, strict=True))
    for name, _ in header.columns:
        values = rows[name]
        if name != "value":
            usable = (values >= 1) & (values <= sizes[name])
        else:
            usable = ~request.find_unusable(values)
            if "integer" in header.type:
                usable &= values == np.rint(values)
        if not usable.all():
            return None
    return np.asarray(rows)


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
