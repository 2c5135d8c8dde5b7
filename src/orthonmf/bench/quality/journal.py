"""Fits as JSON lines, so that an interrupted table goes on with those it has.

A file holds the fits of one state of the code: errors and seconds of two states in one row would
be those of neither.
"""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

import orthonmf
from orthonmf.bench.quality.best_known import Case
from orthonmf.bench.quality.fits import Fit
from orthonmf.errors import InvalidInputError
from orthonmf.files.journal import Journal, parse_object
from orthonmf.numerics.digest import digest_bytes
from orthonmf.reproduction.environment import describe_machine

FITS = "fits.jsonl"
TITLE = "orthonmf bench quality"
VERSION = 1
BEGINNING = f'{{"title": "{TITLE}"'
LIBRARIES = ("orthonmf", "numpy", "scipy", "scikit-learn")
ABOVE = {"cli", "bench", "reproduction", "report"}  # rooms that show what fits find
Key = tuple[str, str, int, str, int]


class FitJournal:
    """The fits done so far, and the file that they are appended to."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._foreign = f"{path} does not hold fits of {TITLE}; name another folder with --output"
        self._journal = Journal(path, BEGINNING, self._foreign)
        self._fits: dict[Key, Fit] = {}
        if self._journal.lines:
            self._read(self._journal.lines)
        else:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._journal.append(json.dumps(_header()))

    def __len__(self) -> int:
        return len(self._fits)

    def get(self, data: str, case: Case, program: str, seed: int) -> Fit | None:
        """The fit of these, on the matrix with this digest; None if there is none."""
        return self._fits.get(_key(data, case, program, seed))

    def add(self, data: str, case: Case, program: str, seed: int, fit: Fit) -> None:
        """Keep a fit, on disk when this returns."""
        where = {"data": data, **case._asdict(), "program": program, "seed": seed}
        self._journal.append(json.dumps({**where, **asdict(fit)}))
        self._fits[_key(data, case, program, seed)] = fit

    def _read(self, lines: list[str]) -> None:
        header = parse_object(lines[0], self.path, 1)
        if header.get("title") != TITLE:
            raise InvalidInputError(self._foreign)
        different = [name for name, value in _header().items() if header.get(name) != value]
        if different:
            raise InvalidInputError(
                f"{self.path} holds fits of another state ({', '.join(different)} differ); name "
                "another folder with --output, or remove the file to begin again"
            )
        for number, line in enumerate(lines[1:], start=2):
            self._take(parse_object(line, self.path, number), number)

    def _take(self, held: dict[str, Any], number: int) -> None:
        try:
            case = Case(held["name"], held["orthogonal"], int(held["n_components"]))
            key = _key(held["data"], case, held["program"], int(held["seed"]))
            found = held["error"], held["seconds"], held["n_components_found"]
            self._fits[key] = Fit(float(found[0]), float(found[1]), int(found[2]))
        except (KeyError, TypeError, ValueError) as error:
            raise InvalidInputError(
                f"{self.path}: line {number} is damaged ({type(error).__name__}: {error}); remove "
                "the line to have its fit repeated"
            ) from error


def _key(data: str, case: Case, program: str, seed: int) -> Key:
    """Sets are known by their entries: the name of a file may change, or stand for another."""
    return data, case.orthogonal, case.n_components, program, seed


def _header() -> dict[str, Any]:
    versions = describe_machine()
    libraries = {name: versions[name] for name in LIBRARIES}
    return {"title": TITLE, "version": VERSION, **libraries, "code": _digest_of_code()}


def _digest_of_code() -> str:
    """A digest of all code that fits run through."""
    package = Path(orthonmf.__file__).parent
    below = [
        path
        for path in sorted(package.rglob("*.py"))
        if path.relative_to(package).parts[0] not in ABOVE
    ]
    return digest_bytes(*(path.read_bytes() for path in below)).hex()
