"""Exact block coordinate descent: assign all points, update all directions, never lose."""

from __future__ import annotations

import numpy as np

from orthant.algorithms.escapes import missed_energy
from orthant.algorithms.solution import Solution
from orthant.arrays import Array
from orthant.checkpoint import Checkpoint, Step
from orthant.engine.points import Points, divided
from orthant.progress import announce


def descend(
    points: Points, form: Array, *, max_iter: int, tol: float, step: Step | None = None
) -> Solution:
    """Improve directions until a sweep lowers the error by less than ``tol`` of itself.

    It also ends when the directions have settled: when one more power step is sure to gain no
    more than that, whatever points might still change sides.

    One sweep gives every point to the direction that captures most of it (the exact minimiser
    over assignments) and replaces every direction by one power step on its points (the exact
    minimiser over directions for the scales just found). Neither can raise the error.

    Directions that win no point are moved to the points captured worst: what is unused cannot be
    missed. ``step`` may know how far an earlier attempt came.
    """
    step = step or Checkpoint().next_step()
    if step.finished:
        return Solution(step.arrays["form"], step.history[-1], step.history)
    total = float(points.weights.sum())
    history, energies = list(step.history), np.zeros(len(form))
    if step.begun:
        form, energies = step.arrays["form"], step.arrays["energies"]
    while True:
        before = form
        sweep = points.sweep_directions(form, by_point=False)
        captured = float(sweep.captured.sum())
        gained = captured - history[-1] if history else np.inf
        if gained < 0:  # the last directions were as good as this arithmetic can tell
            break
        history.append(captured)
        announce("sweep", max(0.0, 1.0 - captured / total))
        form, energies = sweep.form, sweep.captured
        idle = np.flatnonzero(sweep.captured <= 0)
        moved = len(idle) > 0 and len(history) < max_iter and _reuse(points, form, idle, before)
        # |S|^2 / w is what the next direction captures of its points at the least.
        squares = np.einsum("sh,sh->s", form, form)
        gained = min(gained, float(divided(squares, energies).sum()) - captured)
        if len(history) >= max_iter or (not moved and gained <= tol * (total - captured)):
            break
        step.keep(tuple(history), form=form, energies=energies)
    # The order of what they capture is that of the published components: no need to sort later.
    order = np.argsort(-energies, kind="stable")
    step.finish(tuple(history), form=form[order])
    return Solution(form[order], history[-1], tuple(history))


def _reuse(points: Points, form: Array, idle: Array, before: Array) -> bool:
    """Move idle directions, in place, to the points of which most was missed before."""
    missed = missed_energy(points, points.sweep_directions(before))
    worth = np.flatnonzero(missed > 1e-9 * points.weights.sum() / len(missed))
    chosen = worth[np.argsort(-missed[worth], kind="stable")][: len(idle)]
    form[idle[: len(chosen)]] = points.at(chosen)
    return len(chosen) > 0
