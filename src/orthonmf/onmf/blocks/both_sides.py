"""The default over both: many starts, descent with disjoint supports, and escapes.

The descent differs from that of one side in a single step: `split_by_energy` in `descent.py` gives
every column to one direction, so that no two share any. Starts and escapes are those of blocks.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np

from orthonmf.engine.matrix import Matrix
from orthonmf.engine.points import Points, Samples
from orthonmf.engine.sampling import draw
from orthonmf.onmf.blocks.descent import descend_disjoint
from orthonmf.onmf.blocks.starts import block_starts
from orthonmf.onmf.exact_directions import may_be_exact, with_exact_directions
from orthonmf.onmf.heaviest_classes import find_heaviest
from orthonmf.onmf.options import Options
from orthonmf.onmf.search.loop import Escape, Search, Start
from orthonmf.onmf.small_tables import STEP, TableSearch
from orthonmf.onmf.solution import CoreSolution, Solution, pad
from orthonmf.typing import Array
from orthonmf.vectors import unit_lengths, winners_only

ESCAPES_PER_START = 32
PATIENCE = 14


def factorize_blocks(matrix: Matrix, options: Options) -> Solution:
    """Disjoint blocks of samples and features, with as small an error as we can."""
    points, k = Samples(matrix), options.n_components
    heaviest = find_heaviest(points, k)

    def refine(start: Start) -> Solution:
        return descend_disjoint(
            points,
            start.directions,
            max_iter=options.max_iter,
            tol=options.tol,
            step=options.steps.next_step(),
        )

    def look(directions: Array, n_sweeps: int) -> Solution:
        return descend_disjoint(points, directions, max_iter=n_sweeps, tol=0.0)

    def search_table(best: Solution, answers: list[Solution]) -> Array:
        known = [pad(unit_lengths(winners_only(answer.directions)), k) for answer in answers]
        return table.run([CoreSolution(groups, np.eye(k)) for groups in known]).groups

    search, table = Search(refine, look), TableSearch(matrix, options, diagonal=True)
    escapes: list[Escape] = []
    if points.at_hand is not None and k > 1 and not table.suffices:
        escapes = [
            Escape("block replacement", partial(replace_block, points, k, number, options.rng))
            for number in range(ESCAPES_PER_START * options.n_init)
        ]
    if table.n_rounds:
        escapes.insert(0, Escape(STEP, search_table))
    starts = block_starts(points, options, search, heaviest, promised_only=table.suffices)
    solution = search.run(starts, escapes, PATIENCE)
    if may_be_exact(points):
        solution = with_exact_directions(points, solution, disjoint=True)
    return replace(
        solution,
        unused=explain_fewer(options.asked),
        packed=0.0 if heaviest is None else heaviest.packed,
        components=points.components(solution.directions),
    )


def replace_block(
    points: Points,
    k: int,
    number: int,
    rng: np.random.Generator,
    best: Solution,
    answers: list[Solution],
) -> Array:
    """One block gives way to a row that is captured badly: the weakest, every second time any.

    Directions may overlap now; the first sweep of the descent separates them.
    """
    units = pad(unit_lengths(best.directions), k)
    sweep = points.sweep_directions(units)
    leaving = int(sweep.captured.argmin()) if number % 2 else int(rng.integers(k))
    missed = points.find_missed(sweep)
    if missed.any():
        units[leaving] = points.at(draw(missed, 1, rng))[0]
    return units


def explain_fewer(k: object) -> str:
    """Why fewer blocks are in use: what the search knows, no more, and what may be tried next.

    Answers with further blocks may exist that are better; none was found.
    """
    return (
        "no answer with more blocks was found that is better. "
        f"Try three factors, n_components=({k}, {k}) (-k {k},{k}), in which every group of rows "
        "may use every group of columns; samples or features alone, which ask for less; or rows "
        "normalized to one length, where a few large ones outweigh the others"
    )
