"""Exact block coordinate descent: assign all points, update all directions, never lose.

Over samples or features an update is one power step on the points of a direction. Over both every
coordinate is then given to one direction, so that supports stay disjoint. The loop around the
updates is that of `kmeans/alternation.py`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from orthant.engine.points import DirectionSweep, Points, square_lengths, winners_only
from orthant.files.checkpoint import Checkpoint, Step
from orthant.kmeans.alternation import Update, alternate, move_idle
from orthant.numerics.arrays import Array, divide
from orthant.onmf.solution import Solution, errors_of

SETTLED = "settled"


def descend(
    points: Points, directions: Array, *, max_iter: int, tol: float, step: Step | None = None
) -> Solution:
    """Improve directions (k, m) until a sweep lowers the error by less than ``tol`` of itself.

    It also ends when the directions have settled: when what one more power step is sure to gain,
    whatever points might still change sides, is less than that.

    One sweep gives every point to the direction that captures most of it (the exact minimizer
    over assignments) and replaces every direction by one power step on its points (the exact
    minimizer over directions for the scales just found). Neither can raise the error.

    Directions that win no point are moved to the points captured worst. ``step`` may know how far
    an earlier attempt came.

    Where components are the directions themselves and the descent has come to its end, the
    solution is what was swept last, with that sweep: publishing it takes no further read.
    """
    step = step or Checkpoint().next_step()
    sweep = None
    if not step.finished:
        powers = _PowerSteps(points)
        found = alternate(powers, directions, max_iter=max_iter, tol=tol, step=step)
        last = found.last
        if found.converged and points.components_are_directions and last.sweep.unit is not None:
            step.finish(found.history, SETTLED, vectors=last.sweep.unit)
            sweep = last.sweep if points.sweeps_are_final else None
        else:
            step.finish(found.history, vectors=last.vectors)
    return _solution(points, step, sweep)


def descend_disjoint(
    points: Points, directions: Array, *, max_iter: int, tol: float, step: Step | None = None
) -> Solution:
    """Improve directions (k, m) with disjoint supports until a sweep gains less than ``tol``.

    One sweep gives every row to the direction that captures most of it; then every coordinate
    goes to the direction for which it matters most, with its best value. Each half is the exact
    minimizer given the other, so the error never rises and supports stay disjoint.

    The directions passed in may overlap; the first sweep separates them, and every later one
    reads the data once whatever their number.
    """
    step = step or Checkpoint().next_step()
    if not step.finished:
        splits = _Splits(points, separate=step.begun)
        found = alternate(splits, directions, max_iter=max_iter, tol=tol, step=step)
        step.finish(found.history, vectors=found.last.vectors)
    return _solution(points, step)


def _solution(points: Points, step: Step, sweep: DirectionSweep | None = None) -> Solution:
    return Solution(
        step.arrays["vectors"],
        step.history[-1],
        errors_of(step.history, points.total),
        n_sweeps=len(step.history),
        swept_last=step.text == SETTLED,
        sweep=sweep,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _PowerStep(Update):
    """One sweep by directions, and one power step of each on the points it has won."""

    sweep: DirectionSweep


class _PowerSteps:
    """Directions towards the top singular vectors of what they win."""

    name = "sweep"

    def __init__(self, points: Points) -> None:
        self._points, self.total = points, points.total

    def update(self, vectors: Array) -> _PowerStep:
        points = self._points
        sweep = points.sweep_directions(vectors, by_point=points.sweeps_are_final)
        captured = float(sweep.captured.sum())
        # |S|^2 / w is what the next direction captures of its points at the least.
        least = float(divide(square_lengths(sweep.sums), sweep.captured).sum())
        return _PowerStep(
            captured=captured, vectors=sweep.sums, next_gain=least - captured, sweep=sweep
        )

    def reuse_idle(self, swept: Array, update: _PowerStep) -> bool:
        idle = np.flatnonzero(update.sweep.captured <= 0)
        if len(idle) == 0:
            return False
        points = self._points
        missed = points.missed(points.sweep_directions(swept))
        least = 1e-9 * points.total / len(missed)
        return move_idle(update.vectors, idle, missed, least, points.at)

    def mark(self, update: _PowerStep) -> str:
        return ""


class _Splits:
    """Directions that share no coordinate."""

    name = "sweep"

    def __init__(self, points: Points, separate: bool) -> None:
        self._points, self.total = points, points.total
        self._separate = separate  # whether the next directions share no coordinate

    def update(self, vectors: Array) -> Update:
        sweep = self._points.sweep_directions(vectors, by_point=False, disjoint=self._separate)
        self._separate = True
        directions, captured = split_by_energy(sweep.sums, sweep.captured)
        return Update(captured=captured, vectors=directions)

    def reuse_idle(self, swept: Array, update: Update) -> bool:
        """Fewer blocks may be better: nothing is moved."""
        return False

    def mark(self, update: Update) -> str:
        return ""


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
