"""A results file: one JSON line per trial, so that an interrupted selection can go on."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any

import numpy as np

from orthant.errors import InvalidInputError
from orthant.selection.trial import Trial

TITLE = "orthant select_n_components"
VERSION = 1


def fingerprint(data: Any) -> str:
    """A digest of an array or a CSR array."""
    state = hashlib.blake2b(digest_size=16)
    parts = (data,) if isinstance(data, np.ndarray) else (data.data, data.indices, data.indptr)
    state.update(repr((data.shape, str(data.dtype))).encode())
    for part in parts:
        state.update(np.ascontiguousarray(part).view(np.uint8).data)
    return state.hexdigest()


class Journal:
    """Trials done so far, and a file they are appended to; without a path nothing is kept."""

    def __init__(self, path: str | os.PathLike[str] | None) -> None:
        self.path = None if path is None else Path(path)
        self.entropy: int | None = None
        self.trials: dict[tuple[int, int], Trial] = {}

    def open(self, data: Any, options: Mapping[str, Any], entropy: int | None) -> int:
        """Read what is there, or start the file; returns the entropy to draw from.

        ``entropy`` is None when the caller has no seed: then that of the file goes on.
        """
        about = {"title": TITLE, "version": VERSION, "data": fingerprint(data), **options}
        lines = self._complete_lines()
        if lines:
            self._resume(lines, about, entropy)
        if self.entropy is None:
            fresh = np.random.SeedSequence().entropy
            assert isinstance(fresh, int)
            self.entropy = entropy if entropy is not None else fresh
            self._append({**about, "entropy": self.entropy})
        return self.entropy

    def _complete_lines(self) -> list[str]:
        """All lines that were written to their end; what a killed writer left is cut off."""
        if self.path is None or not self.path.exists():
            return []
        content = self.path.read_bytes()
        whole = content.rfind(b"\n") + 1
        if whole < len(content):
            os.truncate(self.path, whole)
        return content[:whole].decode(errors="replace").splitlines()

    def _resume(self, lines: list[str], about: dict[str, Any], entropy: int | None) -> None:
        header = self._parsed(lines[0], 1)
        found = header.pop("entropy", None)
        if header.get("title") != TITLE or not isinstance(found, int):
            raise InvalidInputError(f"{self.path} is not a results file of select_n_components")
        different = [name for name in about if about[name] != header.get(name)]
        if entropy is not None and entropy != found:
            different.append("random_state")
        if different:
            raise InvalidInputError(
                f"{self.path} holds results of another selection: {', '.join(different)} differ; "
                "name another file, or remove this one"
            )
        self.entropy = found
        names = {f.name for f in fields(Trial)}
        for number, line in enumerate(lines[1:], start=2):
            values = self._parsed(line, number)
            try:
                trial = Trial(**{name: values[name] for name in names})
            except KeyError as error:
                raise InvalidInputError(f"{self.path}: line {number} lacks {error}") from error
            self.trials[trial.n_components, trial.repetition] = trial

    def _parsed(self, line: str, number: int) -> dict[str, Any]:
        try:
            values = json.loads(line)
        except ValueError as error:
            raise InvalidInputError(f"{self.path}: line {number} is damaged: {error}") from error
        if not isinstance(values, dict):
            raise InvalidInputError(f"{self.path}: line {number} is no JSON object")
        return values

    def add(self, trial: Trial) -> None:
        """Remember a trial, on disk where there is a file."""
        self.trials[trial.n_components, trial.repetition] = trial
        self._append(asdict(trial))

    def _append(self, values: Mapping[str, Any]) -> None:
        if self.path is not None:
            with open(self.path, "a", encoding="utf-8") as file:
                file.write(json.dumps(values) + "\n")
                file.flush()
                os.fsync(file.fileno())
