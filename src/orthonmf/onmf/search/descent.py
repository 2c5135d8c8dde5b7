"""Descent over one side: assign all points, update all directions, never lose.

Both happen in one read, the sweep: `Kernel.sweep` in `engine/kernels/interface.py`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from orthonmf.alternation import Method, Update, alternate, errors_of
from orthonmf.checkpoint import Checkpoint, Step
from orthonmf.engine.points import DirectionSweep, Points, move_idle
from orthonmf.onmf.solution import Solution
from orthonmf.typing import Array
from orthonmf.vectors import divide, square_lengths

SETTLED = "settled"  # text of a step whose directions are those of its last sweep


def descend(
    points: Points,
    directions: Array,
    *,
    max_iter: int,
    tol: float,
    step: Step | None = None,
    first: DirectionSweep | None = None,
) -> Solution:
    """Improve directions (k, m) until a sweep lowers the error by less than ``tol`` of itself.

    It also ends when the directions have settled: when what one more power update is sure to gain,
    whatever points might still change sides, is less than that.

    One sweep gives every point to the direction that captures most of it (the exact minimizer
    over assignments) and replaces every direction by one power update on its points (the exact
    minimizer over directions for the scales just found). Neither can raise the error.

    Directions that win no point are moved to the points captured worst. ``step`` may know how far
    an earlier attempt came; ``first`` is a sweep by the given directions, where that is known.

    Where components are the directions themselves and the descent has come to its end, the
    solution is what was swept last, with that sweep: publishing it takes no further read.
    """
    step = step or Checkpoint().next_step()
    sweep = None
    if not step.finished:
        powers = _Powers(points, None if step.begun else first)
        alternated = alternate(powers, directions, max_iter=max_iter, tol=tol, step=step)
        last = alternated.last
        if (
            alternated.converged
            and points.components_are_directions
            and last.sweep.unit is not None
        ):
            swept = step.arrays["vectors"] if step.begun else directions
            step.finish(alternated.history, SETTLED, vectors=last.sweep.unit, swept=swept)
            sweep = last.sweep if points.sweeps_are_final else None
        else:
            step.finish(alternated.history, vectors=last.vectors)
    elif step.text == SETTLED and points.sweeps_are_final:
        # By the same vectors: those of length 1 may change when they are brought to it again.
        sweep = points.sweep_directions(step.arrays["swept"])
    return solution_of(points, step, sweep)


def solution_of(points: Points, step: Step, sweep: DirectionSweep | None = None) -> Solution:
    """What a finished step of descent has found, and its last sweep where that is known."""
    return Solution(
        step.arrays["vectors"],
        step.history[-1],
        errors_of(step.history, points.total),
        n_sweeps=len(step.history),
        swept_last=step.text == SETTLED,
        sweep=sweep,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _PowerUpdate(Update[Array]):
    """One sweep by directions, and one power update of each on the points it has won."""

    sweep: DirectionSweep


class _Powers(Method[Array, _PowerUpdate]):
    """Directions towards the top singular vectors of what they win."""

    def __init__(self, points: Points, first: DirectionSweep | None) -> None:
        self._points, self.total, self._first = points, points.total, first

    def update(self, vectors: Array) -> _PowerUpdate:
        points = self._points
        by_point = points.sweeps_are_final
        sweep = self._first or points.sweep_directions(vectors, by_point=by_point)
        self._first = None
        captured = float(sweep.captured.sum())
        # |S|^2 / w is what the next direction captures of its points at the least.
        least = float(divide(square_lengths(sweep.sums), sweep.captured).sum())
        return _PowerUpdate(
            captured=captured, vectors=sweep.sums, next_gain=least - captured, sweep=sweep
        )

    def reuse_idle(self, swept: Array, update: _PowerUpdate) -> bool:
        idle = np.flatnonzero(update.sweep.captured <= 0)
        if len(idle) == 0:
            return False
        points = self._points
        missed = points.find_missed(points.sweep_directions(swept))
        least = 1e-9 * points.total / len(missed)
        return move_idle(update.vectors, idle, missed, least, points.at)
