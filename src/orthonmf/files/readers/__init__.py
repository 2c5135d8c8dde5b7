"""Readers: a file in any common format becomes a matrix with names.

Files may come from strangers: nothing is unpickled, declared sizes are compared with a limit
before memory is taken, the structure of sparse matrices is checked, and no file makes the reader
open another one.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from orthonmf.files.readers.formats import FORMATS, format_by_name, format_of
from orthonmf.files.readers.names import read_names, tenx_matrix
from orthonmf.files.readers.opening import STDIN, readable
from orthonmf.files.readers.request import FileError, NamedMatrix, Request, default_max_bytes
from orthonmf.inputs.parameters import as_choice

__all__ = [
    "FORMATS",
    "FileError",
    "NamedMatrix",
    "default_max_bytes",
    "format_by_name",
    "read_matrix",
    "read_names",
]

NEVER = 2**63


def read_matrix(
    path: str | os.PathLike[str],
    *,
    format: str | None = None,
    key: str | None = None,
    header: bool | None = None,
    index: bool | None = None,
    allow_missing: bool | None = False,
    max_bytes: int | None = None,
    map_above: int = 0,
    stream_above: int | None = None,
    columns: Iterable[str] | None = None,
    drop: Iterable[str] = (),
    encoding: str | None = None,
) -> NamedMatrix:
    """Read a matrix and the names of its rows and columns.

    Parameters
    ----------
    path
        ``.npy``, ``.npz`` (dense or SciPy sparse), ``.mtx`` (10x names next to it are used; the
        folder of all three does as well), ``.csv``, ``.tsv`` and ``.edges``, all text also
        as ``.gz``, ``.xlsx``, ``.parquet``, ``.h5ad``, ``.h5``, ``.zarr``; ``-`` for standard
        input.
    format
        One of `FORMATS`, when the ending of the name does not tell.
    key
        Which array of a file that holds several: a name in ``.npz``, a path in HDF5 and Zarr.
    header, index
        For text, whether the first line and the first column are names; None to find out.
    allow_missing
        Whether NaN and empty cells are missing values rather than errors.
    max_bytes
        Refuse matrices that would take more than this; None for half of the memory.
    map_above, stream_above
        ``.npy`` files larger than the first are mapped into memory rather than read. Dense
        matrices in HDF5 and Zarr larger than the second stay there and give slices of their rows,
        the file open until :meth:`NamedMatrix.close`; None reads all of any.
    columns, drop
        Only these columns of the file, all but these; by name, or by number from 0 where they
        have no names. In text the others need hold no numbers. In a list of edges: the columns of
        rows, of columns and of weights, in this order.
    encoding
        Of text, when it is not UTF-8: "cp1252", "utf-16" and all else that Python knows.

    Content that is damaged, hostile or no matrix is a `FileError` that names file and line; a file
    that cannot be opened the usual OSError.
    """
    limit = default_max_bytes() if max_bytes is None else max_bytes
    if format is not None:
        as_choice(format, tuple(FORMATS), "format")
    with readable(path, limit) as place:
        passing = place != Path(path)  # gone when this returns
        if format in (None, "mtx") and place.is_dir():
            place = tenx_matrix(place) or place
        request = Request(
            place,
            shown="<stdin>" if str(path) == STDIN else str(path),
            max_bytes=limit,
            key=key,
            header=header,
            index=index,
            allow_missing=allow_missing,
            map_above=NEVER if passing else map_above,
            stream_above=None if passing else stream_above,
            columns=None if columns is None else tuple(columns),
            drop=tuple(drop),
            encoding=encoding,
        )
        return FORMATS[format or format_of(place)](request)
