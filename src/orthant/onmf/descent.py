"""Exact block coordinate descent: assign all points, update all directions, never lose."""

from __future__ import annotations

import numpy as np

from orthant.engine.points import Points
from orthant.files.checkpoint import Checkpoint, Step
from orthant.numerics.arrays import Array, divided
from orthant.onmf.escapes import missed_energy
from orthant.onmf.solution import Solution
from orthant.progress import announce

SETTLED = "settled"


def descend(
    points: Points, form: Array, *, max_iter: int, tol: float, step: Step | None = None
) -> Solution:
    """Improve directions until a sweep lowers the error by less than ``tol`` of itself.

    It also ends when the directions have settled: when one more power step is sure to gain no
    more than that, whatever points might still change sides.

    One sweep gives every point to the direction that captures most of it (the exact minimizer
    over assignments) and replaces every direction by one power step on its points (the exact
    minimizer over directions for the scales just found). Neither can raise the error.

    Directions that win no point are moved to the points captured worst: what is unused cannot be
    missed. ``step`` may know how far an earlier attempt came.

    Where components are the directions themselves and the descent has come to its end, the
    solution is what was swept last, with that sweep: publishing it takes no further read, and
    the step that is not made would have gained no more than ``tol``.
    """
    step = step or Checkpoint().next_step()
    if step.finished:
        settled = step.text == SETTLED
        return Solution(step.arrays["form"], step.history[-1], step.history, settled)
    total = float(points.weights.sum())
    history = list(step.history)
    if step.begun:
        form = step.arrays["form"]
    by_point = points.sweeps_are_final
    while True:
        before = form
        sweep = points.sweep_directions(form, by_point=by_point)
        captured = float(sweep.captured.sum())
        gained = captured - history[-1] if history else np.inf
        settled = gained < 0  # the last directions were as good as this arithmetic can tell
        history.append(max(captured, history[-1]) if history else captured)
        if settled:
            break
        announce("sweep", max(0.0, 1.0 - captured / total))
        form = sweep.form
        idle = np.flatnonzero(sweep.captured <= 0)
        moved = len(idle) > 0 and len(history) < max_iter and _reuse(points, form, idle, before)
        # |S|^2 / w is what the next direction captures of its points at the least.
        squares = np.einsum("sh,sh->s", form, form)
        gained = min(gained, float(divided(squares, sweep.captured).sum()) - captured)
        # What is captured may exceed the total by rounding.
        settled = not moved and gained <= tol * max(total - captured, 0.0)
        if settled or len(history) >= max_iter:
            break
        step.keep(tuple(history), form=form)
    if settled and points.components_are_directions and sweep.unit is not None:
        step.finish(tuple(history), SETTLED, form=sweep.unit)
        known = sweep if by_point else None
        return Solution(sweep.unit, history[-1], tuple(history), True, known)
    step.finish(tuple(history), form=form)
    return Solution(form, history[-1], tuple(history))


def _reuse(points: Points, form: Array, idle: Array, before: Array) -> bool:
    """Move idle directions, in place, to the points of which most was missed before."""
    missed = missed_energy(points, points.sweep_directions(before))
    worth = np.flatnonzero(missed > 1e-9 * points.weights.sum() / len(missed))
    chosen = worth[np.argsort(-missed[worth], kind="stable")][: len(idle)]
    form[idle[: len(chosen)]] = points.at(chosen)
    return len(chosen) > 0
