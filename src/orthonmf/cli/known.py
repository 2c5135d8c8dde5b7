"""What was known of the rows before: groups, and a map that came with the data."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from orthonmf.cli.data import Reading, most_bytes
from orthonmf.cli.failures import about
from orthonmf.files.readers import FileError, read_names
from orthonmf.files.readers.hdf5 import read_map, read_observation
from orthonmf.files.readers.record import Request

OBSERVATION = "obs:"


def read_known(groups: str | None, file: str, reading: Reading, n_rows: int) -> dict[str, Any]:
    """What a story can hold of it: ``groups``, ``positions`` and ``positions_name``.

    ``groups`` is a file with a name per line, or ``obs:NAME`` for what an .h5ad file says.
    """
    of_cells = file.endswith(".h5ad") and not reading.transpose
    known: dict[str, Any] = {}
    if groups is not None and groups.startswith(OBSERVATION):
        if not of_cells:
            raise FileError(f"--groups {groups}: only rows of an .h5ad file have obs")
        name = groups.removeprefix(OBSERVATION)
        known["groups"] = read_observation(_request(file, reading), name, n_rows)
    elif groups is not None:
        about(groups)
        known["groups"] = read_names(groups, n_rows, "rows")
    found = read_map(_request(file, reading), n_rows) if of_cells else None
    if found is not None:
        known["positions_name"], known["positions"] = found
    return known


def as_written(groups: str | None) -> str | None:
    """The option as ``summary.json`` keeps it: a path that holds from anywhere."""
    if groups is None or groups.startswith(OBSERVATION):
        return groups
    return str(Path(groups).resolve())


def _request(file: str, reading: Reading) -> Request:
    return Request(Path(file), file, most_bytes(reading.max_bytes))
