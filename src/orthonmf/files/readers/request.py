"""What every reader is given, a request with the checks that all share, and what it returns."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from rich.filesize import decimal

from orthonmf.engine.memory import memory_limit
from orthonmf.errors import FileError
from orthonmf.files.archive import refuse_damage
from orthonmf.inputs.parameters import name_nearest
from orthonmf.typing import Array

Names = tuple[str, ...] | None


@dataclass(frozen=True, slots=True, eq=False)
class NamedMatrix:
    """A matrix read from a file, with the names of its rows and columns if it has any.

    X is an (n, m) array, memory map or CSR array, or what gives slices of its rows from the file
    where that was asked for. Its values have not been checked yet, except in text formats, where a
    bad one is reported with its line.
    """

    X: Any
    row_names: Names
    column_names: Names
    source: str  # the file, as it was named
    notes: tuple[str, ...] = ()  # what the reader decided and the user may see otherwise
    where_negative: str = ""  # what to do where X holds negative entries, if that is known
    preparation: Any = None  # what was done to X after it was read; None for nothing


@dataclass(frozen=True, slots=True)
class Request:
    """A file to read and how, with the checks that all readers share.

    Attributes
    ----------
    path, shown
        Where it is, and how messages call it.
    max_bytes
        Matrices that would take more than this are refused.
    key
        Which array of a file that holds several: a name in ``.npz``, a path in HDF5 and Zarr, a
        sheet.
    header, index
        For text, whether the first line and the first column are names; None to find out.
    allow_missing
        Whether NaN and empty cells are missing values rather than errors; None is False, where no
        option asks for it.
    map_above, stream_above
        ``.npy`` files larger than the first are mapped into memory rather than read. Dense
        matrices in HDF5 and Zarr larger than the second stay there; None reads all of any.
    columns, drop
        Only these columns of the file, all but these; by name, or by number from 0 where they
        have no names. In text the others need hold no numbers. In a list of edges: the columns of
        rows, of columns and of weights, in this order.
    encoding
        Of text, when it is not UTF-8: "cp1252", "utf-16" and all else that Python knows.
    """

    path: Path
    shown: str
    max_bytes: int
    key: str | None = None
    header: bool | None = None
    index: bool | None = None
    allow_missing: bool | None = False
    map_above: int = 0
    stream_above: int | None = None
    columns: Sequence[str] | None = None
    drop: Sequence[str] = ()
    encoding: str | None = None

    def choose(self, names: Names, count: int) -> list[int] | None:
        """Which of so many columns are wanted, in the order of the file; None for all."""
        if self.columns is None and not self.drop:
            return None
        labels = [str(number) for number in range(count)] if names is None else list(names)
        for name in (*(self.columns or ()), *self.drop):
            if name not in labels:
                first = ", ".join(labels[:8]) + (", ..." if len(labels) > 8 else "")
                raise self.error(
                    f"there is no column {name!r}{name_nearest(name, labels)}; those there are "
                    f"{first} (the first of a table may hold the names of its rows)",
                    remedy="a list of edges is read with --format edges",
                )
        wanted = set(labels if self.columns is None else self.columns) - set(self.drop)
        chosen = [number for number, name in enumerate(labels) if name in wanted]
        if not chosen:
            raise self.error("no column is left", remedy="see --columns and --drop")
        return chosen

    def error(self, why: str, line: int | None = None, remedy: str = "") -> FileError:
        """The error to raise for this file; the remedy is one in options of the command."""
        place = "" if line is None else f" line {line}:"
        return FileError(f"{self.shown}:{place} {' '.join(why.split())}", remedy)

    def decoding(self, what: str) -> AbstractContextManager[None]:
        """Turn whatever a library raises over this file into one error."""
        return refuse_damage(lambda why: self.error(f"{what}: {why}"))

    def check_size(self, n_bytes: int, what: str, line: int | None = None) -> None:
        """Refuse a declared size above the limit, before any memory is taken for it."""
        if n_bytes > self.max_bytes:
            raise self.error(
                f"{what} would take {decimal(n_bytes)}, more than the {decimal(self.max_bytes)} "
                "allowed",
                line,
                "if the file can be trusted, raise --max-bytes",
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

    def find_unusable(self, values: Array) -> Array:
        """Which values are not finite or negative, but for missing ones where they may be."""
        bad = ~(np.isfinite(values) & (values >= 0))
        return bad & ~np.isnan(values) if self.allow_missing else bad

    def only_one(self, names: Sequence[str], what: str) -> str:
        """The one name, or the error that there are several arrays of a kind, or none."""
        if len(names) == 1:
            return names[0]
        if not names:
            raise self.error(f"it holds no {what}")
        listed = ", ".join(names[:10])
        raise self.error(f"it holds several arrays: {listed}", remedy="name one of them with --key")

    def matrix(
        self,
        X: Any,
        row_names: Names = None,
        column_names: Names = None,
        *,
        notes: tuple[str, ...] = (),
        chosen: bool = False,
    ) -> NamedMatrix:
        """The result, after a last look at its shape and the number of names.

        Unless the reader has ``chosen`` columns itself, those that are not wanted go now.
        """
        self.check_shape(X.shape)
        both = (row_names, column_names)
        for names, size, what in zip(both, X.shape, ("row", "column"), strict=True):
            if names is not None and len(names) != size:
                raise self.error(f"there are {len(names)} {what} names for {size} {what}s")
        keep = None if chosen else self.choose(column_names, X.shape[1])
        if keep is not None:
            if isinstance(X, StoredRows):
                raise self.error("columns of a matrix that stays on disk cannot be chosen")
            X = X[:, keep]
            column_names = None if column_names is None else tuple(column_names[i] for i in keep)
        return NamedMatrix(X, row_names, column_names, self.shown, notes=notes)


class StoredRows:
    """A matrix that stays in its file and gives slices of its rows, or an error that names it.

    The file is open as long as this lives.
    """

    def __init__(self, stored: Any, request: Request) -> None:
        self.shape: tuple[int, int] = tuple(stored.shape)
        self.dtype = np.dtype(stored.dtype)
        self._stored, self._request = stored, request

    def __getitem__(self, rows: Any) -> Array:
        with self._request.decoding("its rows cannot be read"):
            return np.asarray(self._stored[rows])


def default_max_bytes() -> int:
    """Half of the memory that this process may use."""
    return memory_limit() // 2
