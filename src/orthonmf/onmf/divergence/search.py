"""The search for groups of rows with a small divergence: starts, moves, escapes, moves.

Every step can be kept by a checkpoint, so that a fit goes on where it was broken off.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial

import numpy as np

from orthonmf.engine.counts import Counts
from orthonmf.onmf.divergence.escapes import ROUNDS, escape
from orthonmf.onmf.divergence.moves import move_rows
from orthonmf.onmf.divergence.starts import SQUARED, draw_labels, label_by_squares
from orthonmf.onmf.divergence.sweeps import (
    FIRST_SHARE,
    Grouping,
    fill_empty,
    sweep_plainly,
    sweep_smoothly,
)
from orthonmf.onmf.options import Options
from orthonmf.progress import announce
from orthonmf.typing import Array

# Starts that are drawn for every one that is asked for, their sweeps, and how many are refined.
DRAWS, START_SWEEPS, FINALISTS = 4, 10, 2
# Fits under the squared error start as well; they are near a good answer, so sweeps begin smoother.
SQUARED_SWEEPS, SQUARED_SHARE = 3, 0.1
# Small data are cheap, and have few rows to draw from.
SMALL, SMALL_DRAWS, SMALL_FINALISTS = 2**14, 16, 8
MOVE_ROUNDS, MOVE_TOL = 6, 1e-4
STEPS = (
    "drawn starts",
    "fits under the squared error",
    "smoothed sweeps",
    "single moves",
    "merge and cut",
)


@dataclass(slots=True)
class GroupSearch:
    """A search on one table of counts; what it has done is told by its fields."""

    counts: Counts
    k: int
    options: Options
    history: list[float] = field(default_factory=list)  # lost shares of what was accepted
    n_sweeps: int = 0

    def run(self, given: Array | None = None) -> Array:
        """Labels (n,) of the best groups found, from drawn starts or from labels that are given."""
        if not self.counts.information > 0:
            return np.zeros(self.counts.shape[0], dtype=np.int64)
        if given is not None:
            best = self._keep("start", partial(self._refine, given))
        else:
            best = self._best_start()
        for _ in range(ROUNDS if self.k > 2 and given is None else 0):
            tried = partial(escape, self.counts, best, self.k, self.options.rng)
            escaped = self._keep("merge and cut", tried)
            if not escaped.cost < best.cost:
                break
            best = escaped
        return self._keep("single moves", partial(self._finish, best.labels)).labels

    def _keep(self, name: str, find: Callable[[], Grouping]) -> Grouping:
        """Groups that are found now, or that the checkpoint has kept."""
        step = self.options.steps.next_step()
        if not step.finished:
            groups = find()
            step.finish((groups.cost, float(groups.n_sweeps)), labels=groups.labels)
        cost, n_sweeps = step.history
        self.n_sweeps += int(n_sweeps)
        lost = cost / self.counts.information
        announce(name, lost)
        self.history.append(min([lost, *self.history[-1:]]))
        return Grouping(step.arrays["labels"].astype(np.int64), cost)

    def _best_start(self) -> Grouping:
        """The best of some starts after smoothed sweeps, the best of those after moves."""
        small = len(self.counts.rows.data) * self.k <= SMALL
        n_starts = self.options.n_init * (SMALL_DRAWS if small else DRAWS)
        starts = [self._keep("start", self._draw) for _ in range(n_starts)]
        starts += [self._keep("start", partial(self._square, values)) for values in SQUARED]
        self.history.clear()  # none of them is accepted yet
        starts.sort(key=lambda start: start.cost)
        finals = [
            self._keep("single moves", partial(self._move, start.labels))
            for start in starts[: SMALL_FINALISTS if small else FINALISTS]
        ]
        return min(finals, key=lambda final: final.cost)

    def _draw(self) -> Grouping:
        labels = draw_labels(self.counts, self.k, self.options.rng)
        return self._smooth(labels, START_SWEEPS, FIRST_SHARE)

    def _square(self, values: Callable[[Counts], Array]) -> Grouping:
        labels = label_by_squares(self.counts, values(self.counts), self.k, self.options.rng)
        return self._smooth(labels, SQUARED_SWEEPS, SQUARED_SHARE)

    def _smooth(self, labels: Array, n_sweeps: int, first_share: float) -> Grouping:
        n_sweeps = min(n_sweeps, self.options.max_iter)
        labels = sweep_smoothly(self.counts, labels, self.k, n_sweeps, first_share)
        return Grouping.of(self.counts, labels, self.k, n_sweeps)

    def _refine(self, labels: Array) -> Grouping:
        swept = sweep_plainly(self.counts, labels, self.k, self.options.max_iter)
        moved = self._move(swept.labels)
        return replace(moved, n_sweeps=swept.n_sweeps + moved.n_sweeps)

    def _move(self, labels: Array, rounds: int = MOVE_ROUNDS, tol: float = MOVE_TOL) -> Grouping:
        labels = fill_empty(self.counts, labels, self.k)
        rounds, tol = min(rounds, self.options.max_iter), max(tol, self.options.tol)
        return move_rows(self.counts, labels, self.k, self.options.rng, rounds, tol)

    def _finish(self, labels: Array) -> Grouping:
        """Moves and sweeps until both rest: no sweep undoes a move, and it cannot cost more."""
        moved = self._move(labels, self.options.max_iter, self.options.tol)
        swept = sweep_plainly(self.counts, moved.labels, self.k, self.options.max_iter)
        return replace(swept, n_sweeps=moved.n_sweeps + swept.n_sweeps)
