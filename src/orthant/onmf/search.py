"""The default: our seeding, several starts, refinement, escapes; the best answer is kept."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial

import numpy as np

from orthant.engine.matrix import Matrix
from orthant.engine.points import Points, Samples, points_over
from orthant.kmeans.seeding_in_rounds import seed_in_rounds
from orthant.kmeans.solve import SUBROUTINES, weighted_kmeans
from orthant.numerics.arrays import Array
from orthant.onmf.canonical import canonical, may_be_exact
from orthant.onmf.descent import descend
from orthant.onmf.escapes import breathed, recombined
from orthant.onmf.line_seeding import (
    chosen_for_sample,
    drawn_and_exchanged,
    drawn_directions,
    drawn_from_sample,
    may_exchange,
    may_sample,
)
from orthant.onmf.moves import MoveBlocks, move_points, single_points_matter
from orthant.onmf.options import Options
from orthant.onmf.outcome import Outcome
from orthant.onmf.promises import APriori, single_from_lines, single_from_means, strongest
from orthant.onmf.publish import Trace, publish
from orthant.onmf.solution import UNUSED, Solution

MAX_MOVE_PASSES = 20
# Single moves and escapes look at all products of points and directions at once.
MOST_PRODUCTS = 2**24
RECOMBINATIONS = 3
GIVEN = "the first directions were given, not drawn"
NO_PROMISE = (
    "directions were drawn {}; seeding='lines' draws from all points one by one and keeps the "
    "promise of the draws"
)


@dataclass(frozen=True, slots=True)
class Law:
    """One way to choose first directions, and what a draw by it promises for the answer."""

    step: str
    draw: Callable[[], Array]
    promise: APriori


@dataclass
class Search:
    """The options of a search, the steps it went through, and what its draws promise."""

    points: Points
    options: Options
    given: Array | None = None  # the form of directions to start from instead of drawing them
    steps: list[str] = field(default_factory=list)
    n_sweeps: int = 0
    promises: list[APriori] = field(default_factory=list)  # of every start that was run

    def __post_init__(self) -> None:
        points = self.points
        self.k, self.rng = self.options.n_components, self.options.rng
        self.kept = self.options.checkpoint
        self.n_init = 1 if self.given is not None else self.options.n_init
        self.max_iter, self.tol = self.options.max_iter, self.options.tol
        small = len(points.weights) * self.k <= MOST_PRODUCTS
        moves = isinstance(points, Samples) and points.at_hand and small
        self._samples = points if isinstance(points, Samples) and moves else None
        self._moves = self.n_init > 1 or single_points_matter(points.weights, self.k)
        self._blocks: MoveBlocks | None = None

    def note(self, step: str) -> None:
        """Remember a step that was run, once."""
        if step not in self.steps:
            self.steps.append(step)

    def run(self) -> Solution:
        """The best of all starts and of what the escapes make of them."""
        solutions = [self.refined(self.first(number)) for number in range(self.n_init)]
        solutions.sort(key=lambda solution: -solution.captured)
        best = solutions[0]
        if self.n_init > 1 and self._samples is not None and self.k > 1:
            best = self.escape(self._samples, solutions)
        return best

    def first(self, number: int) -> Array:
        """The form of the first directions of one start."""
        law, step = self.law(number), self.kept.next_step()
        if not step.finished:
            step.finish(text=law.step, form=law.draw())
        self.note(law.step)
        self.promises.append(law.promise)
        return step.arrays["form"].copy()

    def law(self, number: int) -> Law:
        """How the first directions of one start are chosen; every second one without exchanges."""
        points, k, rng = self.points, self.k, self.rng
        exchanges = number % 2 == 0 and k > 1
        samples = points if isinstance(points, Samples) else None
        given, seeding = self.given, self.options.seeding
        if given is not None:
            return Law("given directions", lambda: given, APriori(reason=GIVEN))
        if seeding == "k-means++":
            promise = single_from_means(SUBROUTINES["k-means++"].claim_of_draws(k))
            return Law(
                "weighted k-means", lambda: weighted_kmeans(points, k, rng=rng).form, promise
            )
        if seeding == "k-means||" or (seeding == "auto" and not points.drawable):
            nothing = APriori(reason=NO_PROMISE.format("in rounds"))
            return Law("line seeding in rounds", lambda: seed_in_rounds(points, k, rng), nothing)
        if seeding == "auto" and samples is not None and may_sample(samples, k):
            draw = partial(chosen_for_sample if exchanges else drawn_from_sample, samples, k, rng)
            nothing = APriori(reason=NO_PROMISE.format("from a sample of the points"))
            return Law("line seeding on a sample", draw, nothing)
        promise = single_from_lines(k)
        if exchanges and samples is not None and may_exchange(samples, k):
            return Law("line seeding", partial(drawn_and_exchanged, samples, k, rng), promise)
        return Law("line seeding", partial(drawn_directions, points, k, rng), promise)

    def refined(self, form: Array) -> Solution:
        """Descend, then move single points, then descend again if that moved anything."""
        self.note("descent")
        solution = self.descended(form)
        self.n_sweeps += len(solution.history)
        if self._samples is None or self.k == 1 or not self._moves:
            return solution
        self.note("single moves")
        moved = self.moved(self._samples, solution)
        if moved.captured <= solution.captured:
            return solution
        again = self.descended(moved.form)
        self.n_sweeps += len(moved.history) - len(solution.history) + len(again.history)
        return replace(again, history=moved.history + again.history)

    def descended(self, form: Array) -> Solution:
        """Where a descent from a form ends."""
        step = self.kept.next_step()
        found = descend(self.points, form, max_iter=self.max_iter, tol=self.tol, step=step)
        # Of several starts no labels are kept: the best one is assigned once more.
        return found if self.n_init == 1 else replace(found, settled=False, sweep=None)

    def moved(self, points: Samples, solution: Solution) -> Solution:
        """What moving single points makes of a solution."""
        step = self.kept.next_step()
        if not step.finished:
            self._blocks = self._blocks or MoveBlocks(points)
            found = move_points(self._blocks, solution, max_passes=MAX_MOVE_PASSES, tol=self.tol)
            step.finish(found.history, form=found.form, captured=np.array([found.captured]))
        return Solution(step.arrays["form"], float(step.arrays["captured"][0]), step.history)

    def escape(self, points: Samples, solutions: list[Solution]) -> Solution:
        """Recombine the best solutions, then breathe as often as there were starts."""
        best = solutions[0]
        self.note("recombination")
        for other in solutions[1 : 1 + RECOMBINATIONS]:
            best = self.better(best, recombined(points, best.form, other.form, self.k))
        self.note("breathing")
        for number in range(self.n_init):
            best = self.better(best, breathed(points, best.form, 1 + number % 3, self.rng))
        return best

    def better(self, best: Solution, form: Array) -> Solution:
        """What refining a form gives, if it captures more than the best so far."""
        found = self.refined(form)
        if found.captured <= best.captured:
            return best
        return replace(found, history=(*best.history, found.captured))


def factorize_best(matrix: Matrix, options: Options) -> Outcome:
    """Give every sample, or every feature, to one component, with as small an error as we can."""
    orthogonal = options.orthogonal
    points = points_over(matrix, orthogonal)
    given = None if isinstance(options.seeding, str) else points.form_of(options.seeding)
    search = Search(points, options, given)
    solution = search.run()
    form, sweep, n_sweeps = solution.form, solution.sweep, search.n_sweeps
    kept = solution.history
    if isinstance(points, Samples) and may_be_exact(points):
        search.note("exact directions")
        form, sweep = canonical(points, form), None
    elif solution.settled and points.sweeps_are_final:
        n_sweeps -= 1  # the last one is the final assignment, which is counted by itself
        kept = kept[:-1]
    total = float(points.weights.sum())
    history = tuple(max(0.0, 1.0 - captured / total) for captured in kept)
    trace = Trace(history, n_sweeps, tuple(search.steps))
    components = points.components(form)
    result = publish(matrix, components, orthogonal, options.asked, trace, UNUSED, sweep)
    return Outcome(result, strongest(search.promises))
