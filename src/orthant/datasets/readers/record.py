"""What every reader is given and what it returns."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import numpy as np

from orthant.errors import InvalidInputError, MissingExtraError
from orthant.numerics.arrays import Array

# No fair file unpacks to more times its size than this; gzip cannot do much more.
MOST_UNPACKED = 1000


class FileError(InvalidInputError):
    """A file does not hold what it should; the message is ``FILE: line L: why``."""


@dataclass(frozen=True, slots=True, eq=False)
class NamedMatrix:
    """A matrix read from a file, with the names of its rows and columns if it has any.

    Attributes
    ----------
    X
        (n, m) array, memory map or CSR array, or what gives slices of its rows from the file
        where that was asked for; its values have not been checked yet, except in text formats,
        where a bad one is reported with its line.
    row_names, column_names
        One text per row and per column, or None.
    source
        The file, as it was named.
    opened
        What is open as long as rows are read from the file; None where nothing is.
    """

    X: Any
    row_names: tuple[str, ...] | None
    column_names: tuple[str, ...] | None
    source: str
    opened: ExitStack | None = None

    def close(self) -> None:
        """Close the file; rows that were not read into memory are gone then."""
        if self.opened is not None:
            self.opened.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()


@dataclass(frozen=True, slots=True)
class Request:
    """A file to read and how.

    Attributes
    ----------
    path, shown
        Where it lies, and how messages call it.
    max_bytes
        Refuse to take more memory than this for the matrix.
    key
        Which array of a file that holds several.
    header, index
        For text, whether the first line and the first column are names; None to find out.
    allow_missing
        Whether NaN and empty cells are missing values rather than errors.
    map_above
        A ``.npy`` file larger than this is mapped into memory rather than read.
    stream_above
        A dense matrix larger than this in HDF5 or Zarr is left there, to be read in slices; None
        to read all of any.
    """

    path: Path
    shown: str
    max_bytes: int
    key: str | None = None
    header: bool | None = None
    index: bool | None = None
    allow_missing: bool = False
    map_above: int = 0
    stream_above: int | None = None

    def streams(self, n_bytes: int, stored: int) -> bool:
        """Whether an array of this declared size, and this size as stored, is left where it is.

        One that is almost all claim is not: going over it would take for ever.
        """
        large = self.stream_above is not None and n_bytes > self.stream_above
        return large and n_bytes <= MOST_UNPACKED * stored

    def error(self, why: str, line: int | None = None) -> FileError:
        """The error to raise for this file."""
        place = "" if line is None else f" line {line}:"
        return FileError(f"{self.shown}:{place} {_one_line(why)}")

    @contextmanager
    def decoding(self, what: str) -> Iterator[None]:
        """Turn whatever a library raises over this file into one error.

        On damaged files the libraries that unpack them raise errors of any type.
        """
        try:
            yield
        except (FileError, PermissionError, MissingExtraError):
            raise
        except Exception as error:
            raise self.error(f"{what}: {error}") from error

    def check_size(self, n_bytes: int, what: str, line: int | None = None) -> None:
        """Refuse a declared size above the limit, before any memory is taken for it."""
        if n_bytes > self.max_bytes:
            raise self.error(
                f"{what} would take {in_units(n_bytes)}, more than the {in_units(self.max_bytes)} "
                "allowed; if the file can be trusted, raise --max-bytes",
                line,
            )

    def check_shape(self, shape: tuple[int, ...], line: int | None = None) -> tuple[int, int]:
        """A shape of two positive sizes whose row and column records alone fit into memory."""
        if len(shape) != 2:
            raise self.error(f"a matrix has 2 dimensions, this has {len(shape)}: {shape}", line)
        if not all(isinstance(size, int | np.integer) for size in shape):
            raise self.error(f"the declared shape {shape} makes no sense", line)
        n, m = (int(size) for size in shape)
        if n < 1 or m < 1:
            raise self.error(f"the matrix is empty: its shape is {n} x {m}", line)
        self.check_size(16 * (n + m), f"a matrix of declared shape {n} x {m}", line)
        return n, m

    def matrix(
        self,
        X: Any,
        row_names: tuple[str, ...] | None = None,
        column_names: tuple[str, ...] | None = None,
    ) -> NamedMatrix:
        """The result, after a last look at its shape and the number of names."""
        self.check_shape(X.shape)
        for names, size, what in (
            (row_names, X.shape[0], "row"),
            (column_names, X.shape[1], "column"),
        ):
            if names is not None and len(names) != size:
                raise self.error(f"there are {len(names)} {what} names for {size} {what}s")
        return NamedMatrix(X, row_names, column_names, self.shown)


class StoredRows:
    """A matrix that stays in its file and gives slices of its rows, or an error that names it."""

    def __init__(self, stored: Any, request: Request) -> None:
        self.shape: tuple[int, int] = tuple(stored.shape)
        self.dtype = np.dtype(stored.dtype)
        self._stored, self._request = stored, request

    def __getitem__(self, rows: Any) -> Array:
        with self._request.decoding("its rows cannot be read"):
            return np.asarray(self._stored[rows])


def in_units(n_bytes: int) -> str:
    """A number of bytes for people."""
    size, units = float(n_bytes), ["bytes", "kB", "MB", "GB", "TB", "PB", "EB"]
    while size >= 1000 and len(units) > 1:
        size, units = size / 1000, units[1:]
    if size >= 1000:
        return "an absurd number of bytes"
    return f"{size:.3g} {units[0]}"


def _one_line(text: str) -> str:
    return " ".join(text.split())
