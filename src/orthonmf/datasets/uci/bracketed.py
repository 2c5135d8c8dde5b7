"""``PEMS_train``: one matrix per line, ``[a b c;d e f]``, and ``PEMS_trainlabels``, one list."""

from __future__ import annotations

import numpy as np

from orthonmf.datasets.uci.lines import number_lines, parse_integers, parse_lines, parse_numbers
from orthonmf.datasets.uci.record import Content, Shape
from orthonmf.files.readers.record import Request
from orthonmf.numerics.arrays import Array


def read_matrices(request: Request, shape: Shape, matrix_rows: int) -> Content:
    """One sample per line: a matrix of ``matrix_rows`` rows, which follow one another in X."""
    n, m = shape
    width = m // matrix_rows

    def parse(text: str, line: int) -> Array:
        rows = [row.split() for row in _inside(text, request, line).split(";")]
        if len(rows) != matrix_rows:
            raise request.error(f"its matrix has {len(rows)} rows instead of {matrix_rows}", line)
        for place, row in enumerate(rows, start=1):
            if len(row) != width:
                why = f"row {place} of its matrix holds {len(row)} values instead of {width}"
                raise request.error(why, line)
        return parse_numbers([field for row in rows for field in row], m, request, line)

    return Content(np.array(parse_lines(number_lines(request), n, request, parse)))


def read_label_list(request: Request, n: int) -> Array:
    """(n,) labels, all in one pair of brackets on the first line."""
    labels: list[int] = []
    for line, text in number_lines(request):
        if line > 1:
            raise request.error("there is more than one line", line)
        labels = parse_integers(_inside(text, request, line).split(), n, request, line)
    if not labels:
        raise request.error("the file is empty", 1)
    return np.array(labels)


def _inside(text: str, request: Request, line: int) -> str:
    """What stands between the brackets."""
    text = text.strip()
    if not text.startswith("["):
        raise request.error(f"it does not begin with '[' but with {text[:20]!r}", line)
    if not text.endswith("]"):
        raise request.error(f"it does not end with ']' but with {text[-20:]!r}: cut off?", line)
    return text[1:-1]
