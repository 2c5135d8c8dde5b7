"""Journal: rows of a CSV file, which is whole with every one of them, whatever ends its writer."""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from orthonmf.files.whole_files import replacing


class Journal:
    """The rows of a file by their first columns, and how one is added; the last of a key counts."""

    def __init__(self, path: Path, columns: Sequence[str], n_key: int) -> None:
        self.path, self.columns, self.n_key = path, list(columns), n_key
        self.rows: dict[tuple[Any, ...], dict[str, Any]] = {}
        path.parent.mkdir(parents=True, exist_ok=True)
        if not path.exists():
            return
        with open(path, encoding="utf-8", newline="") as file:
            header, *rows = csv.reader(file)
        if header != self.columns:
            raise ValueError(f"{path}: line 1 is not {','.join(columns)}; name another folder")
        for cells in rows:
            if len(cells) != len(columns):
                raise ValueError(f"{path} is damaged at {','.join(cells)}; mend or remove it")
            row = dict(zip(columns, map(_value, cells), strict=True))
            self.rows[self._key(row)] = row

    def _key(self, row: Mapping[str, Any]) -> tuple[Any, ...]:
        return tuple(row[name] for name in self.columns[: self.n_key])

    def add(self, row: Mapping[str, Any]) -> None:
        """Add a row, on disk when this returns."""
        self.rows[self._key(row)] = dict(row)
        with replacing(self.path) as file:
            writer = csv.DictWriter(file, self.columns, lineterminator="\n")
            writer.writeheader()
            writer.writerows(self.rows.values())


def _value(cell: str) -> Any:
    """The number or the text that was written; None where there was nothing."""
    for kind in (int, float):
        with suppress(ValueError):
            return kind(cell)
    return cell or None
