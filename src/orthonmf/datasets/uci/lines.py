"""Lines of an original file and the numbers in them; every error has the number of its line.

Two of the sets, ``arcene_train.data`` and ``mfeat-pix``, are nothing else.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TypeVar

import numpy as np

from orthonmf.datasets.uci.record import Content, Shape
from orthonmf.files.readers.opening import DAMAGED_TEXT, bound_lines, open_text
from orthonmf.files.readers.record import Request
from orthonmf.files.readers.text import as_number
from orthonmf.numerics.arrays import Array

T = TypeVar("T")


def read_rows(request: Request, shape: Shape) -> Content:
    """Plain rows, one sample per line; any number of spaces around the values."""
    n, m = shape

    def parse(text: str, line: int) -> Array:
        return parse_numbers(text.split(), m, request, line)

    return Content(np.array(parse_lines(number_lines(request), n, request, parse)))


def read_labels(request: Request, n: int) -> Array:
    """(n,) labels, one per line."""

    def parse(text: str, line: int) -> int:
        return parse_integers(text.split(), 1, request, line)[0]

    return np.array(parse_lines(number_lines(request), n, request, parse))


def number_lines(request: Request) -> Iterator[tuple[int, str]]:
    """Every line with its number, from 1; empty lines at the end of the file are left out."""
    number = 0
    empty: list[int] = []
    try:
        # The names in one of the files are arbitrary bytes; numbers are checked later anyway.
        with open_text(request.path, errors="backslashreplace") as file:
            for number, line in enumerate(bound_lines(file, request), start=1):
                if not line.strip():
                    empty.append(number)
                    continue
                yield from ((one, "") for one in empty)
                empty.clear()
                yield number, line
    except DAMAGED_TEXT as error:
        raise request.error(
            f"the packed file is damaged or cut off after this line: {error}", number
        ) from error


def parse_lines(
    lines: Iterable[tuple[int, str]],
    n: int,
    request: Request,
    parse: Callable[[str, int], T],
    line: int = 0,
) -> list[T]:
    """What ``parse`` makes of the text and the number of n lines, no more and no fewer.

    ``line`` is the number of the last one before them.
    """
    rows: list[T] = []
    for line, text in lines:
        if len(rows) == n:
            raise request.error(f"there are more than {n} rows", line)
        rows.append(parse(text, line))
    if len(rows) < n:
        raise request.error(
            f"the file ends here, after {len(rows)} of {n} rows: it is cut off", line
        )
    return rows


def parse_numbers(fields: Sequence[str], expected: int, request: Request, line: int) -> Array:
    """The (expected,) numbers of a line, none of them negative."""
    _check_count(fields, expected, request, line)
    try:
        values = np.array(fields, dtype=np.float64)
    except ValueError as error:
        bad = next(field for field in fields if as_number(field) is None)
        raise request.error(f"{bad[:40]!r} is no number", line) from error
    wrong = np.flatnonzero(request.find_unusable(values))
    if len(wrong):
        raise request.error(
            f"{fields[wrong[0]]!r} is not usable: values are finite and not negative", line
        )
    return values


def parse_integers(fields: Sequence[str], expected: int, request: Request, line: int) -> list[int]:
    """The whole numbers of a line, which may be negative."""
    _check_count(fields, expected, request, line)
    try:
        return [int(field) for field in fields]
    except ValueError as error:
        raise request.error(f"whole numbers were expected: {error}", line) from error


def _check_count(fields: Sequence[str], expected: int, request: Request, line: int) -> None:
    if len(fields) != expected:
        raise request.error(f"it holds {len(fields)} values instead of {expected}", line)
