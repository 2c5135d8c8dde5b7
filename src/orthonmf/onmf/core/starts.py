"""First groups of rows and columns: those of one side alone, then the other side given them.

The groups of rows that are found over samples leave a problem over their coordinates, and so do
those of columns that are found over features. If the first side costs a times the smallest error
over samples and the second b times the smallest over what it sees, the two cost at most a + b times
the smallest error of any pair: what is captured of the columns through groups of rows misses no
more than the columns themselves do.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from orthonmf.certificate import Promise
from orthonmf.engine.compressed import compress_columns, compress_rows
from orthonmf.engine.matrix import Matrix
from orthonmf.engine.points import Points, Samples, columns_of
from orthonmf.onmf.blocks.both_sides import factorize_blocks
from orthonmf.onmf.core.descent import Grouped, group_points
from orthonmf.onmf.options import Options
from orthonmf.onmf.promises import in_sequence
from orthonmf.onmf.search.loop import Search, Start
from orthonmf.onmf.search.one_side import search_one_side
from orthonmf.onmf.search.starts import GIVEN
from orthonmf.onmf.solution import CoreSolution, Solution, pad
from orthonmf.progress import silence
from orthonmf.typing import Array
from orthonmf.vectors import unit_lengths, winners_only

# Blocks are tried where those in a core miss so many times what it misses, at the most; what is
# missed counts from so much of all energy on.
HARDLY_MORE, LEAST_MISSED = 1.03, 1e-12


def core_starts(
    matrix: Matrix, options: Options, search: Search, blocks: Options | None
) -> Iterator[Start]:
    """The starts with a core: rows first and columns first, as often as there are to be starts.

    With options of ``blocks`` disjoint blocks are one more, where they may be as good.
    """
    starts = _Starts(matrix, options, search)
    if not isinstance(options.init, str):
        points = Samples(matrix)
        directions, nothing = points.directions_of(options.init), Promise(reason=GIVEN)
        yield starts.then_columns("given components", points, directions, nothing)
        return
    for number in range(options.n_init):
        in_turn = [starts.rows_first(), starts.columns_first()]
        yield from in_turn
        cores = [start.directions.core for start in in_turn]
        if number == 0 and blocks and any(nearly_blocks(matrix, core) for core in cores):
            yield starts.from_blocks(blocks)


class _Starts:
    """What starts share: the matrix, the options, and where sweeps are counted."""

    def __init__(self, matrix: Matrix, options: Options, search: Search) -> None:
        self._matrix, self._options, self._search = matrix, options, search

    def rows_first(self) -> Start:
        """Groups of rows as over samples; then of columns as these see them."""
        points = Samples(self._matrix)
        first = self._first(points, self._options.n_components)
        return self.then_columns("rows first", points, first.directions, first.promise)

    def columns_first(self) -> Start:
        """Groups of columns as over features; then of rows as these see them."""
        columns = columns_of(self._matrix)
        first = self._first(columns, self._options.n_groups)
        components = self._matrix.weigh_columns(columns.components(first.directions))
        groups = unit_lengths(winners_only(components))
        return self._then_rows("columns first", groups, first.promise)

    def from_blocks(self, options: Options) -> Start:
        """Disjoint blocks: a core whose pattern is diagonal."""
        step = self._options.steps.next_step()
        if not step.finished:
            with silence():
                blocks = factorize_blocks(self._matrix, options)
            groups = pad(unit_lengths(winners_only(blocks.directions)), self._options.n_groups)
            step.finish(groups=groups, n_sweeps=np.array([blocks.n_sweeps]))
        self._search.n_sweeps += int(step.arrays["n_sweeps"][0])
        core = np.eye(self._options.n_components, self._options.n_groups)
        return Start("disjoint blocks", CoreSolution(step.arrays["groups"], core))

    def _first(self, points: Points, k: int) -> Solution:
        """The answer over one side alone."""
        options = replace(self._options, n_components=k, n_init=1)
        return self._search.count(search_one_side(points, options))

    def then_columns(self, name: str, points: Samples, directions: Array, first: Promise) -> Start:
        """Groups of columns as those of rows, by directions (k, m), see them."""
        swept = points.sweep_directions(directions)
        seen = compress_rows(self._matrix, swept.sums, swept.captured)
        grouped, second = self._second(seen, self._options.n_groups)
        core = pad(grouped.core.T, self._options.n_components)
        factors = CoreSolution(grouped.as_rows(), np.ascontiguousarray(core))
        return Start(name, factors, in_sequence(first, second))

    def _then_rows(self, name: str, groups: Array, first: Promise) -> Start:
        """Groups of rows as unit groups of columns, up to (l, m), see them."""
        groups = pad(groups, self._options.n_groups)
        seen = compress_columns(self._matrix, groups)
        grouped, second = self._second(seen, self._options.n_components)
        return Start(name, CoreSolution(groups, grouped.core), in_sequence(first, second))

    def _second(self, points: Samples, k: int) -> tuple[Grouped, Promise]:
        """The other side: k groups of points of few coordinates."""
        heavy = np.flatnonzero(points.weights > 0)
        if len(heavy) <= k:  # each on its own
            return group_points(points, pad(points.at(heavy), k)), Promise(1.0, "always")
        # Points of few coordinates: draws from all of them cost less than a tournament, and descent
        # on both sides levels what is left between the two. They keep the promise of the draws.
        given = self._options.init
        init = "lines" if not isinstance(given, str) or given == "auto" else given
        with silence():
            options = replace(self._options, n_components=k, n_init=1, init=init)
            solution = search_one_side(points, options)
        return group_points(points, pad(solution.directions, k)), solution.promise


def nearly_blocks(matrix: Matrix, core: Array) -> bool:
    """Whether a core (k, l) with one entry in every row and column misses hardly more than it."""
    from scipy.optimize import linear_sum_assignment  # slow to import: only where it is used

    energies = np.square(core)
    kept = energies[linear_sum_assignment(energies, maximize=True)].sum()
    missed = np.maximum(matrix.total - energies.sum(), LEAST_MISSED * matrix.total)
    return bool(matrix.total - kept <= HARDLY_MORE * missed)
