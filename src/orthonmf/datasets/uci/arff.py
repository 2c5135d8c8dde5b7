"""Dense ``.arff`` with numeric attributes and a nominal class at the end."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array

from orthonmf.datasets.uci.lines import number_lines, parse_lines, parse_numbers
from orthonmf.datasets.uci.record import Content, Shape
from orthonmf.files.readers.record import Request
from orthonmf.numerics.arrays import Array

# Names are read from the right, by their type: those of word sets hold quotes and brackets.
NUMERIC = re.compile(r"@attribute\s+(.+?)\s+(?:numeric|real|integer)", re.IGNORECASE)
NOMINAL = re.compile(r"@attribute\s+(.+?)\s*\{(.*)\}", re.IGNORECASE)
QUOTED = re.compile(r"'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"")
CLASS = re.compile(rf"\s*({QUOTED.pattern}|[^,]*)(?:,|$)")
COMMENT = re.compile(r"%|\s*$")
Lines = Iterator[tuple[int, str]]


@dataclass(frozen=True, slots=True)
class _Header:
    names: tuple[str, ...]
    classes: frozenset[str]
    n_lines: int


def read_arff(request: Request, shape: Shape) -> Content:
    """Values as CSR, classes numbered in the order in which they appear, names of attributes."""
    n, m = shape
    lines = ((line, text) for line, text in number_lines(request) if not COMMENT.match(text))
    header = _read_header(lines, request, m)
    codes: dict[str, int] = {}

    def parse(text: str, line: int) -> tuple[Array, Array, int]:
        values, name = _parse_row(text.strip(), header, request, line)
        held = np.flatnonzero(values)
        return values[held], held, codes.setdefault(name, len(codes))

    rows = parse_lines(lines, n, request, parse, header.n_lines)
    data, columns, labels = zip(*rows, strict=True)
    starts = np.concatenate([[0], np.cumsum([len(held) for held in columns])])
    X = csr_array((np.concatenate(data), np.concatenate(columns), starts), shape=shape)
    return Content(X, np.array(labels), header.names)


def _read_header(lines: Lines, request: Request, n_numeric: int) -> _Header:
    """Everything down to ``@data``: the numeric attributes, then the class."""
    names: list[str] = []
    classes: frozenset[str] | None = None
    line = 0
    for line, text in lines:
        text = text.strip()
        keyword = text.split(maxsplit=1)[0].lower()
        if keyword == "@relation":
            continue
        if keyword == "@data":
            break
        if classes is not None:
            raise request.error("@data was expected after the class", line)
        if found := NUMERIC.fullmatch(text):
            names.append(_unquote(found[1]))
        elif found := NOMINAL.fullmatch(text):
            classes = frozenset(_unquote(one[1]) for one in CLASS.finditer(found[2]) if one[1])
        else:
            raise request.error(f"this is no numeric or nominal attribute: {text[:60]!r}", line)
    else:
        raise request.error("the file ends here, before @data", line)
    if classes is None:
        raise request.error("there is no nominal class before @data", line)
    if len(names) != n_numeric:
        raise request.error(
            f"there are {len(names)} numeric attributes instead of {n_numeric}", line
        )
    return _Header(tuple(names), classes, line)


def _parse_row(text: str, header: _Header, request: Request, line: int) -> tuple[Array, str]:
    """The numbers of a row and its class."""
    if text.startswith("{"):
        raise request.error("this is a row of a sparse .arff; a dense one is needed", line)
    # The class is what is left after the numbers: its name may hold a comma.
    fields = text.split(",", len(header.names))
    name = _unquote(fields.pop()) if len(fields) > len(header.names) else ""
    values = parse_numbers(fields, len(header.names), request, line)
    if not name:
        raise request.error("there is no class after the values", line)
    if name not in header.classes:
        raise request.error(f"the class {name[:40]!r} is not among the declared ones", line)
    return values, name


def _unquote(text: str) -> str:
    text = text.strip()
    if QUOTED.fullmatch(text):
        return re.sub(r"\\(.)", r"\1", text[1:-1])
    return text
