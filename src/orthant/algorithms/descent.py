"""Exact block coordinate descent: assign all points, update all directions, never lose."""

from __future__ import annotations

import numpy as np

from orthant.algorithms.escapes import missed_energy
from orthant.algorithms.solution import Solution
from orthant.arrays import Array
from orthant.engine.points import Points, Sweep
from orthant.progress import announce


def descend(points: Points, form: Array, *, max_iter: int, tol: float) -> Solution:
    """Improve directions until a sweep lowers the error by less than ``tol`` of itself.

    One sweep gives every point to the direction that captures most of it (the exact minimiser
    over assignments) and replaces every direction by one power step on its points (the exact
    minimiser over directions for the scales just found). Neither can raise the error.

    Directions that win no point are moved to the points captured worst: what is unused cannot be
    missed.
    """
    total = float(points.weights.sum())
    history: list[float] = []
    while True:
        sweep = points.sweep_directions(form)
        captured = float(sweep.captured.sum())
        gained = captured - history[-1] if history else np.inf
        if gained < 0:  # the last directions were as good as this arithmetic can tell
            break
        history.append(captured)
        announce("sweep", max(0.0, 1.0 - captured / total))
        labels, form = sweep.labels, sweep.form
        idle = np.flatnonzero(sweep.captured <= 0)
        moved = len(idle) > 0 and len(history) < max_iter and _reuse(points, form, idle, sweep)
        if len(history) >= max_iter or (not moved and gained <= tol * (total - captured)):
            break
    return Solution(form, history[-1], tuple(history), labels)


def _reuse(points: Points, form: Array, idle: Array, sweep: Sweep) -> bool:
    """Move idle directions, in place, to the points of which most is missed."""
    missed = missed_energy(points, sweep)
    worth = np.flatnonzero(missed > 1e-9 * points.weights.sum() / len(missed))
    chosen = worth[np.argsort(-missed[worth], kind="stable")][: len(idle)]
    form[idle[: len(chosen)]] = points.at(chosen)
    return len(chosen) > 0
