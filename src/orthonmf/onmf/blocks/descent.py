"""Descent with disjoint supports: rows to blocks, then every column to one block."""

from __future__ import annotations

import numpy as np

from orthonmf.alternation import Update
from orthonmf.checkpoint import Step
from orthonmf.engine.points import Points
from orthonmf.onmf.solution import Solution, descend_by
from orthonmf.typing import Array
from orthonmf.vectors import divide, winners_only


def descend_disjoint(
    points: Points, directions: Array, *, max_iter: int, tol: float, step: Step | None = None
) -> Solution:
    """Improve directions (k, m) with disjoint supports until a sweep gains less than ``tol``.

    One sweep gives every row to the direction that captures most of it; then `split_by_energy`
    gives every coordinate to the direction for which it matters most, with its best value. Each
    half is the exact minimizer given the other, so the error never rises and supports stay
    disjoint.

    The directions passed in may overlap; the first sweep separates them, and every later one
    reads the data once whatever their number.
    """

    def split(directions: Array) -> Update:
        # Fewer directions may be better, so no idle one is moved.
        sweep = points.sweep_directions(directions, by_point=False)
        apart, captured = split_by_energy(sweep.sums, sweep.captured)
        return Update(captured=captured, vectors=apart)

    return descend_by(split, directions, total=points.total, max_iter=max_iter, tol=tol, step=step)


def split_by_energy(sums: Array, squares: Array) -> tuple[Array, float]:
    """Give every coordinate to one direction, and how much energy all then capture.

    Parameters
    ----------
    sums
        (k, m) sum over the rows of each direction of scale times row.
    squares
        (k,) sum of the squared scales. With these scales coordinate h of direction s is best at
        ``sums / squares`` and then captures ``sums^2 / squares``.
    """
    roots = winners_only(divide(sums, np.sqrt(squares)[:, None]))
    return divide(roots, np.sqrt(squares)[:, None]), float(np.square(roots).sum())
