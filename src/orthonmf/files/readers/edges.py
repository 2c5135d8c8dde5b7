"""Lists of edges: two names per line, and a weight if there is a third cell."""

from __future__ import annotations

import csv
import re
from collections import Counter
from collections.abc import Iterator
from itertools import chain, islice
from typing import Any

import numpy as np

from orthonmf.correlation_clustering.graph import matrix_of
from orthonmf.files.readers.names import unshield
from orthonmf.files.readers.packed import open_lines
from orthonmf.files.readers.record import NamedMatrix, Request
from orthonmf.files.readers.text import LOOK_AHEAD, Line, as_number

COMMENTS = ("#", "%")
DELIMITERS = "\t;,"
BYTES_PER_EDGE = 200
# So many lines below a first one tell whether it is one of them.
FEWEST_TO_TELL = 3
TAKEN = "first line taken as header; --no-header to keep it"
Places = dict[tuple[int, int], float]


def read_edges(request: Request) -> NamedMatrix:
    """A bipartite graph as a CSR array: the first name of a line is a row, the second a column.

    Names stand in the order in which they first appear; an edge listed twice is one edge, with
    the larger weight. The sides are apart: the same name left and right is two vertices. A first
    line that names the columns is left out, and a note says so.
    """
    places: Places = {}
    left: dict[str, int] = {}
    right: dict[str, int] = {}
    with open_lines(request) as lines:
        rows = _cells(lines, request)
        ahead = list(islice(rows, LOOK_AHEAD))
        skipped = _has_header(ahead) if request.header is None else request.header
        first = ahead[0][1] if ahead else []
        for number, cells in chain(ahead[int(skipped) :], rows):
            row = left.setdefault(unshield(cells[0]), len(left))
            column = right.setdefault(unshield(cells[1]), len(right))
            weight = _weight(cells, number, request)
            places[row, column] = max(weight, places.get((row, column), 0.0))
            if not number % 65536:
                request.check_size(BYTES_PER_EDGE * len(places), "the list of edges so far")
    if not places:
        raise request.error("the list of edges is empty")
    edges = matrix_of(places, places.values(), (len(left), len(right)))
    row_names, column_names = tuple(left), tuple(right)
    if request.header is None and not skipped and _stands_apart(first, places):
        edges, row_names, column_names = edges[1:, 1:], row_names[1:], column_names[1:]
        skipped = True
    notes = (TAKEN,) if skipped and request.header is None else ()
    return request.matrix(edges, row_names, column_names, notes=notes)


def _cells(text: Iterator[str], request: Request) -> Iterator[Line]:
    """Lines split at tabs, semicolons or commas if the first has them, at blanks otherwise."""
    numbered = enumerate(text, start=1)
    telling = (one for one in numbered if one[1].strip() and not one[1].startswith(COMMENTS))
    number, first = next(telling, (0, ""))
    delimiter = next((one for one in DELIMITERS if one in first), None)
    lines = chain([first], text)
    rows: Any = csv.reader(lines, delimiter=delimiter) if delimiter else map(str.split, lines)
    for line, cells in enumerate(rows, start=number):
        cells = [cell.strip() for cell in cells]
        if not any(cells) or cells[0].startswith(COMMENTS):
            continue
        if len(cells) not in (2, 3) or not cells[0] or not cells[1]:
            raise request.error(
                f"an edge is two names and maybe a weight, found {len(cells)} cells; keep those, "
                "for instance with cut -d, -f1-3",
                line,
            )
        yield line, cells


def _has_header(ahead: list[Line]) -> bool:
    """Whether a cell of the first line is no number where all below it are, as in tables."""
    if not ahead:
        return False
    (_, first), below = ahead[0], [cells for _, cells in ahead[1:]]
    if len(first) == 3 and as_number(first[2]) is None:
        return True
    return bool(below) and any(
        as_number(cell) is None
        and all(len(cells) > place and as_number(cells[place]) is not None for cells in below)
        for place, cell in enumerate(first)
    )


def _stands_apart(first: list[str], places: Places) -> bool:
    """Whether the first line, two words, is the only one that shares no name with another.

    The names of columns join nothing; an edge between two vertices that have no other is as
    lonely, so where there are more of them nothing follows.
    """
    if len(first) != 2 or len(places) <= FEWEST_TO_TELL or re.search(r"\d", "".join(first)):
        return False
    rows, columns = (Counter(one) for one in zip(*places, strict=True))
    alone = [edge for edge in places if rows[edge[0]] == columns[edge[1]] == 1]
    return alone == [(0, 0)]


def _weight(cells: list[str], line: int, request: Request) -> float:
    if len(cells) == 2:
        return 1.0
    weight = as_number(cells[2])
    if weight is None or not (np.isfinite(weight) and weight >= 0):
        raise request.error(f"the weight {cells[2][:40]!r} must be finite and not negative", line)
    return weight
