"""Checkpoint: what a fit has found so far, on disk after every sweep and step, so that it goes on.

A fit is a sequence of steps: directions are drawn, a descent is run, points are moved. A step that
is finished is never repeated, an unfinished descent goes on where it stood, and everything
between steps is cheap and comes out the same again. So a fit that goes on ends with the bits of
one that was never broken off. What is kept is small: some k x m arrays, not the data.
Steps say what they keep by `Step.keep` and `finish` (`checkpoint.py`); what must agree for a
fit to go on is said by `with_checkpoint` (`fitting.py`).
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from orthonmf.checkpoint import Checkpoint, Step
from orthonmf.errors import InvalidInputError
from orthonmf.files.archive import Archive, open_archive, write_archive
from orthonmf.files.whole_files import is_special
from orthonmf.typing import Array

FORMAT = "orthonmf checkpoint 4"
MOST_BYTES = 2**34


class _Arrays(dict[str, Array]):
    """Arrays of a file by name; one that is not there is damage."""

    def __missing__(self, name: str) -> Array:
        raise InvalidInputError(
            f"the checkpoint lacks the array {name!r} of a step; delete the file to start again"
        )


class FileCheckpoint(Checkpoint):
    """Steps kept in a file, which is whole at any moment."""

    def __init__(
        self,
        path: Path,
        rng: np.random.Generator,
        identity: Mapping[str, Any],
        seed: int | None = None,
        *,
        seeded: bool,
    ) -> None:
        """Begin a file, or go on with one of the same fit.

        ``identity`` says, in JSON values, what must agree for the bits to be the same. Without
        ``seeded`` the random numbers of the file are taken whatever ``rng`` holds, and ``seed``,
        which ``rng`` was made of, is that of the file.
        """
        self.path, self._rng, self.seed = path, rng, seed
        self._identity = dict(identity)
        self._steps: list[Step] = []
        self._next = 0
        self._first = self.generator_state()
        if path.exists():
            self._read(seeded)

    def next_step(self) -> Step:
        """The step that comes next; random numbers go on from where it left them."""
        if self._next == len(self._steps):
            self._steps.append(Step(self))
        step = self._steps[self._next]
        self._next += 1
        if step.finished:
            self._rng.bit_generator.state = step.generator
        return step

    def generator_state(self) -> Any:
        """The state of the fit's random numbers as JSON values."""
        return json.loads(json.dumps(self._rng.bit_generator.state, default=np.ndarray.tolist))

    def save(self) -> None:
        """Write down all steps; the file before stays until the new one is whole."""
        begun = [step for step in self._steps if step.begun]
        header = {
            "format": FORMAT,
            "identity": self._identity,
            "generator": self._first,
            "seed": self.seed,
            "steps": [
                {
                    "finished": step.finished,
                    "history": list(step.history),
                    "text": step.text,
                    "generator": step.generator,
                    "arrays": list(step.arrays),
                }
                for step in begun
            ],
        }
        arrays = {
            f"{number} {name}": array
            for number, step in enumerate(begun)
            for name, array in step.arrays.items()
        }
        write_archive(self.path, header, arrays, compressed=False)

    def _read(self, seeded: bool) -> None:
        if is_special(self.path):
            raise InvalidInputError(
                f"the checkpoint {self.path} is a device or a pipe; name a file for it"
            )
        remedy = "delete the file to start again"
        try:
            with open_archive(self.path, MOST_BYTES) as archive:
                header = archive.header
                if header.get("format") != FORMAT:
                    raise InvalidInputError(f"it is no {FORMAT}")
                self._steps = list(_steps(self, header["steps"], archive))
            identity, first = dict(header["identity"]), header["generator"]
            seed = header["seed"]
            if seed is not None and (type(seed) is not int or seed < 0):
                raise ValueError(f"its seed is {seed!r}")
            trial = type(self._rng.bit_generator)()
            for state in (first, *(step.generator for step in self._steps if step.finished)):
                trial.state = state  # raises if random numbers cannot go on from there
        except (LookupError, TypeError, ValueError, AttributeError, ArithmeticError) as error:
            raise InvalidInputError(
                f"the checkpoint {self.path} cannot be read: {error}; {remedy}"
            ) from error
        differences = [
            f"{name} was {identity.get(name)!r}, now it is {self._identity.get(name)!r}"
            for name in sorted(identity.keys() | self._identity.keys())
            if identity.get(name) != self._identity.get(name)
        ]
        if seeded and first != self._first:
            differences.append("random_state differs")
        if differences:
            raise InvalidInputError(
                f"the checkpoint {self.path} is of another fit: {differences[0]}; {remedy}, or "
                "name another one"
            )
        self._first, self.seed = first, seed
        self._rng.bit_generator.state = first


def _steps(owner: Checkpoint, described: list[Any], archive: Archive) -> Iterator[Step]:
    for number, step in enumerate(described):
        arrays = _Arrays({name: archive[f"{number} {name}"] for name in step["arrays"]})
        if not all(np.isfinite(array).all() for array in arrays.values()):
            raise ValueError("its arrays hold NaN or infinity")
        history = tuple(float(value) for value in step["history"])
        if type(step["finished"]) is not bool or type(step["text"]) is not str:
            raise ValueError("a step does not say how far it is")
        yield Step(owner, step["finished"], history, arrays, step["text"], step["generator"])
