"""Journal: rows of a CSV file, each on disk before the next is made, whatever ends their writer.

A line is written in one go and synchronized, so a file holds whole lines and at most one torn line
at its end; reading ignores it, and the next row takes its place.
"""

from __future__ import annotations

import csv
import io
import os
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any


class Journal:
    """The rows of a file by their first columns, and how one is added; the last of a key counts."""

    def __init__(self, path: Path, columns: Sequence[str], n_key: int) -> None:
        self.path, self.columns, self.n_key = path, list(columns), n_key
        self.rows: dict[tuple[Any, ...], dict[str, Any]] = {}
        self._size = 0
        if path.exists():
            self._read(path.read_bytes())
        else:
            path.parent.mkdir(parents=True, exist_ok=True)

    def _read(self, content: bytes) -> None:
        self._size = content.rfind(b"\n") + 1
        header = ",".join(self.columns).encode()
        if not (content if not self._size else header).startswith(content[: len(header)]):
            raise ValueError(f"{self.path}: line 1 is not {header.decode()}; name another folder")
        if not self._size:
            return
        lines = csv.reader(io.StringIO(content[: self._size].decode()))
        next(lines)
        for number, cells in enumerate(lines, start=2):
            if len(cells) != len(self.columns):
                raise ValueError(
                    f"{self.path} is damaged: line {number} has {len(cells)} cells, the header "
                    f"{len(self.columns)}; mend or remove it"
                )
            row = dict(zip(self.columns, map(value_of, cells), strict=True))
            self.rows[self._key(row)] = row

    def _key(self, row: Mapping[str, Any]) -> tuple[Any, ...]:
        return tuple(row[name] for name in self.columns[: self.n_key])

    def add(self, row: Mapping[str, Any]) -> None:
        """Append a row, on disk when this returns."""
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        if not self._size:
            writer.writerow(self.columns)
        writer.writerow([row.get(name) for name in self.columns])
        with open(self.path, "ab") as file:
            file.truncate(self._size)
            file.write(text.getvalue().encode())
            file.flush()
            os.fsync(file.fileno())
            self._size = file.tell()
        self.rows[self._key(row)] = dict(row)


def value_of(cell: str) -> int | float | str | None:
    """The value that was written as this cell; floats come back to the bit."""
    if not cell:
        return None
    for kind in (int, float):
        with suppress(ValueError):
            return kind(cell)
    return cell
