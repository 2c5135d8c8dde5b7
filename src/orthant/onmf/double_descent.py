"""Block coordinate descent with both factors orthogonal: exact in each half, never losing."""

from __future__ import annotations

import numpy as np

from orthant.engine.points import Samples, winners_only
from orthant.files.checkpoint import Checkpoint, Step
from orthant.numerics.arrays import Array, divided
from orthant.onmf.solution import Solution
from orthant.progress import announce


def descend_double(
    points: Samples, form: Array, *, max_iter: int, tol: float, step: Step | None = None
) -> Solution:
    """Improve components with disjoint supports until a sweep gains less than ``tol``.

    One sweep gives every row to the component that captures most of it; then every coordinate
    goes to the component for which it matters most, with its best value. Each half is the exact
    minimizer given the other, so the error never rises and supports stay disjoint. ``tol`` is
    relative to the error.

    The components passed in may overlap; the first sweep separates them, and every later one
    reads the data once whatever the number of components. ``step`` may know how far an earlier
    attempt came.
    """
    step = step or Checkpoint().next_step()
    if step.finished:
        return Solution(step.arrays["form"], step.history[-1], step.history)
    total = float(points.weights.sum())
    history = list(step.history)
    form = step.arrays["form"] if step.begun else form
    while True:
        sweep = points.sweep_directions(form, by_point=False, disjoint=len(history) > 0)
        split, captured = split_by_energy(sweep.form, sweep.captured)
        gained = captured - history[-1] if history else np.inf
        if gained < 0:  # the last components were as good as this arithmetic can tell
            break
        history.append(captured)
        announce("sweep", max(0.0, 1.0 - captured / total))
        form = split
        if len(history) >= max_iter or gained <= tol * (total - captured):
            break
        step.keep(tuple(history), form=form)
    step.finish(tuple(history), form=form)
    return Solution(form, history[-1], tuple(history))


def split_by_energy(sums: Array, squares: Array) -> tuple[Array, float]:
    """Give every coordinate to one component, and how much energy all then capture.

    Parameters
    ----------
    sums
        (k, m) sum over the rows of each component of scale times row.
    squares
        (k,) sum of the squared scales. With these scales coordinate h of component s is best at
        ``sums / squares`` and then captures ``sums^2 / squares``.
    """
    roots = winners_only(divided(sums, np.sqrt(squares)[:, None]))
    return divided(roots, np.sqrt(squares)[:, None]), float(np.square(roots).sum())
