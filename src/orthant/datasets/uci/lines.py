"""Lines of an original file and the numbers in them; every error has the number of its line."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Iterator, Sequence

import numpy as np

from orthant.datasets.readers.packed import bounded_lines, open_text
from orthant.datasets.readers.record import Request
from orthant.numerics.arrays import Array


def numbered_lines(request: Request) -> Iterator[tuple[int, str]]:
    """Every line with its number, from 1; empty lines at the end of the file are left out."""
    number = 0
    empty: list[int] = []
    try:
        # The names in one of the files are arbitrary bytes; numbers are checked later anyway.
        with open_text(request.path, errors="backslashreplace") as file:
            for number, line in enumerate(bounded_lines(file, request), start=1):
                if not line.strip():
                    empty.append(number)
                    continue
                yield from ((one, "") for one in empty)
                empty.clear()
                yield number, line
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise request.error(
            f"the packed file is damaged or cut off after this line: {error}", number
        ) from error


def numbers(fields: Sequence[str], expected: int, request: Request, line: int) -> Array:
    """The (expected,) numbers of a line, none of them negative."""
    if len(fields) != expected:
        raise request.error(f"it holds {len(fields)} values instead of {expected}", line)
    try:
        values = np.array(fields, dtype=np.float64)
    except ValueError as error:
        bad = next(field for field in fields if not _is_number(field))
        raise request.error(f"{bad[:40]!r} is no number", line) from error
    wrong = np.flatnonzero(~(np.isfinite(values) & (values >= 0)))
    if len(wrong):
        raise request.error(
            f"{fields[wrong[0]]!r} is not usable: values are finite and not negative", line
        )
    return values


def whole_numbers(fields: Sequence[str], expected: int, request: Request, line: int) -> list[int]:
    """The whole numbers of a line, which may be negative."""
    if len(fields) != expected:
        raise request.error(f"it holds {len(fields)} values instead of {expected}", line)
    try:
        return [int(field) for field in fields]
    except ValueError as error:
        raise request.error(f"whole numbers were expected: {error}", line) from error


def check_last_row(found: int, expected: int, request: Request, line: int) -> None:
    """Refuse a file that ends before its last row."""
    if found < expected:
        raise request.error(
            f"the file ends here, after {found} of {expected} rows: it is cut off", line
        )


def check_one_more_row(found: int, expected: int, request: Request, line: int) -> None:
    """Refuse a row after the last one."""
    if found == expected:
        raise request.error(f"there are more than {expected} rows", line)


def _is_number(field: str) -> bool:
    try:
        float(field)
    except ValueError:
        return False
    return True
