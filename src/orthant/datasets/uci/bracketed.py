"""``PEMS_train``: one matrix per line, ``[a b c;d e f]``, and ``PEMS_trainlabels``, one list."""

from __future__ import annotations

import numpy as np

from orthant.datasets.readers.record import Request
from orthant.datasets.uci.lines import (
    check_last_row,
    check_one_more_row,
    numbered_lines,
    numbers,
    whole_numbers,
)
from orthant.datasets.uci.record import Content, Shape
from orthant.numerics.arrays import Array


def read_matrices(request: Request, shape: Shape, matrix_rows: int) -> Content:
    """One sample per line: a matrix of ``matrix_rows`` rows, which follow one another in X."""
    n, m = shape
    rows: list[Array] = []
    line = 0
    for line, text in numbered_lines(request):
        check_one_more_row(len(rows), n, request, line)
        parts = [part.split() for part in _inside(text, request, line).split(";")]
        if len(parts) != matrix_rows:
            raise request.error(f"its matrix has {len(parts)} rows instead of {matrix_rows}", line)
        for place, part in enumerate(parts, start=1):
            if len(part) != m // matrix_rows:
                raise request.error(
                    f"row {place} of its matrix holds {len(part)} values instead of "
                    f"{m // matrix_rows}",
                    line,
                )
        rows.append(numbers([field for part in parts for field in part], m, request, line))
    check_last_row(len(rows), n, request, line)
    return Content(np.array(rows))


def read_label_list(request: Request, n: int) -> Array:
    """(n,) labels, all in one pair of brackets on the first line."""
    labels: list[int] = []
    for line, text in numbered_lines(request):
        if line > 1:
            raise request.error("there is more than one line", line)
        labels = whole_numbers(_inside(text, request, line).split(), n, request, line)
    check_last_row(len(labels), n, request, 1)
    return np.array(labels)


def _inside(text: str, request: Request, line: int) -> str:
    """What stands between the brackets."""
    text = text.strip()
    if not text.startswith("["):
        raise request.error(f"it does not begin with '[' but with {text[:20]!r}", line)
    if not text.endswith("]"):
        raise request.error(f"it does not end with ']' but with {text[-20:]!r}: cut off?", line)
    return text[1:-1]
