"""Descent over one side: assign all points, update all directions, never lose.

Both happen in one read, the sweep: `Kernel.sweep` in `engine/kernels/interface.py`.
"""

from __future__ import annotations

import numpy as np

from orthonmf.alternation import Update, alternate, errors_of
from orthonmf.checkpoint import Checkpoint, Step
from orthonmf.engine.points import DirectionSweep, Points, move_idle
from orthonmf.onmf.solution import Solution
from orthonmf.typing import Array

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
        known = None if step.begun else first

        def update(vectors: Array) -> Update:
            nonlocal known
            updated, known = _power_update(points, vectors, known), None
            return updated

        alternated = alternate(
            update, directions, total=points.total, max_iter=max_iter, tol=tol, step=step
        )
        last = alternated.last
        settled = alternated.converged and points.components_are_directions
        if settled and last.sweep.unit is not None:
            swept = step.arrays["vectors"] if step.begun else directions
            step.finish(alternated.history, SETTLED, vectors=last.sweep.unit, swept=swept)
            sweep = last.sweep if points.sweeps_are_final else None
        else:
            step.finish(alternated.history, vectors=last.vectors)
    elif step.text == SETTLED and points.sweeps_are_final:
        # By the same vectors: those of length 1 may change when they are brought to it again.
        sweep = points.sweep_directions(step.arrays["swept"])
    return Solution(
        step.arrays["vectors"],
        step.history[-1],
        errors_of(step.history, points.total),
        n_sweeps=len(step.history),
        swept_last=step.text == SETTLED,
        sweep=sweep,
    )


def _power_update(points: Points, directions: Array, known: DirectionSweep | None) -> Update:
    """One sweep by directions (k, m), and one power update of each on the points it has won.

    ``known`` is that sweep, where it was made before.
    """
    sweep = known or points.sweep_directions(directions, by_point=points.sweeps_are_final)
    captured = float(sweep.captured.sum())

    def reuse_idle() -> bool:
        idle = np.flatnonzero(sweep.captured <= 0)
        if len(idle) == 0:
            return False
        missed = points.find_missed(points.sweep_directions(directions))
        least = 1e-9 * points.total / len(missed)
        return move_idle(sweep.sums, idle, missed, least, points.at)

    return Update(
        captured=captured,
        vectors=sweep.sums,
        next_gain=float(sweep.captured_next.sum()) - captured,
        sweep=sweep,
        reuse_idle=reuse_idle,
    )
