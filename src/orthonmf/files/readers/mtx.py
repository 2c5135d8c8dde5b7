"""Matrix Market: ``.mtx`` and ``.mtx.gz``, with the names that 10x Genomics puts next to them.

The entries are read by NumPy, some ten thousand lines at a time, so that no text can do harm and no
more memory is taken than the entries need; a line that cannot be read is named.
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
from orthonmf.files.readers.opening import DAMAGED_TEXT, is_packed, open_text
from orthonmf.files.readers.record import NamedMatrix, Request
from orthonmf.numerics.arrays import Array

SHORTEST_ENTRY = 4  # "1 1\n"
SHORTEST_NUMBER = 2  # "1\n"
MOST_PACKED = 1032  # gzip cannot do better than this ratio
LONGEST_HEADER = 100_000  # lines of comments
LONGEST_COMMENT, LONGEST_ENTRY = 2**20, 2**10  # characters; the format allows 1024
LINES_AT_ONCE = 2**15
TYPES = {"real": "f8", "double": "f8", "integer": "i8", "unsigned-integer": "u8", "pattern": None}
SYMMETRIES = ("general", "symmetric", "hermitian")


@dataclass(frozen=True, slots=True)
class _Lines:
    """Lines that hold something, among those that were read from line ``first`` on."""

    texts: list[str]
    first: int
    read: list[str]

    def number(self, place: int) -> int:
        """The number of a line in the file."""
        filled = (number for number, line in enumerate(self.read, self.first) if not line.isspace())
        return next(islice(filled, place, None))


@dataclass(frozen=True, slots=True)
class _Header:
    """What the first lines declare."""

    layout: str
    type: str | None  # of the values; None where there are only places
    mirrored: bool
    shape: tuple[int, int]
    n_entries: int
    line: int  # of the sizes

    @property
    def columns(self) -> list[tuple[str, str]]:
        """What stands in a line of the body."""
        places = [("row", "i8"), ("column", "i8")] if self.layout == "coordinate" else []
        return [*places, *([] if self.type is None else [("value", self.type)])]


def read_mtx(request: Request) -> NamedMatrix:
    """Read a coordinate file as CSR and an array file as an array."""
    try:
        with open_text(request.path, errors="replace") as file:
            lines = iter(lambda: file.readline(LONGEST_COMMENT), "")
            header = _read_header(lines, request)
            _check_room(header, request)
            read = _read_coordinates if header.layout == "coordinate" else _read_dense
            X: Any = read(lines, header, request)
    except DAMAGED_TEXT as error:
        raise request.error(f"the packed file is damaged: {error}") from error
    return _add_names(X, request)


def _read_header(lines: Iterator[str], request: Request) -> _Header:
    """The banner and the line of sizes; everything is checked that does not need the entries."""
    layout, kind, mirrored = _read_banner(next(lines, ""), request)
    for number, line in enumerate(lines, start=2):
        if line.startswith("%") or not line.strip():
            if number > LONGEST_HEADER:
                break
            continue
        sizes = line.split()
        if len(sizes) != (3 if layout == "coordinate" else 2) or not all(
            re.fullmatch(r"-?\d+", one, re.ASCII) for one in sizes
        ):
            raise request.error(f"a line of sizes was expected, found {line[:60]!r}", number)
        if any(one.startswith("-") or len(one) > 18 for one in sizes):
            raise request.error(f"the sizes {' '.join(sizes)[:80]} make no sense", number)
        counts = [int(one) for one in sizes]
        n, m = request.check_shape((counts[0], counts[1]), number)
        if mirrored and n != m:
            raise request.error(f"a symmetric matrix is square, this one is {n} x {m}", number)
        in_array = n * (n + 1) // 2 if mirrored else n * m
        n_entries = counts[2] if layout == "coordinate" else in_array
        return _Header(layout, kind, mirrored, (n, m), n_entries, number)
    raise request.error("it ends before the line of sizes")


def _read_banner(line: str, request: Request) -> tuple[str, str | None, bool]:
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
    return layout, TYPES[field], symmetry != "general"


def _check_room(header: _Header, request: Request) -> None:
    """Refuse more entries than the memory allows or than the file can hold."""
    n, m = header.shape
    in_coordinates = header.n_entries * (48 if header.mirrored else 24)
    what = f"{header.n_entries:,} declared entries"
    request.check_size(8 * n * m if header.layout == "array" else in_coordinates, what, header.line)
    held = request.path.stat().st_size * (MOST_PACKED if is_packed(request.path) else 1)
    shortest = SHORTEST_NUMBER if header.layout == "array" else SHORTEST_ENTRY
    if (header.n_entries - 1) * shortest > held:
        raise request.error(f"the file is too short for the {what}", header.line)


def _read_coordinates(lines: Iterator[str], header: _Header, request: Request) -> csr_array:
    n, m = header.shape
    places = np.empty((2, header.n_entries), dtype=np.int32 if max(n, m) < 2**31 else np.int64)
    values = np.ones(header.n_entries, dtype=header.type or np.float64)
    for start, block, filled in _read_blocks(lines, header, request):
        here = slice(start, start + len(block))
        for axis, (name, size) in enumerate((("row", n), ("column", m))):
            found = block[name]
            bad = (found < 1) | (found > size)
            if bad.any():
                first = int(bad.argmax())
                raise request.error(
                    f"the {name} {found[first]} is outside 1 to {size}", filled.number(first)
                )
            places[axis, here] = found - 1
        if header.type is not None:
            values[here] = block["value"]
    if header.mirrored:
        apart = places[0] != places[1]
        places = np.concatenate((places, places[::-1, apart]), axis=1)
        values = np.concatenate((values, values[apart]))
    return coo_array((values, tuple(places)), shape=header.shape).tocsr()


def _read_dense(lines: Iterator[str], header: _Header, request: Request) -> Array:
    values = np.empty(header.n_entries, dtype=header.type)
    for start, block, _ in _read_blocks(lines, header, request):
        values[start : start + len(block)] = block["value"]
    n, m = header.shape
    if not header.mirrored:
        return np.ascontiguousarray(values.reshape((n, m), order="F"))
    X = np.empty((n, n), dtype=values.dtype)
    # The lower triangle column by column is the upper one row by row.
    rows, columns = np.triu_indices(n)
    X[rows, columns] = X[columns, rows] = values
    return X


def _read_blocks(
    lines: Iterator[str], header: _Header, request: Request
) -> Iterator[tuple[int, Array, _Lines]]:
    """Where a block of entries starts, the block, and the lines that it stands in."""
    start, number = 0, header.line + 1
    while listed := list(islice(lines, LINES_AT_ONCE)):
        filled = _Lines([line for line in listed if not line.isspace()], number, listed)
        if start + len(filled.texts) > header.n_entries:
            extra = filled.number(header.n_entries - start)
            raise request.error(f"{header.n_entries:,} entries were declared, here is more", extra)
        if filled.texts:
            block = _parse(filled, header, request)
            if header.type is not None:
                _check_values(block["value"], filled, request)
            yield start, block, filled
        start += len(filled.texts)
        number += len(listed)
    if start < header.n_entries:
        raise request.error(
            f"it ends early: {header.n_entries:,} entries were declared, {start:,} are there"
        )


def _parse(filled: _Lines, header: _Header, request: Request) -> Array:
    dtype = np.dtype(header.columns)
    if max(map(len, filled.texts)) <= LONGEST_ENTRY:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("error")  # a fraction where an integer belongs only warns
                return np.loadtxt(filled.texts, dtype=dtype, comments=None, ndmin=1)
        except (ValueError, OverflowError, DeprecationWarning):
            pass
    for place, text in enumerate(filled.texts):
        why = _why_unreadable(text, header)
        if why is not None:
            raise request.error(why, filled.number(place))
    raise request.error("the entries cannot be read", filled.number(0))


def _why_unreadable(text: str, header: _Header) -> str | None:
    """What is wrong with a line of the body; None if nothing is."""
    columns, cells = header.columns, text.split()
    if len(text) > LONGEST_ENTRY:
        return f"it is longer than {LONGEST_ENTRY:,} characters"
    if len(cells) != len(columns):
        return f"an entry has {len(columns)} numbers here, found {len(cells)}: {text[:40]!r}"
    for cell, (name, kind) in zip(cells, columns, strict=True):
        try:
            np.loadtxt([cell], dtype=kind, comments=None)
        except (ValueError, OverflowError, DeprecationWarning):
            return f"the {name} {cell[:40]!r} is no {'number' if kind == 'f8' else 'whole number'}"
    return None


def _check_values(values: Array, filled: _Lines, request: Request) -> None:
    bad = request.find_unusable(values)
    if bad.any():
        first = int(bad.argmax())
        value = filled.texts[first].split()[-1]
        raise request.error(
            f"the value {value} is not usable: entries must be finite and not negative",
            filled.number(first),
        )


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
