"""The loop of every search: refine the starts, try escapes from the best, keep the best."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any, Generic

from orthonmf.certificate import NOTHING_PROMISED, Promise
from orthonmf.engine.points import DirectionSweep
from orthonmf.onmf.promises import strongest
from orthonmf.onmf.solution import Directions, Solution

# With a quick look first: sweeps from every start, and how many of them are then refined; sweeps
# after an escape, and how far from the best error it may be to be refined.
LOOK_SWEEPS, REFINED_STARTS = 2, 2
ESCAPE_SWEEPS, ESCAPE_SLACK = 3, 0.004


@dataclass(frozen=True, slots=True)
class Start(Generic[Directions]):
    """First directions, the step that made them, and what starting from them promises."""

    step: str
    directions: Directions
    promise: Promise = NOTHING_PROMISED
    sweep: DirectionSweep | None = None  # by these directions, where one was made to choose them


@dataclass(frozen=True, slots=True)
class Escape(Generic[Directions]):
    """A way out of a local optimum: other directions to refine.

    They are made from the best solution so far and from those of all starts, best first.
    """

    step: str
    propose: Callable[[Solution[Directions], list[Solution[Directions]]], Directions]


class Search(Generic[Directions]):
    """The loop of a search: refine the starts, then try escapes from the best.

    Settings bring their own starts, escapes and refinement.
    With ``look``, a function of directions and a number of sweeps, only what looks best after a
    few sweeps is refined. No sweep loses, so the best of the starts keeps the promise of any.
    """

    def __init__(
        self,
        refine: Callable[[Start[Directions]], Solution[Directions]],
        look: Callable[[Directions, int], Solution[Directions]] | None = None,
    ) -> None:
        self._refine, self._look = refine, look
        self.answers: list[Solution[Directions]] = []  # from every start, the best first at last
        self.promises: list[Promise] = []
        self.steps: list[str] = []
        self.n_sweeps = 0

    def run(
        self,
        starts: Iterable[Start[Directions]],
        escapes: Iterable[Escape[Directions]],
        patience: float = math.inf,
        least_gain: float = 0.0,
    ) -> Solution[Directions]:
        """The best of all starts and of what the escapes make of it.

        After ``patience`` escapes in a row that lower the error by less than ``least_gain`` of
        itself it ends.
        """
        self.answers = self._try_starts(starts)
        best, fruitless = self.answers[0], 0
        for escape in escapes:
            answer = self._try_escape(escape, best)
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

    def _try_starts(self, starts: Iterable[Start[Directions]]) -> list[Solution[Directions]]:
        """What becomes of the starts, the best first."""
        answers: list[Solution[Directions]] = []
        for start in starts:
            self.promises.append(start.promise)
            if not start.directions.any():
                continue
            if self._look is None:
                answers.append(self.refine(start))
            else:
                answers.append(self._look(start.directions, LOOK_SWEEPS))
                self.count(answers[-1], start.step)
        answers.sort(key=lambda solution: -solution.captured)
        if self._look is None:
            return answers
        refined = [
            self.refine(Start("descent", seen.directions)) for seen in answers[:REFINED_STARTS]
        ]
        return sorted(refined, key=lambda solution: -solution.captured)

    def _try_escape(
        self, escape: Escape[Directions], best: Solution[Directions]
    ) -> Solution[Directions] | None:
        """What becomes of an escape; None if it does not look like a way to something better."""
        directions = escape.propose(best, self.answers)
        if self._look is not None:
            seen = self._look(directions, ESCAPE_SWEEPS)
            self.count(seen, escape.step)
            if seen.history[-1] > (1 + ESCAPE_SLACK) * best.history[-1]:
                return None
            directions = seen.directions
        return self.refine(Start(escape.step, directions))

    def refine(self, start: Start[Directions]) -> Solution[Directions]:
        """What the refinement makes of a start."""
        answer = self._refine(start)
        self.count(answer, start.step)
        return answer

    def count(self, solution: Solution[Any], *steps: str) -> None:
        """Add the sweeps of a solution, and remember its steps, each once."""
        self.n_sweeps += solution.n_sweeps
        new = (step for step in (*steps, *solution.steps) if step not in self.steps)
        self.steps += dict.fromkeys(new)
