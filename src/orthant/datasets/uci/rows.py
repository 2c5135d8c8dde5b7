"""Plain rows: ``arcene_train.data`` and ``mfeat-pix``, numbers with spaces between them."""

from __future__ import annotations

import numpy as np

from orthant.datasets.readers.record import Request
from orthant.datasets.uci.lines import number_lines, parse_integers, parse_lines, parse_numbers
from orthant.datasets.uci.record import Content, Shape
from orthant.numerics.arrays import Array


def read_rows(request: Request, shape: Shape) -> Content:
    """One sample per line; any number of spaces between, before and after the values."""
    n, m = shape

    def parse(text: str, line: int) -> Array:
        return parse_numbers(text.split(), m, request, line)

    return Content(np.array(parse_lines(number_lines(request), n, request, parse)))


def read_labels(request: Request, n: int) -> Array:
    """(n,) labels, one per line."""

    def parse(text: str, line: int) -> int:
        return parse_integers(text.split(), 1, request, line)[0]

    return np.array(parse_lines(number_lines(request), n, request, parse))
