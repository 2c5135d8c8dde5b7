"""The trials of a selection as JSON lines, so that an interrupted one can go on.

There are few of them, so the whole file is written again with each: it is never half there.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any

from orthonmf.engine.sources import digest_rows
from orthonmf.errors import InvalidInputError
from orthonmf.files.archive import parse_object
from orthonmf.files.whole_files import is_special, replacing
from orthonmf.inputs.parameters import draw_seed
from orthonmf.selection.trial import Size, Trial

TITLE = "orthonmf select_n_components"
VERSION = 2
COUNTS = ("n_components", "repetition", "n_components_found")
MAY_BE_NONE = ("lower_bound", "refit_agreement", "held_out_error")
LARGEST = 2.0**62


class TrialJournal:
    """Trials done so far, by number of components and repetition, and the file that keeps them.

    Without a path nothing is kept. ``seed`` is what random numbers are drawn from.
    """

    def __init__(
        self,
        path: str | os.PathLike[str] | None,
        data: Any,
        options: Mapping[str, Any],
        seed: int | None,
    ) -> None:
        """Read what is there, or start the file.

        ``seed`` is None when the caller has none: then that of the file goes on, or one is drawn.
        """
        self.path = None if path is None else Path(path)
        self.trials: dict[tuple[Size, int], Trial] = {}
        about = {"title": TITLE, "version": VERSION, "data": digest_rows(data), **options}
        self._lines = [] if self.path is None else _read_lines(self.path)
        if not self._lines:
            self.seed = draw_seed() if seed is None else seed
            self._append({**about, "entropy": self.seed})
            return
        header, *lines = self._lines
        kept = parse_object(header, f"{self.path}: line 1")
        self.seed = kept.pop("entropy", None)
        if kept.get("title") != TITLE or type(self.seed) is not int or self.seed < 0:
            raise InvalidInputError(f"{self.path} is not a results file of select_n_components")
        different = [name for name in about if about[name] != kept.get(name)]
        if seed not in (None, self.seed):
            different.append("random_state")
        if different:
            raise InvalidInputError(
                f"{self.path} holds results of another selection: {', '.join(different)} differ; "
                "name another file, or remove this one"
            )
        for number, line in enumerate(lines, start=2):
            self._keep(self._read(parse_object(line, f"{self.path}: line {number}"), number))

    def add(self, trial: Trial) -> None:
        """Remember a trial, on disk where there is a file."""
        self._keep(trial)
        self._append(asdict(trial))

    def _append(self, values: dict[str, Any]) -> None:
        """Add a line, on disk when this returns."""
        self._lines.append(json.dumps(values))
        if self.path is not None:
            with replacing(self.path) as file:
                file.writelines(f"{line}\n" for line in self._lines)

    def _keep(self, trial: Trial) -> None:
        self.trials[trial.n_components, trial.repetition] = trial

    def _read(self, values: dict[str, Any], number: int) -> Trial:
        """The trial of a line, every value of it a number."""
        known: dict[str, Any] = {}
        for name in (field.name for field in fields(Trial)):
            if name not in values:
                raise InvalidInputError(f"{self.path}: line {number} lacks {name!r}")
            value = values[name]
            pair = name == "n_components" and isinstance(value, list) and len(value) == 2
            missing = value is None and name in MAY_BE_NONE
            wanted = (int,) if name in COUNTS else (int, float)
            if not missing and not all(
                type(part) in wanted and abs(part) <= LARGEST and not (pair and part < 1)
                for part in (value if pair else [value])
            ):
                raise InvalidInputError(f"{self.path}: line {number}: {name} is {str(value)[:40]}")
            known[name] = tuple(value) if pair else value
        return Trial(**known)


def _read_lines(path: Path) -> list[str]:
    if is_special(path):
        raise InvalidInputError(f"{path} is a device or a pipe; name a file for results")
    return path.read_text("utf-8", "replace").splitlines() if path.exists() else []
