"""Matrix Market: ``.mtx`` and ``.mtx.gz``, with the names that 10x Genomics puts next to them.

SciPy reads the header, NumPy the entries, many lines at a time. Where it meets anything else the
error names the line. (SciPy's reader of entries dies of a file that is cut, and reads zeros where a
line makes no sense.)
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from io import BytesIO
from typing import Any

import numpy as np
from scipy.io import mminfo
from scipy.sparse import coo_array, csr_array

from orthonmf.files.readers.names import tenx_neighbors
from orthonmf.files.readers.opening import line_blocks, open_lines
from orthonmf.files.readers.request import NamedMatrix, Request
from orthonmf.typing import Array

Blocks = Iterator[tuple[int, list[str]]]  # lines, with the number of the first
TYPES = ("real", "double", "integer", "unsigned-integer", "pattern")


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


def read_mtx(request: Request) -> NamedMatrix:
    """Read a coordinate file as CSR and an array file as an array, both in float64."""
    with open_lines(request, errors="replace") as lines:  # of comments
        header = _read_header(lines, request)
        entries = _read_entries(line_blocks(lines, request, header.line + 1), header, request)
    X = _as_csr(entries, header) if header.layout == "coordinate" else _as_array(entries, header)
    return _add_names(X, request)


def _read_header(lines: Iterator[str], request: Request) -> _Header:
    """What SciPy reads in the first lines, refused before memory is taken for the entries."""
    title = next(lines, "")
    numbered = enumerate(lines, start=2)
    body = ((at, line) for at, line in numbered if line.strip() and not line.startswith("%"))
    number, sizes = next(body, (1, ""))
    with request.decoding("the header cannot be read"):
        # A line that does not end would crash SciPy's reader.
        content = BytesIO(f"{title.rstrip()}\n{sizes.rstrip()}\n".encode())
        n, m, n_entries, layout, kind, symmetry = mminfo(content)
    if kind not in TYPES or (kind == "pattern" and layout == "array"):
        raise request.error(f"it holds {kind} numbers; real ones are needed", 1)
    if symmetry == "skew-symmetric":
        raise request.error("a skew-symmetric matrix has negative entries", 1)
    n, m = request.check_shape((n, m), number)
    mirrored = symmetry != "general"
    if mirrored and n != m:
        raise request.error(f"a symmetric matrix is square, this one is {n} x {m}", number)
    if mirrored and layout == "array":
        n_entries = n * (n + 1) // 2
    # Entries that are declared in vain cost no memory.
    n_bytes = 8 * n * m if layout == "array" else n_entries * (48 if mirrored else 24)
    request.check_size(n_bytes, f"{n_entries:,} declared entries", number)
    return _Header(layout, kind, mirrored, (n, m), n_entries, number)


def _read_entries(blocks: Blocks, header: _Header, request: Request) -> dict[str, Array]:
    """What the body holds, by `_Header.columns`; places are counted from 0."""
    whole = np.int32 if max(header.shape) < 2**31 else np.int64
    entries: dict[str, Array] = {
        name: np.empty(header.n_entries, dtype=np.float64 if name == "value" else whole)
        for name, _ in header.columns
    }
    start = 0
    for number, block in blocks:
        rows = _read_block(block, number, header, request)
        stop = start + len(rows)
        if stop > header.n_entries:
            filled = [at for at, line in enumerate(block, number) if line.strip()]
            more = f"{header.n_entries:,} entries were declared, here is more"
            raise request.error(more, filled[header.n_entries - start])
        for name, values in entries.items():
            values[start:stop] = rows[name] - (name != "value")
        start = stop
    if start < header.n_entries:
        raise request.error(
            f"it ends early: {header.n_entries:,} entries were declared, {start:,} are there"
        )
    return entries


def _read_block(block: list[str], number: int, header: _Header, request: Request) -> Array:
    """The entries of some lines, all usable, as a structured array."""
    try:
        return _parse(block, header, request)
    except ValueError as error:
        if len(block) == 1:
            names, (n, m) = ", ".join(name for name, _ in header.columns), header.shape
            why = (
                f"{block[0].strip()[:60]!r} is no entry, which has here: {names}, counted from 1, "
                f"of a {n} x {m} matrix of {header.type} numbers that are finite and not negative"
            )
            raise request.error(why, number) from error
    half = len(block) // 2  # the first half that fails has the line that is to blame
    halves = (block[:half], number), (block[half:], number + half)
    return np.concatenate([_read_block(*lines, header, request) for lines in halves])


def _parse(lines: list[str], header: _Header, request: Request) -> Array:
    """The entries of some lines; a ValueError where one cannot be used."""
    if not any(map(str.strip, lines)):
        return np.empty(0, header.columns)
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # NumPy only warns of a fraction for a whole number
        try:
            entries = np.loadtxt(lines, dtype=header.columns, comments=None, ndmin=1)
        except (OverflowError, UserWarning, DeprecationWarning) as error:
            raise ValueError(str(error)) from error
    usable = np.ones(len(entries), dtype=bool)
    if header.layout == "coordinate":
        for name, size in zip(("row", "column"), header.shape, strict=True):
            usable &= (entries[name] >= 1) & (entries[name] <= size)
    if header.type != "pattern":
        usable &= ~request.find_unusable(entries["value"])
    if "integer" in header.type:
        usable &= entries["value"] == np.rint(entries["value"])
    if not usable.all():
        raise ValueError("an entry cannot be used")
    return np.asarray(entries)


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
