"""The loop of every search: refine the starts, try escapes from the best, keep the best."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any

from orthonmf.certificate import NOTHING_PROMISED, Promise
from orthonmf.engine.points import DirectionSweep
from orthonmf.onmf.promises import strongest
from orthonmf.onmf.solution import Solution

# With a quick look first: sweeps from every start, and how many of them are then refined; sweeps
# after an escape, and how far from the best error it may be to be refined.
LOOK_SWEEPS, REFINED_STARTS = 2, 2
ESCAPE_SWEEPS, ESCAPE_SLACK = 3, 0.004


@dataclass(frozen=True, slots=True)
class Start:
    """First directions, the step that made them, and what starting from them promises."""

    step: str
    directions: Any
    promise: Promise = NOTHING_PROMISED
    sweep: DirectionSweep | None = None  # by these directions, where one was made to choose them


@dataclass(frozen=True, slots=True)
class Escape:
    """A way out of a local optimum: other directions to refine.

    They are made from the best solution so far and from those of all starts, best first.
    """

    step: str
    propose: Callable[[Solution, list[Solution]], Any]


class Search:
    """The loop of a search: refine the starts, then try escapes from the best.

    Settings bring their own starts, escapes and refinement.
    With ``look``, a function of directions and a number of sweeps, only what looks best after a
    few sweeps is refined. No sweep loses, so the best of the starts keeps the promise of any.
    """

    def __init__(
        self,
        refine: Callable[[Start], Solution],
        look: Callable[[Any, int], Solution] | None = None,
    ) -> None:
        self._refine, self._look = refine, look
        self.promises: list[Promise] = []
        self.steps: list[str] = []
        self.n_sweeps = 0

    def run(
        self,
        starts: Iterable[Start],
        escapes: Iterable[Escape],
        patience: float = math.inf,
        least_gain: float = 0.0,
    ) -> Solution:
        """The best of all starts and of what the escapes make of it.

        After ``patience`` escapes in a row that lower the error by less than ``least_gain`` of
        itself it ends.
        """
        answers = self._try_starts(starts)
        best, fruitless = answers[0], 0
        for escape in escapes:
            answer = self._try_escape(escape, best, answers)
            fruitless += 1
            if answer is not None and answer.captured > best.captured:
                gained = best.history[-1] - answer.history[-1]
                fruitless = 0 if gained >= least_gain * best.history[-1] else fruitless
                best = replace(answer, history=(*best.history, answer.history[-1]))
            if fruitless >= patience:
                break
        return replace(
            best,
            n_sweeps=self.n_sweeps,
            steps=tuple(self.steps),
            promise=strongest(self.promises),
        )

    def _try_starts(self, starts: Iterable[Start]) -> list[Solution]:
        """What becomes of the starts, the best first."""
        answers: list[Solution] = []
        for start in starts:
            self.promises.append(start.promise)
            if start.directions.any():
                look = self._look
                tried = look(start.directions, LOOK_SWEEPS) if look else self._refine(start)
                answers.append(self.count(tried, start.step))
        answers.sort(key=lambda solution: -solution.captured)
        if self._look:
            best = [Start("descent", seen.directions) for seen in answers[:REFINED_STARTS]]
            answers = [self.count(self._refine(start), start.step) for start in best]
            answers.sort(key=lambda solution: -solution.captured)
        return answers

    def _try_escape(
        self, escape: Escape, best: Solution, answers: list[Solution]
    ) -> Solution | None:
        """What becomes of an escape; None if it does not look like a way to something better."""
        directions = escape.propose(best, answers)
        if self._look:
            seen = self.count(self._look(directions, ESCAPE_SWEEPS), escape.step)
            if seen.history[-1] > (1 + ESCAPE_SLACK) * best.history[-1]:
                return None
            directions = seen.directions
        return self.count(self._refine(Start(escape.step, directions)), escape.step)

    def count(self, solution: Solution, *steps: str) -> Solution:
        """Add the sweeps of a solution, and remember its steps, each once; the solution itself."""
        self.n_sweeps += solution.n_sweeps
        new = (step for step in (*steps, *solution.steps) if step not in self.steps)
        self.steps += dict.fromkeys(new)
        return solution
