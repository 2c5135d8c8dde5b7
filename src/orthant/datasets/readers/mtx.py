"""Matrix Market: ``.mtx`` and ``.mtx.gz``, with the names that 10x Genomics puts beside them."""

from __future__ import annotations

import gzip
import re
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.io import mmread
from scipy.sparse import csr_array

from orthant.datasets.readers.names import tenx_neighbours
from orthant.datasets.readers.packed import is_packed, open_text
from orthant.datasets.readers.record import FileError, NamedMatrix, Request

SHORTEST_ENTRY = 4  # "1 1\n"
SHORTEST_NUMBER = 2  # "1\n"
MOST_PACKED = 1032  # gzip cannot do better than this ratio
LONGEST_HEADER = 100_000  # lines of comments


@dataclass(frozen=True, slots=True)
class _Header:
    layout: str
    field: str
    shape: tuple[int, int]
    n_entries: int
    n_lines: int


def read_mtx(request: Request) -> NamedMatrix:
    """Read a coordinate file as CSR and an array file as an array."""
    try:
        header = _header(request)
        _check_room(header, request)
        X = _entries(request)
    except (ValueError, OverflowError, EOFError, UnicodeDecodeError, zlib.error) as error:
        if isinstance(error, FileError):
            raise
        raise _with_line(error, request) from error
    except OSError as error:
        if not isinstance(error, gzip.BadGzipFile):
            raise
        raise request.error(f"the packed file is damaged: {error}") from error
    values = X if header.layout == "array" else X.data
    bad = ~np.isfinite(values) | (values < 0)
    if request.allow_missing:
        bad &= ~np.isnan(values)
    if bad.any():
        raise _offence(request)
    X = np.ascontiguousarray(X) if header.layout == "array" else csr_array(X)
    return _named(X, request)


def _entries(request: Request) -> Any:
    if not is_packed(request.path):
        return mmread(str(request.path))
    with gzip.open(request.path) as file:
        return mmread(file)


def _header(request: Request) -> _Header:
    """The banner and the line of sizes; everything is checked that does not need the entries."""
    lines = _lines(request)
    banner = next(lines, (0, ""))[1].lower().split()
    if len(banner) < 4 or not banner[0].startswith("%%matrixmarket"):
        raise request.error("it does not begin with %%MatrixMarket", 1)
    layout, field = banner[2], banner[3]
    if layout not in ("coordinate", "array"):
        raise request.error(f"the layout {layout!r} is unknown", 1)
    if field not in ("real", "double", "integer", "unsigned-integer", "pattern"):
        raise request.error(f"it holds {field} numbers; real ones are needed", 1)
    for number, line in lines:
        if line.startswith("%") or not line.strip():
            if number > LONGEST_HEADER:
                break
            continue
        sizes = line.split()
        if len(sizes) != (3 if layout == "coordinate" else 2) or not all(
            re.fullmatch(r"-?\d+", one) for one in sizes
        ):
            raise request.error(f"a line of sizes was expected, found {line[:60]!r}", number)
        counts = [int(one) for one in sizes]
        if min(counts) < 0 or max(counts) >= 2**63:
            raise request.error(f"the sizes {' '.join(sizes)} make no sense", number)
        shape = request.check_shape((counts[0], counts[1]), number)
        n_entries = counts[2] if layout == "coordinate" else counts[0] * counts[1]
        return _Header(layout, field, shape, n_entries, number)
    raise request.error("it ends before the line of sizes")


def _check_room(header: _Header, request: Request) -> None:
    """Refuse more entries than the memory allows or than the file can hold."""
    each = 8 if header.layout == "array" else 16
    what = f"{header.n_entries:,} declared entries"
    request.check_size(header.n_entries * each, what, header.n_lines)
    held = request.path.stat().st_size * (MOST_PACKED if is_packed(request.path) else 1)
    shortest = SHORTEST_NUMBER if header.layout == "array" else SHORTEST_ENTRY
    if (header.n_entries - 1) * shortest > held:
        raise request.error(f"the file is too short for the {what}", header.n_lines)


def _lines(request: Request) -> Iterator[tuple[int, str]]:
    with open_text(request.path, errors="replace") as file:
        yield from enumerate(iter(lambda: file.readline(1_000_000), ""), start=1)


def _with_line(error: Exception, request: Request) -> Exception:
    found = re.match(r"Line (\d+): (.*)", str(error), re.DOTALL)
    if found:
        return request.error(found[2], int(found[1]))
    return request.error(str(error) or "it ends early")


def _offence(request: Request) -> Exception:
    """The error for the first entry that is negative, infinite or NaN, with its line."""
    sizes_seen = False
    for number, line in _lines(request):
        fields = line.split()
        if not fields or line.startswith("%"):
            continue
        if not sizes_seen:
            sizes_seen = True
            continue
        value = float(fields[-1])
        if not (np.isfinite(value) and value >= 0):
            return request.error(
                f"the value {fields[-1]} is not usable: entries must be finite and not negative",
                number,
            )
    return request.error("an entry is negative or not finite (by symmetry)")


def _named(X: Any, request: Request) -> NamedMatrix:
    """Names from the files beside a 10x matrix, which is turned so that cells are rows."""
    neighbours = tenx_neighbours(request.path)
    if neighbours is None:
        return request.matrix(X)
    cells, genes = neighbours
    if X.shape == (len(genes), len(cells)):
        turned = np.ascontiguousarray(X.T) if isinstance(X, np.ndarray) else X.T.tocsr()
        return request.matrix(turned, cells, genes)
    if X.shape == (len(cells), len(genes)):
        return request.matrix(X, cells, genes)
    raise request.error(
        f"its shape {X.shape[0]} x {X.shape[1]} does not fit the files beside it: "
        f"{len(cells)} barcodes and {len(genes)} features"
    )
