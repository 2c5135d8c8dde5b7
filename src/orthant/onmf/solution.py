"""Solution: what an algorithm has found and how, from its first directions to the result."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial

import numpy as np

from orthant.certificate import NOTHING_PROMISED, Promise
from orthant.engine.matrix import Matrix
from orthant.engine.points import DirectionSweep
from orthant.numerics.arrays import Array

# Why components may be left over: what happened, not what must be so.
UNUSED = "no point went to the others; the data may hold no more distinct directions"
MERGED = "weight reduction, grouping and the coordinate split left nothing to the others"
# Steps 2 and 3 of the paper.
SEPARATION = ("weight reduction", "grouping", "coordinate split")
ZERO = "X is zero wherever it has weight"


@dataclass(frozen=True, slots=True)
class Solution:
    """Directions, what they capture, and how they came about.

    Attributes
    ----------
    directions
        (k, m) as the points hold them, of any length.
    captured
        Energy captured when every point goes to its best direction; more is better.
    history
        Relative squared error after each sweep on the way here, never rising.
    n_sweeps
        Sweeps that assigned all points, on all ways that were tried.
    steps
        Names of the steps.
    promise
        The ratio known before the data were seen.
    packed
        No squared error is below this, by a packing of pairs that came with the fit for free.
    unused
        Why components may be left over.
    swept_last
        Whether the last sweep was made by these very directions.
    sweep
        That sweep, where it is known.
    components
        (k, m) in the geometry of X, of any length, once the search is over.
    """

    directions: Array
    captured: float = 0.0
    history: tuple[float, ...] = ()
    n_sweeps: int = 0
    steps: tuple[str, ...] = ()
    promise: Promise = NOTHING_PROMISED
    packed: float = 0.0
    unused: str = UNUSED
    swept_last: bool = False
    sweep: DirectionSweep | None = None
    components: Array = field(default_factory=partial(np.zeros, (0, 0)))


def solve_zero(matrix: Matrix, promise: Promise) -> Solution:
    """No components for a matrix without energy."""
    nothing = np.zeros((0, matrix.shape[1]))
    why = ZERO if matrix.complete else "nothing but zeros is observed"
    return Solution(
        nothing, steps=("zero matrix",), promise=promise, unused=why, components=nothing
    )


@dataclass(frozen=True, slots=True)
class Start:
    """First directions, the step that made them, and what starting from them promises."""

    step: str
    directions: Array  # (k, m)
    promise: Promise = NOTHING_PROMISED


@dataclass(frozen=True, slots=True)
class Escape:
    """A way out of a local optimum: other directions to refine.

    They are made from the best solution so far and from those of all starts, best first.
    """

    step: str
    propose: Callable[[Solution, list[Solution]], Array]
