"""Lists of edges: two names per line, and a weight if there is a third cell."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from itertools import chain
from typing import Any

import numpy as np
from scipy.sparse import coo_array

from orthant.datasets.readers.names import unshield
from orthant.datasets.readers.packed import open_lines
from orthant.datasets.readers.record import NamedMatrix, Request
from orthant.datasets.readers.text import as_number

COMMENTS = ("#", "%")
BYTES_PER_EDGE = 200


def read_edges(request: Request) -> NamedMatrix:
    """A bipartite graph as a CSR array: the first name of a line is a row, the second a column.

    Names stand in the order in which they first appear; an edge listed twice is one edge, with
    the larger weight. The sides are apart: the same name left and right is two vertices.
    """
    places: dict[tuple[int, int], float] = {}
    left: dict[str, int] = {}
    right: dict[str, int] = {}
    with open_lines(request) as lines:
        for number, cells in _cells(lines, request):
            row = left.setdefault(unshield(cells[0]), len(left))
            column = right.setdefault(unshield(cells[1]), len(right))
            weight = _weight(cells, number, request)
            places[row, column] = max(weight, places.get((row, column), 0.0))
            if not number % 65536:
                request.check_size(BYTES_PER_EDGE * len(places), "the list of edges so far")
    if not places:
        raise request.error("the list of edges is empty")
    numbers = np.array(list(places), dtype=np.int64).T
    weights = np.fromiter(places.values(), dtype=np.float64, count=len(places))
    edges = coo_array((weights, tuple(numbers)), shape=(len(left), len(right))).tocsr()
    return request.matrix(edges, tuple(left), tuple(right))


def _cells(text: Iterator[str], request: Request) -> Iterator[tuple[int, list[str]]]:
    """Lines split at tabs, commas or semicolons if the first has them, at blanks otherwise."""
    numbered = enumerate(text, start=1)
    telling = (one for one in numbered if one[1].strip() and not one[1].startswith(COMMENTS))
    number, first = next(telling, (0, ""))
    delimiter = next((one for one in "\t,;" if one in first), None)
    lines = chain([first], text)
    rows: Any = csv.reader(lines, delimiter=delimiter) if delimiter else map(str.split, lines)
    header = request.header
    for line, cells in enumerate(rows, start=number):
        cells = [cell.strip() for cell in cells]
        if not any(cells) or cells[0].startswith(COMMENTS):
            continue
        if header or (header is None and line == number and _names_columns(cells)):
            header = False
            continue
        header = False if header is None else header
        if len(cells) not in (2, 3) or not cells[0] or not cells[1]:
            raise request.error(
                f"an edge is two names and maybe a weight, found {len(cells)} cells", line
            )
        yield line, cells


def _names_columns(cells: list[str]) -> bool:
    """Whether a first line is a header: three cells of which the last is no number."""
    return len(cells) == 3 and as_number(cells[2]) is None


def _weight(cells: list[str], line: int, request: Request) -> float:
    if len(cells) == 2:
        return 1.0
    weight = as_number(cells[2])
    if weight is None or not (np.isfinite(weight) and weight >= 0):
        raise request.error(f"the weight {cells[2][:40]!r} must be finite and not negative", line)
    return weight
