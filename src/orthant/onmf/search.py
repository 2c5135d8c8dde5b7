"""The search: several starts, each refined, then escapes from the best; the best is kept."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

from orthant.certificate import NOTHING_PROMISED, Promise
from orthant.numerics.arrays import Array
from orthant.onmf.promises import strongest
from orthant.onmf.solution import Solution


@dataclass(frozen=True, slots=True)
class Start:
    """First directions, the step that made them, and what starting from them promises."""

    step: str
    directions: Array  # (k, m)
    promise: Promise = NOTHING_PROMISED


@dataclass(frozen=True, slots=True)
class Escape:
    """A way out of a local optimum: other directions to refine, made from what was found so far."""

    step: str
    propose: Callable[[Search], Array]


class Search:
    """What is tried, in that order; settings differ by the starts and escapes they hand in."""

    def __init__(self, refine: Callable[[Array], Solution]) -> None:
        self._refine = refine
        self.found: list[Solution] = []  # from every start, the best first once all are run
        self.promises: list[Promise] = []
        self.steps: list[str] = []
        self.n_sweeps = 0

    @property
    def best(self) -> Solution:
        """What captures most so far."""
        return self._best

    def run(
        self,
        starts: Iterable[Start],
        escapes: Iterable[Escape],
        patience: float = math.inf,
        least_gain: float = 0.0,
    ) -> Solution:
        """The best of all starts and of what the escapes make of it.

        So many escapes in a row that do not lower the error by more than ``least_gain`` of itself,
        and the search is over.
        """
        for start in starts:
            self.promises.append(start.promise)
            if start.directions.any():
                self.found.append(self.refine(start.step, start.directions))
        self.found.sort(key=lambda solution: -solution.captured)
        self._best = self.found[0]
        fruitless = 0
        for escape in escapes:
            best = self._best
            found = self.refine(escape.step, escape.propose(self))
            fruitless += 1
            if found.captured > best.captured:
                gained = best.history[-1] - found.history[-1]
                fruitless = 0 if gained >= least_gain * best.history[-1] else fruitless
                self._best = replace(found, history=(*best.history, found.history[-1]))
            if fruitless >= patience:
                break
        return replace(
            self._best,
            n_sweeps=self.n_sweeps,
            steps=tuple(self.steps),
            promise=strongest(self.promises),
        )

    def refine(self, step: str, directions: Array) -> Solution:
        """What the refinement makes of directions (k, m)."""
        found = self._refine(directions)
        self.count(found, step)
        return found

    def count(self, found: Solution, *steps: str) -> None:
        """Add the sweeps of a solution, and remember its steps, each once."""
        self.n_sweeps += found.n_sweeps
        new = (step for step in (*steps, *found.steps) if step not in self.steps)
        self.steps += dict.fromkeys(new)
