"""What a fit keeps of its steps: here nothing, with `files/checkpoint.py` a file."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from orthonmf.typing import Array


@dataclass
class Step:
    """One step of a fit: what it has found so far, and whether it is finished."""

    _owner: Checkpoint
    finished: bool = False
    history: tuple[float, ...] = ()
    arrays: dict[str, Array] = field(default_factory=dict)
    text: str = ""  # what it needs to know later: a name, a reason
    generator: Any = None  # the state of the random numbers when the step was finished

    @property
    def begun(self) -> bool:
        """Whether there is anything to go on from."""
        return bool(self.arrays)

    def keep(self, history: tuple[float, ...], text: str = "", **arrays: Array) -> None:
        """Note where the step stands."""
        # In the order in which a file gives them back: products round by how arrays are stored.
        in_rows = {name: np.ascontiguousarray(array) for name, array in arrays.items()}
        self.history, self.text, self.arrays = history, text, in_rows
        self._owner.save()

    def finish(self, history: tuple[float, ...] = (), text: str = "", **arrays: Array) -> None:
        """Note the outcome of the step."""
        self.finished = True
        self.generator = self._owner.generator_state()
        self.keep(history, text, **arrays)


class Checkpoint:
    """The steps of a fit in order. This one keeps nothing; a ``FileCheckpoint`` does."""

    def next_step(self) -> Step:
        """The step that comes next, as far as it is known."""
        return Step(self)

    def generator_state(self) -> Any:
        """The state of the fit's random numbers."""
        return None

    def save(self) -> None:
        """Write down all steps."""
