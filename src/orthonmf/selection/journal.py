"""The trials of a selection as JSON lines, so that an interrupted one can go on."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any

from orthonmf.engine.sources import digest_rows
from orthonmf.errors import InvalidInputError
from orthonmf.files.journal import Journal, parse_object
from orthonmf.inputs.parameters import draw_seed
from orthonmf.selection.trial import Place, Trial

TITLE = "orthonmf select_n_components"
VERSION = 1
BEGINNING = f'{{"title": "{TITLE}"'  # of the first line
COUNTS = ("n_components", "repetition", "n_components_found")
LARGEST = 2.0**62


class TrialJournal:
    """Trials done so far, and a file they are appended to; without a path nothing is kept."""

    def __init__(self, path: str | os.PathLike[str] | None) -> None:
        self.path = None if path is None else Path(path)
        self.trials: dict[Place, Trial] = {}

    def open(self, data: Any, options: Mapping[str, Any], entropy: int | None) -> int:
        """Read what is there, or start the file; returns the entropy to draw from.

        ``entropy`` is None when the caller has no seed: then that of the file goes on.
        """
        about = {"title": TITLE, "version": VERSION, "data": digest_rows(data), **options}
        foreign = f"{self.path} is not a results file of select_n_components"
        self._journal = Journal(self.path, BEGINNING, foreign)
        if self._journal.lines:
            return self._resume(self._journal.lines, about, entropy, foreign)
        if entropy is None:
            entropy = draw_seed()
        self._journal.append(json.dumps({**about, "entropy": entropy}))
        return entropy

    def _resume(
        self, lines: list[str], about: dict[str, Any], entropy: int | None, foreign: str
    ) -> int:
        header = parse_object(lines[0], self.path, 1)
        found = header.pop("entropy", None)
        if header.get("title") != TITLE or type(found) is not int or found < 0:
            raise InvalidInputError(foreign)
        different = [name for name in about if about[name] != header.get(name)]
        if entropy is not None and entropy != found:
            different.append("random_state")
        if different:
            raise InvalidInputError(
                f"{self.path} holds results of another selection: {', '.join(different)} differ; "
                "name another file, or remove this one"
            )
        for number, line in enumerate(lines[1:], start=2):
            trial = self._trial(parse_object(line, self.path, number), number)
            self.trials[trial.place] = trial
        return found

    def _trial(self, values: dict[str, Any], number: int) -> Trial:
        """The trial of a line, every value of it a number."""
        found: dict[str, Any] = {}
        for name in (f.name for f in fields(Trial)):
            if name not in values:
                raise InvalidInputError(f"{self.path}: line {number} lacks {name!r}")
            value = values[name]
            if name == "n_components" and _is_pair(value):
                found[name] = tuple(value)
                continue
            missing = value is None and name == "lower_bound"
            wanted = (int,) if name in COUNTS else (int, float)
            if not missing and (type(value) not in wanted or not abs(value) <= LARGEST):
                shown = str(value)[:40]
                raise InvalidInputError(f"{self.path}: line {number}: {name} is {shown}")
            found[name] = value
        return Trial(**found)

    def add(self, trial: Trial) -> None:
        """Remember a trial, on disk where there is a file."""
        self.trials[trial.place] = trial
        self._journal.append(json.dumps(asdict(trial)))


def _is_pair(value: Any) -> bool:
    """Whether these are two numbers of groups."""
    return (
        isinstance(value, list)
        and len(value) == 2
        and all(type(one) is int and 0 < one <= LARGEST for one in value)
    )
