"""The default over samples, or over features: starts on lines, repair, descent, single moves.

First directions are found as `starts.way_to_start` says. Groups that they leave out are looked for
(`repair.py`), sweeps follow until they gain next to nothing (`descent.py`), single points move
where they matter (`moves.py`), and sweeps end it. Of several starts, escapes from the best are
tried too. docs/defaults.md tells the whole in order, with what was measured.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import numpy as np

from orthonmf.alternation import errors_of
from orthonmf.engine.matrix import Matrix
from orthonmf.engine.points import Points, Samples, columns_of
from orthonmf.onmf.exact_directions import may_be_exact, with_exact_directions
from orthonmf.onmf.options import Options
from orthonmf.onmf.search.candidates import MANY_COMPONENTS, SOME_COMPONENTS
from orthonmf.onmf.search.descent import descend
from orthonmf.onmf.search.escapes import one_side_escapes
from orthonmf.onmf.search.local_search import stable_start
from orthonmf.onmf.search.loop import Escape, Search, Start
from orthonmf.onmf.search.moves import move_points
from orthonmf.onmf.search.repair import repair
from orthonmf.onmf.search.starts import one_side_starts, single_points_matter, way_to_start
from orthonmf.onmf.solution import Solution

MAX_MOVE_PASSES = 20
# Sweeps before groups that are left out are looked for; who asks for no more than so many in all
# gets no repair.
FIRST_SWEEPS = 1
FEW_SWEEPS = 3
FIRST_TOL = 1e-3
# Where points are moved, the descent before need not come to its end. Of many components the last
# single moves take longer than all the rest and gain little.
TOL_BEFORE_MOVES = 3e-4
MOVES_TOL = 3e-4
# Single moves and escapes look at all products of points and directions at once.
MOST_PRODUCTS = 2**24


def factorize_one_side(matrix: Matrix, options: Options) -> Solution:
    """Give every sample, or every feature, to one component, with as small an error as we can."""
    samples = options.orthogonal == "samples"
    points: Points = Samples(matrix) if samples else columns_of(matrix)
    solution = search_one_side(points, options)
    if may_be_exact(points):
        solution = with_exact_directions(points, solution)
    elif solution.swept_last and points.sweeps_are_final:
        # The last sweep is the final assignment, which is counted by itself.
        n_sweeps, history = solution.n_sweeps - 1, solution.history[:-1]
        solution = replace(solution, n_sweeps=n_sweeps, history=history)
    return replace(solution, components=points.components(solution.directions))


def search_one_side(points: Points, options: Options) -> Solution:
    """The best of all starts and of what the escapes make of them."""
    k = options.n_components
    n_init = options.n_init if isinstance(options.init, str) else 1
    small = len(points.weights) * k <= MOST_PRODUCTS
    single = points.at_hand if small and k > 1 else None
    way = way_to_start(points, options)
    search = Search(_Refinement(points, single, options, way, n_init))
    escapes: Iterable[Escape] = ()
    if single is not None and n_init > 1:
        escapes = one_side_escapes(single, k, n_init)
    starts = one_side_starts(points, options, way)
    if way == "local-search":
        starts = (stable_start(points, options, number) for number in range(options.n_init))
    return search.run(starts, escapes)


class _Refinement:
    """Look for what is left out, descend, move single points, descend again."""

    def __init__(
        self, points: Points, single: Samples | None, options: Options, way: str, n_init: int
    ) -> None:
        self._points, self._options, self._n_init = points, options, n_init
        k = options.n_components
        # Where all points have played, single ones have been moved, and groups repaired if they
        # are many. Candidates of few components are repaired, so many of each that it is enough.
        all_played = n_init == 1 and way == "all"
        repaired = all_played or (n_init == 1 and way == "candidates" and k < SOME_COMPONENTS)
        moves = n_init > 1 or (single_points_matter(points, k) and not all_played)
        self._single = single if moves else None
        # Who asks for few sweeps, or a rough answer, gets no more than that.
        short = options.max_iter <= FEW_SWEEPS or options.tol > FIRST_TOL
        repairs = way != "given" and not short and not repaired
        self._repairs = points.on_the_host if repairs else None

    def __call__(self, start: Start) -> Solution:
        begun = Solution(start.directions, sweep=start.sweep)
        if self._repairs is not None:
            begun = self._repair(self._repairs, start)
        steps = (*begun.steps, "descent")
        if self._single is None:
            solution = self._descend(begun, self._options.tol)
        else:
            steps = (*steps, "single moves")
            rough = self._descend(begun, max(self._options.tol, TOL_BEFORE_MOVES))
            solution = self._descend(self._move(self._single, rough), self._options.tol)
        return replace(solution, steps=steps)

    def _repair(self, points: Samples, start: Start) -> Solution:
        """A few sweeps, and what looking for groups that are left out makes of them."""
        step = self._options.steps.next_step()
        if not step.finished:
            first = descend(
                points, start.directions, max_iter=FIRST_SWEEPS, tol=FIRST_TOL, first=start.sweep
            )
            repaired = repair(points, first.directions, first.sweep, sweeps_after=0)
            # The last sweep of the descent, where it is known, is the first of the repair.
            captured = repaired.captured if first.sweep is None else repaired.captured[1:]
            history = first.history + errors_of(tuple(captured), points.total)
            counted = np.array([first.n_sweeps + repaired.n_sweeps])
            step.finish(history, vectors=repaired.directions, n_sweeps=counted)
        directions, n_sweeps = step.arrays["vectors"], int(step.arrays["n_sweeps"][0])
        return Solution(directions, history=step.history, n_sweeps=n_sweeps, steps=("repair",))

    def _descend(self, begun: Solution, tol: float) -> Solution:
        """What sweeps make of a solution until one gains little; its own are counted with them."""
        options = self._options
        descended = descend(
            self._points,
            begun.directions,
            max_iter=options.max_iter,
            tol=tol,
            step=options.steps.next_step(),
            first=begun.sweep,
        )
        history, n_sweeps = begun.history + descended.history, begun.n_sweeps + descended.n_sweeps
        descended = replace(descended, history=history, n_sweeps=n_sweeps)
        # Of several starts no labels are kept: the best one is assigned once more.
        return descended if self._n_init == 1 else replace(descended, swept_last=False, sweep=None)

    def _move(self, points: Samples, solution: Solution) -> Solution:
        """What moving single points makes of a solution."""
        step = self._options.steps.next_step()
        if not step.finished:
            tol = self._options.tol
            if self._options.n_components >= MANY_COMPONENTS:
                tol = max(tol, MOVES_TOL)
            moved = move_points(points, solution, max_passes=MAX_MOVE_PASSES, tol=tol)
            step.finish(
                moved.history, vectors=moved.directions, captured=np.array([moved.captured])
            )
        n_sweeps = solution.n_sweeps + len(step.history) - len(solution.history)
        captured = float(step.arrays["captured"][0])
        return Solution(step.arrays["vectors"], captured, step.history, n_sweeps=n_sweeps)
