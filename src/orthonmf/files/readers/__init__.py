"""Readers: a file in any common format becomes a matrix with names.

Files may come from strangers: nothing is unpickled, declared sizes are compared with a limit
before memory is taken, the structure of sparse matrices is checked, and no file makes the reader
open another one.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from orthonmf.files.readers.formats import FORMATS, format_of
from orthonmf.files.readers.names import read_names, tenx_matrix
from orthonmf.files.readers.opening import STDIN, readable
from orthonmf.files.readers.request import FileError, NamedMatrix, Request, default_max_bytes
from orthonmf.inputs.parameters import as_choice

__all__ = ["FORMATS", "FileError", "NamedMatrix", "default_max_bytes", "read_matrix", "read_names"]

NEVER = 2**63


def read_matrix(
    path: str | os.PathLike[str],
    *,
    format: str | None = None,
    max_bytes: int | None = None,
    **options: Any,
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
    max_bytes
        Refuse matrices that would take more than this; None for half of the memory.
    **options
        What else a `Request` holds. A dense matrix in HDF5 or Zarr that stays there gives slices
        of its rows.

    Content that is damaged, hostile or no matrix is a `FileError` that names file and line; a file
    that cannot be opened the usual OSError.
    """
    limit = default_max_bytes() if max_bytes is None else max_bytes
    if format is not None:
        as_choice(format, tuple(FORMATS), "format")
    with readable(path, limit) as place:
        if place != Path(path):  # gone when this returns: read all of it
            options |= {"map_above": NEVER, "stream_above": None}
        if format in (None, "mtx") and place.is_dir():
            place = tenx_matrix(place) or place
        shown = "<stdin>" if str(path) == STDIN else str(path)
        reader = FORMATS[format or format_of(place, shown)]
        return reader(Request(place, shown, limit, **options))
