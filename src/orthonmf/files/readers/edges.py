"""Lists of edges: a row, a column and maybe a weight per line, found by place or by name."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator
from itertools import chain, islice

import numpy as np
from scipy.sparse import coo_array

from orthonmf.files.readers.opening import open_lines
from orthonmf.files.readers.request import NamedMatrix, Request
from orthonmf.files.readers.text import LOOK_AHEAD, Line, as_number, split_lines, unshield
from orthonmf.inputs.parameters import name_nearest

COMMENTS = ("#", "%")
DELIMITERS = "\t;,"
BYTES_PER_EDGE = 200
# So many lines below a first one tell whether it is one of them.
FEWEST_TO_TELL = 3
TAKEN = "first line taken as header; --no-header to keep it"
Weights = dict[tuple[int, int], float]  # by row and column


def read_edges(request: Request) -> NamedMatrix:
    """A bipartite graph as a CSR array: the first name of a line is a row, the second a column.

    Names stand in the order in which they first appear; an edge listed twice is one edge, with
    the larger weight. The sides are apart: the same name left and right is two vertices. A first
    line that names the columns is left out, and a note says so.
    """
    weights: Weights = {}
    left: dict[str, int] = {}
    right: dict[str, int] = {}
    with open_lines(request) as lines:
        rows = _cells(lines, request)
        ahead = list(islice(rows, LOOK_AHEAD))
        if not ahead:
            raise request.error("the list of edges is empty")
        has_header = _has_header(ahead, request) if request.header is None else request.header
        places = _find_columns(ahead[0], has_header, request)
        for number, cells in chain(ahead[int(has_header) :], rows):
            row, column, weight = _edge(cells, places, len(ahead[0][1]), number, request)
            edge = left.setdefault(row, len(left)), right.setdefault(column, len(right))
            weights[edge] = max(weight, weights.get(edge, 0.0))
            if not number % 65536:
                request.check_size(BYTES_PER_EDGE * len(weights), "the list of edges so far")
    if not weights:
        raise request.error("the list of edges is empty")
    numbers = np.array(list(weights), dtype=np.int64).T
    shape = (len(left), len(right))
    X = coo_array((np.array(list(weights.values())), tuple(numbers)), shape=shape).tocsr()
    row_names, column_names = tuple(left), tuple(right)
    if request.header is None and not has_header and _stands_apart(ahead[0][1], weights):
        X, row_names, column_names = X[1:, 1:], row_names[1:], column_names[1:]
        has_header = True
    said = request.header is not None or request.columns is not None
    notes = (TAKEN,) if has_header and not said else ()
    return request.matrix(X, row_names, column_names, notes=notes, chosen=True)


def _cells(lines: Iterator[str], request: Request) -> Iterator[Line]:
    """Lines split at tabs, semicolons or commas if the first has them, at blanks otherwise."""
    numbered = (
        (number, line)
        for number, line in enumerate(lines, start=1)
        if line.strip() and not line.lstrip().startswith(COMMENTS)
    )
    begins, first = next(numbered, (0, ""))
    if not first:
        return
    delimiter = next((character for character in DELIMITERS if character in first), None)
    if delimiter is None:
        yield from ((number, line.split()) for number, line in chain([(begins, first)], numbered))
        return
    for number, cells in split_lines(chain([first], lines), begins, delimiter, request):
        if not cells[0].lstrip().startswith(COMMENTS):
            yield number, [cell.strip() for cell in cells]


def _find_columns(first: Line, has_header: bool, request: Request) -> list[int]:
    """The places of rows, columns and weights: the first ones, or those that were named."""
    number, header = first
    labels = header if has_header else [str(place) for place in range(len(header))]
    chosen = request.columns or labels
    for name in chosen:
        if name not in labels:
            raise request.error(f"there is no column {name!r}{name_nearest(name, labels)}", number)
    places = [labels.index(name) for name in chosen if name not in request.drop]
    if len(places) not in (2, 3):
        raise request.error(
            f"an edge is two names and maybe a weight, found {len(places)} cells",
            number,
            f"say which they are: --columns ROW,COLUMN,WEIGHT, of {', '.join(labels[:12])}",
        )
    return places


def _edge(
    cells: list[str], places: list[int], width: int, number: int, request: Request
) -> tuple[str, str, float]:
    """The names of row and column, and the weight, which is 1 where none is written."""
    chosen = [cells[place] for place in places if place < len(cells)]
    # Without a choice of columns a weight may be left out, or be there in some lines alone.
    fits = len(cells) in (2, 3) if request.columns is None and width < 4 else len(cells) == width
    if not fits or len(chosen) < 2 or not all(chosen[:2]):
        raise request.error(
            f"an edge is two names and maybe a weight, found {len(cells)} cells: "
            f"{' '.join(cells)[:40]!r}",
            number,
        )
    if request.columns is None and len(cells) == 3 and width == 2:
        chosen.append(cells[2])
    text = chosen[2] if len(chosen) > 2 else "1"
    weight = as_number(text)
    if weight is None or not 0 <= weight < math.inf:
        raise request.error(f"the weight {text[:40]!r} must be finite and not negative", number)
    return unshield(chosen[0]), unshield(chosen[1]), weight


def _has_header(ahead: list[Line], request: Request) -> bool:
    """Whether the first line has the names asked for, or a word where others have numbers."""
    (_, first), below = ahead[0], [cells for _, cells in ahead[1:]]
    if request.columns is not None and set(request.columns) <= set(first):
        return True
    if len(first) == 3 and as_number(first[2]) is None:
        return True
    return bool(below) and any(
        as_number(cell) is None
        and all(len(cells) > place and as_number(cells[place]) is not None for cells in below)
        for place, cell in enumerate(first)
    )


def _stands_apart(first: list[str], weights: Weights) -> bool:
    """Whether the first line, two words, is the only one that shares no name with another.

    The names of columns join nothing; an edge between two vertices that have no other is as
    lonely, so where there are more of them nothing follows.
    """
    if len(first) != 2 or len(weights) <= FEWEST_TO_TELL or re.search(r"\d", "".join(first)):
        return False
    rows, columns = (Counter(side) for side in zip(*weights, strict=True))
    alone = [edge for edge in weights if rows[edge[0]] == columns[edge[1]] == 1]
    return alone == [(0, 0)]
