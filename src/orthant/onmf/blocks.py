"""The default over both: many starts, descent with disjoint supports, and escapes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from orthant.engine.matrix import Matrix
from orthant.engine.points import Points
from orthant.engine.samples import Samples
from orthant.numerics.arrays import Array
from orthant.onmf.block_starts import block_starts
from orthant.onmf.descent import descend_disjoint
from orthant.onmf.escapes import block_escapes
from orthant.onmf.exact_directions import find_exact_directions
from orthant.onmf.full_rank import solve_full_rank
from orthant.onmf.options import Options
from orthant.onmf.search import Search
from orthant.onmf.solution import Solution, Start

ESCAPES_PER_START = 24
PATIENCE = 12


def factorize_blocks(matrix: Matrix, options: Options) -> Solution:
    """Disjoint blocks of samples and features, with as small an error as we can."""
    points, k = Samples(matrix), options.n_components
    published = solve_full_rank(matrix) if k >= min(matrix.shape) else None

    def refine(directions: Array) -> Solution:
        return descend_disjoint(
            points,
            directions,
            max_iter=options.max_iter,
            tol=options.tol,
            step=options.checkpoint.next_step(),
        )

    def look(directions: Array, n_sweeps: int) -> Solution:
        return descend_disjoint(points, directions, max_iter=n_sweeps, tol=0.0)

    search = Search(refine, look)
    escapes = []
    if points.access is not None and k > 1:
        count = ESCAPES_PER_START * options.n_init
        escapes = block_escapes(points.access, k, count, options.rng)
    solution = search.run(_starts(points, options, search, published), escapes, PATIENCE)
    exact = find_exact_directions(points, solution.directions, disjoint=True)
    if exact is not None:
        steps = (*solution.steps, "exact directions")
        solution = replace(solution, directions=exact, steps=steps)
    packed = 0.0 if published is None else published.packed
    return replace(solution, unused=explain_fewer(options.asked), packed=packed).finish(points)


def explain_fewer(k: object) -> str:
    """Why fewer blocks are in use: what the search knows, no more, and what may be tried next.

    Answers with further blocks may exist that are better; none was found.
    """
    return (
        "no answer with more blocks was found that is better. "
        f"Try three factors, n_components=({k}, {k}), in which every group of rows may use every "
        "group of columns; orthogonal='samples' or 'features', which ask for less; or rows "
        "normalized to one length (orthant.preparation.normalize_rows), where a few large ones "
        "outweigh the others"
    )


def _starts(
    points: Points, options: Options, search: Search, published: Solution | None
) -> Iterator[Start]:
    """Given components and those of Theorem 9, where there are any, before all others."""
    if not isinstance(options.seeding, str):
        yield Start("given components", points.directions_of(options.seeding))
    if published is not None:
        yield Start("published steps", published.directions, published.promise)
    yield from block_starts(points, options, search)
