"""The default: refine every start; of several, try escapes from the best; keep the best.

`Search` is the loop of every setting. Over samples, or over features, it starts on lines, and
refines by descent and single moves; `blocks.py` has what differs over both. A descent is exact
block coordinate descent: assign all points, update all directions, never lose.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from orthonmf.alternation import Update, alternate, errors_of
from orthonmf.certificate import NOTHING_PROMISED, Promise
from orthonmf.checkpoint import Checkpoint, Step
from orthonmf.engine.matrix import Matrix
from orthonmf.engine.points import DirectionSweep, Points, SinglePoints, move_idle
from orthonmf.engine.samples import Samples, columns_of
from orthonmf.numerics.arrays import Array
from orthonmf.numerics.vectors import divide, square_lengths
from orthonmf.onmf.escapes import line_escapes
from orthonmf.onmf.exact_directions import find_exact_directions
from orthonmf.onmf.moves import MoveBlocks, move_points
from orthonmf.onmf.options import Options
from orthonmf.onmf.relaxed_escapes import relaxed_escapes
from orthonmf.onmf.solution import Escape, Solution, Start
from orthonmf.onmf.starts import all_may_play, line_starts, single_points_matter

SETTLED = "settled"  # text of a step whose directions are those of its last sweep
MAX_MOVE_PASSES = 20
# Single moves and escapes look at all products of points and directions at once.
MOST_PRODUCTS = 2**24


def factorize_lines(matrix: Matrix, options: Options) -> Solution:
    """Give every sample, or every feature, to one component, with as small an error as we can."""
    samples = options.orthogonal == "samples"
    points: Points = Samples(matrix) if samples else columns_of(matrix)
    solution = search_lines(points, options)
    if may_be_exact(points):
        solution = with_exact_directions(points, solution)
    elif solution.swept_last and points.sweeps_are_final:
        # The last sweep is the final assignment, which is counted by itself.
        n_sweeps, history = solution.n_sweeps - 1, solution.history[:-1]
        solution = replace(solution, n_sweeps=n_sweeps, history=history)
    return replace(solution, components=points.components(solution.directions))


def may_be_exact(points: Points, most_entries: int = 2**14) -> bool:
    """Whether the data are so few that exact directions cost next to nothing.

    With more data a descent to the tolerance is enough.
    """
    return points.access is not None and math.prod(points.matrix.shape) <= most_entries


def with_exact_directions(points: Points, solution: Solution, disjoint: bool = False) -> Solution:
    """The solution with the top singular vectors of the blocks that its directions win."""
    exact = find_exact_directions(points, solution.directions, disjoint=disjoint)
    steps = (*solution.steps, "exact directions")
    return replace(solution, directions=exact, sweep=None, steps=steps)


def search_lines(points: Points, options: Options) -> Solution:
    """The best of all starts and of what the escapes make of them."""
    k = options.n_components
    n_init = options.n_init if isinstance(options.init, str) else 1
    small = len(points.weights) * k <= MOST_PRODUCTS
    single = points.access if small and k > 1 else None
    search = Search(_Refinement(points, single, options, n_init))
    several = n_init > 1 and single is not None
    escapes: Iterable[Escape] = ()
    if single is not None and several:
        escapes = _line_escapes(single, options, n_init)
    return search.run(line_starts(points, options), escapes)


def _line_escapes(points: SinglePoints, options: Options, n_init: int) -> Iterator[Escape]:
    """Those of every search with several starts, then those that the relaxation gives."""
    yield from line_escapes(points, options.n_components, n_init, options.rng)
    if options.relaxation_seconds > 0.0:
        yield from relaxed_escapes(points, options)


class _Refinement:
    """Descend, then move single points, then descend again if that moved anything."""

    def __init__(
        self, points: Points, single: SinglePoints | None, options: Options, n_init: int
    ) -> None:
        self._points, self._options, self._n_init = points, options, n_init
        moves = n_init > 1 or single_points_matter(points, options.n_components)
        # Where all points have played, single ones have been moved already.
        if n_init == 1 and isinstance(options.init, str) and options.init == "auto":
            moves = moves and not all_may_play(points, options.n_components)
        self._single = single if moves else None
        self._blocks: MoveBlocks | None = None

    def __call__(self, directions: Array) -> Solution:
        solution = replace(self._descend(directions), steps=("descent",))
        if self._single is None:
            return solution
        solution = replace(solution, steps=("descent", "single moves"))
        moved = self._move(self._single, solution)
        if moved.captured <= solution.captured:
            return solution
        again = self._descend(moved.directions)
        history = moved.history + again.history
        return replace(again, history=history, n_sweeps=len(history), steps=solution.steps)

    def _descend(self, directions: Array) -> Solution:
        options = self._options
        step = options.checkpoint.next_step()
        found = descend(
            self._points, directions, max_iter=options.max_iter, tol=options.tol, step=step
        )
        # Of several starts no labels are kept: the best one is assigned once more.
        return found if self._n_init == 1 else replace(found, swept_last=False, sweep=None)

    def _move(self, points: SinglePoints, solution: Solution) -> Solution:
        """What moving single points makes of a solution."""
        step = self._options.checkpoint.next_step()
        if not step.finished:
            self._blocks = self._blocks or MoveBlocks(points)
            tol = self._options.tol
            found = move_points(self._blocks, solution, max_passes=MAX_MOVE_PASSES, tol=tol)
            captured = np.array([found.captured])
            step.finish(found.history, vectors=found.directions, captured=captured)
        return Solution(step.arrays["vectors"], float(step.arrays["captured"][0]), step.history)


def descend(
    points: Points, directions: Array, *, max_iter: int, tol: float, step: Step | None = None
) -> Solution:
    """Improve directions (k, m) until a sweep lowers the error by less than ``tol`` of itself.

    It also ends when the directions have settled: when what one more power update is sure to gain,
    whatever points might still change sides, is less than that.

    One sweep gives every point to the direction that captures most of it (the exact minimizer
    over assignments) and replaces every direction by one power update on its points (the exact
    minimizer over directions for the scales just found). Neither can raise the error.

    Directions that win no point are moved to the points captured worst. ``step`` may know how far
    an earlier attempt came.

    Where components are the directions themselves and the descent has come to its end, the
    solution is what was swept last, with that sweep: publishing it takes no further read.
    """
    step = step or Checkpoint().next_step()
    sweep = None
    if not step.finished:
        powers = _Powers(points)
        found = alternate(powers, directions, max_iter=max_iter, tol=tol, step=step)
        last = found.last
        if found.converged and points.components_are_directions and last.sweep.unit is not None:
            step.finish(found.history, SETTLED, vectors=last.sweep.unit)
            sweep = last.sweep if points.sweeps_are_final else None
        else:
            step.finish(found.history, vectors=last.vectors)
    return solution_of(points, step, sweep)


def solution_of(points: Points, step: Step, sweep: DirectionSweep | None = None) -> Solution:
    """What a finished step of descent has found, and its last sweep where that is known."""
    return Solution(
        step.arrays["vectors"],
        step.history[-1],
        errors_of(step.history, points.total),
        n_sweeps=len(step.history),
        swept_last=step.text == SETTLED,
        sweep=sweep,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _PowerUpdate(Update):
    """One sweep by directions, and one power update of each on the points it has won."""

    sweep: DirectionSweep


class _Powers:
    """Directions towards the top singular vectors of what they win."""

    name = "sweep"

    def __init__(self, points: Points) -> None:
        self._points, self.total = points, points.total

    def update(self, vectors: Array) -> _PowerUpdate:
        points = self._points
        sweep = points.sweep_directions(vectors, by_point=points.sweeps_are_final)
        captured = float(sweep.captured.sum())
        # |S|^2 / w is what the next direction captures of its points at the least.
        least = float(divide(square_lengths(sweep.sums), sweep.captured).sum())
        return _PowerUpdate(
            captured=captured, vectors=sweep.sums, next_gain=least - captured, sweep=sweep
        )

    def reuse_idle(self, swept: Array, update: _PowerUpdate) -> bool:
        idle = np.flatnonzero(update.sweep.captured <= 0)
        if len(idle) == 0:
            return False
        points = self._points
        missed = points.find_missed(points.sweep_directions(swept))
        least = 1e-9 * points.total / len(missed)
        return move_idle(update.vectors, idle, missed, least, points.at)

    def mark(self, update: _PowerUpdate) -> str:
        return ""


# With a quick look first: sweeps from every start, and how many of them are then refined; sweeps
# after an escape, and how far from the best error it may be to be refined.
FIRST_SWEEPS, REFINED_STARTS = 2, 2
ESCAPE_SWEEPS, ESCAPE_SLACK = 3, 0.004


class Search:
    """The loop of a search: refine the starts, then try escapes from the best.

    Settings bring their own starts, escapes and refinement.
    With ``look``, a function of directions and a number of sweeps, only what looks best after a
    few sweeps is refined. No sweep loses, so the best of the starts keeps the promise of any.
    """

    def __init__(
        self,
        refine: Callable[[Array], Solution],
        look: Callable[[Array, int], Solution] | None = None,
    ) -> None:
        self._refine, self._look = refine, look
        self.found: list[Solution] = []  # from every start, the best first once all are run
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
        self.found = self._try_starts(starts)
        best, fruitless = self.found[0], 0
        for escape in escapes:
            found = self._try_escape(escape, best)
            fruitless += 1
            if found is not None and found.captured > best.captured:
                gained = best.history[-1] - found.history[-1]
                fruitless = 0 if gained >= least_gain * best.history[-1] else fruitless
                best = replace(found, history=(*best.history, found.history[-1]))
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
        found: list[Solution] = []
        for start in starts:
            self.promises.append(start.promise)
            if not start.directions.any():
                continue
            if self._look is None:
                found.append(self.refine(start.step, start.directions))
            else:
                found.append(self._look(start.directions, FIRST_SWEEPS))
                self.count(found[-1], start.step)
        found.sort(key=lambda solution: -solution.captured)
        if self._look is None:
            return found
        refined = [self.refine("descent", one.directions) for one in found[:REFINED_STARTS]]
        return sorted(refined, key=lambda solution: -solution.captured)

    def _try_escape(self, escape: Escape, best: Solution) -> Solution | None:
        """What becomes of an escape; None if it does not look like a way to something better."""
        directions = escape.propose(best, self.found)
        if self._look is not None:
            seen = self._look(directions, ESCAPE_SWEEPS)
            self.count(seen, escape.step)
            if seen.history[-1] > (1 + ESCAPE_SLACK) * best.history[-1]:
                return None
            directions = seen.directions
        return self.refine(escape.step, directions)

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


def strongest(promises: Sequence[Promise]) -> Promise:
    """What holds for the best of several answers: what is promised for any one of them.

    Without any promise, why the first that says so promises nothing.
    """
    made = [(one.ratio, one) for one in promises if one.ratio is not None]
    if made:
        return min(made, key=lambda pair: pair[0])[1]
    return next((one for one in promises if one.reason), NOTHING_PROMISED)
