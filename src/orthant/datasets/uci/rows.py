"""Plain rows: ``arcene_train.data`` and ``mfeat-pix``, numbers with spaces between them."""

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


def read_rows(request: Request, shape: Shape) -> Content:
    """One sample per line; any number of spaces between, before and after the values."""
    n, m = shape
    rows: list[Array] = []
    line = 0
    for line, text in numbered_lines(request):
        check_one_more_row(len(rows), n, request, line)
        rows.append(numbers(text.split(), m, request, line))
    check_last_row(len(rows), n, request, line)
    return Content(np.array(rows))


def read_labels(request: Request, n: int) -> Array:
    """(n,) labels, one per line."""
    labels: list[int] = []
    line = 0
    for line, text in numbered_lines(request):
        check_one_more_row(len(labels), n, request, line)
        labels += whole_numbers(text.split(), 1, request, line)
    check_last_row(len(labels), n, request, line)
    return np.array(labels)
