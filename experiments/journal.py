"""Journal: rows of a CSV file, each on disk before the next is made, whatever ends their writer."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from orthonmf.files import journal


class Journal:
    """The rows of a file by their first columns, and how one is added; the last of a key counts."""

    def __init__(self, path: Path, columns: Sequence[str], n_key: int) -> None:
        self.path, self.columns, self.n_key = path, list(columns), n_key
        self.rows: dict[tuple[Any, ...], dict[str, Any]] = {}
        path.parent.mkdir(parents=True, exist_ok=True)
        header = ",".join(columns)
        foreign = f"{path}: line 1 is not {header}; name another folder"
        self._lines = journal.Journal(path, header, foreign)
        self._is_empty = not self._lines.lines
        if self._is_empty:
            return
        if self._lines.lines[0] != header:
            raise ValueError(foreign)
        try:
            frame = pd.read_csv(
                io.StringIO("\n".join(self._lines.lines)),
                float_precision="round_trip",
                keep_default_na=False,
                na_values=[""],
            ).convert_dtypes(convert_string=False, convert_boolean=False, convert_floating=False)
        except ValueError as error:
            raise ValueError(f"{path} is damaged ({error}); mend or remove it") from error
        frame = frame.astype(object).where(frame.notna(), None)
        self.rows = {self._key(row): row for row in frame.to_dict("records")}

    def _key(self, row: Mapping[str, Any]) -> tuple[Any, ...]:
        return tuple(row[name] for name in self.columns[: self.n_key])

    def add(self, row: Mapping[str, Any]) -> None:
        """Append a row, on disk when this returns."""
        if self._is_empty:
            self._lines.append(",".join(self.columns))
            self._is_empty = False
        text = io.StringIO()
        csv.writer(text, lineterminator="").writerow([row.get(name) for name in self.columns])
        self._lines.append(text.getvalue())
        self.rows[self._key(row)] = dict(row)
