"""Solution: what an algorithm has found and how, from its first directions to the result."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np

from orthonmf.alternation import Update, alternate, by_name, errors_of, vectors_of
from orthonmf.certificate import NOTHING_PROMISED, Promise
from orthonmf.checkpoint import Checkpoint, Step
from orthonmf.engine.matrix import Matrix
from orthonmf.engine.points import DirectionSweep
from orthonmf.typing import Array

# Why components may be left over: what happened, not what must be so.
UNUSED = "no point went to the others; the data may hold no more distinct directions"
MERGED = "weight reduction, grouping and the coordinate split left nothing to the others"
# Steps 2 and 3 of the paper.
SEPARATION = ("weight reduction", "grouping", "coordinate split")
ZERO = "X is zero wherever it has weight"


@dataclass(frozen=True, slots=True)
class CoreSolution:
    """Groups of columns, and what groups of rows have to do with them."""

    groups: Array  # (l, m) of unit length, no two with a column in common
    core: Array  # (k, l)

    @property
    def components(self) -> Array:
        """What the rows of every group are multiples of, (k, m)."""
        return self.core @ self.groups

    def any(self) -> bool:
        """Whether there is anything but zeros."""
        return bool(self.core.any())


@dataclass(frozen=True, slots=True)
class Solution:
    """Directions, what they capture, and how they came about."""

    directions: Any  # (k, m) of any length, as the points hold them, or a `CoreSolution`
    captured: float = 0.0  # energy, when every point goes to its best direction
    history: tuple[float, ...] = ()  # relative squared error after each sweep, never rising
    n_sweeps: int = 0  # that assigned all points, on all ways that were tried
    steps: tuple[str, ...] = ()  # their names
    promise: Promise = NOTHING_PROMISED  # the ratio known before the data were seen
    packed: float = 0.0  # no squared error is below this, by a packing that came with the fit
    unused: str = UNUSED  # why components may be left over
    swept_last: bool = False  # whether the last sweep was made by these very directions
    sweep: DirectionSweep | None = None  # that sweep, where it is known
    # In the geometry of X, of any length, once the search is over: (k, m), and with a core the
    # groups of columns (l, m) that they are made of.
    components: Array = field(default_factory=partial(np.zeros, (0, 0)))
    groups: Array | None = None


def descend_by(
    update: Callable[[Any], Update],
    start: Any,
    *,
    total: float,
    max_iter: int,
    tol: float,
    step: Step | None = None,
) -> Solution:
    """What updates from a start end with; ``step`` may know how far an earlier attempt came."""
    step = step or Checkpoint().next_step()
    if not step.finished:
        alternated = alternate(update, start, total=total, max_iter=max_iter, tol=tol, step=step)
        step.finish(alternated.history, **by_name(alternated.last.vectors))
    return Solution(
        vectors_of(step, start),
        step.history[-1],
        errors_of(step.history, total),
        n_sweeps=len(step.history),
    )


def pad(vectors: Array, count: int) -> Array:
    """Vectors with as many rows as wanted, the last ones zero: groups that are empty so far."""
    return np.concatenate([vectors, np.zeros((count - len(vectors), vectors.shape[1]))])


def solve_zero(matrix: Matrix, promise: Promise) -> Solution:
    """No components for a matrix without energy."""
    nothing = np.zeros((0, matrix.shape[1]))
    why = ZERO if matrix.complete else "nothing but zeros is observed"
    return Solution(
        nothing, steps=("zero matrix",), promise=promise, unused=why, components=nothing
    )
