"""Three factors: groups of rows, groups of columns, and a core of any pattern between them.

The bi-orthogonal three-factor NMF of Ding, Li, Peng & Park (2006): ``x_ij ~ f_i core[a, b] g_j``
for row i of group a and column j of group b. Disjoint blocks are the case of a diagonal core.
"""

from __future__ import annotations

from copy import deepcopy
from dataclasses import replace

from orthonmf.checkpoint import Checkpoint
from orthonmf.engine.compressed import compress_columns
from orthonmf.engine.matrix import Matrix
from orthonmf.engine.points import Samples
from orthonmf.onmf.core.descent import descend_core
from orthonmf.onmf.core.starts import core_starts
from orthonmf.onmf.exact_directions import find_exact_directions, may_be_exact
from orthonmf.onmf.options import Options
from orthonmf.onmf.search.loop import Escape, Search, Start
from orthonmf.onmf.search.one_side import FIRST_SWEEPS
from orthonmf.onmf.small_tables import STEP, TableSearch
from orthonmf.onmf.solution import CoreSolution, Solution

# Rows times groups of columns up to which the last directions are exact: that costs one sweep.
MOST_EXACT = 2**26
# One group on either side: the best answer is the top singular pair, found by descent alone.
ONE_GROUP_TOL = 1e-12


def factorize_core(matrix: Matrix, options: Options) -> Solution:
    """Groups of rows and groups of columns with as small an error as we can."""
    if min(options.n_components, options.n_groups) == 1:
        options = replace(options, tol=min(options.tol, ONE_GROUP_TOL))

    def refine(start: Start) -> Solution:
        return descend_core(
            matrix,
            start.directions,
            max_iter=options.max_iter,
            tol=options.tol,
            step=options.steps.next_step(),
        )

    def search_table(best: Solution, answers: list[Solution]) -> CoreSolution:
        return table.run([answer.directions for answer in answers])

    blocks = options_of_blocks(options)
    search, table, starting = Search(refine), TableSearch(matrix, options), options
    if table.suffices:
        init = "lines" if options.init == "auto" else options.init
        starting = replace(options, init=init, max_iter=FIRST_SWEEPS)
    escapes = [Escape(STEP, search_table)] if table.n_rounds else []
    solution = search.run(core_starts(matrix, starting, search, blocks), escapes)
    factors, points = settle(matrix, solution.directions), Samples(matrix)
    return replace(
        solution,
        components=points.components(factors.components),
        groups=points.components(factors.groups),
    )


def options_of_blocks(options: Options) -> Options | None:
    """Those of a fit of disjoint blocks with the same seed, as many as there can be; None for one.

    Its random numbers are copies of what this fit has drawn nothing of yet.
    """
    count = min(options.n_components, options.n_groups)
    if count == 1:
        return None
    rng = deepcopy(options.rng)
    return replace(
        options, n_components=count, n_groups=0, init="auto", rng=rng, steps=Checkpoint()
    )  # fmt: skip


def settle(matrix: Matrix, factors: CoreSolution) -> CoreSolution:
    """The same groups of columns, and components that are exact for the rows they win.

    Then the core is what the groups of both sides see of the matrix, to rounding.
    """
    points = compress_columns(matrix, factors.groups)
    if not may_be_exact(points, MOST_EXACT):
        return factors
    return replace(factors, core=find_exact_directions(points, factors.core))
