"""The best factors of a partition that is given: one power iteration for every group.

With groups on both sides and a core between them, the two sides take turns: each is exact given the
other, and what they end with is a local optimum.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from orthonmf.alternation import Method, Update, alternate, errors_of
from orthonmf.checkpoint import Checkpoint
from orthonmf.engine.matrix import Matrix
from orthonmf.engine.points import Points, Samples, columns_of
from orthonmf.factorization import Factorization
from orthonmf.onmf.core.descent import descend_core
from orthonmf.onmf.options import Options
from orthonmf.onmf.publish import publish_labels
from orthonmf.onmf.solution import CoreSolution, Solution
from orthonmf.typing import Array
from orthonmf.vectors import unit_lengths

STEP = "refit of given labels"
UNUSED = "the labels name no more groups that hold anything"
MAX_STEPS = 1000
TOLERANCE = 1e-10


def refit_partition(
    matrix: Matrix, labels: Array | None, feature_labels: Array | None, options: Options
) -> Factorization:
    """The factorization with the smallest error among those with these labels.

    ``labels`` (n,) and ``feature_labels`` (m,) number groups from 0, -1 for none; one of the two
    may be left out. With both, rows and columns of the same number are a block. All groups take a
    power update in one read, from the weighted sum of their points: of non-negative points no top
    singular direction is orthogonal to it.
    """
    rows, k = labels is not None, options.n_components
    points: Points = Samples(matrix) if rows else columns_of(matrix)
    given = labels if labels is not None else feature_labels
    assert given is not None
    support = None
    if rows and feature_labels is not None:
        support = np.arange(k)[:, None] == feature_labels
    powers, step = _PowerSteps(points, given, support), Checkpoint().next_step()
    ended = alternate(powers, points.sums(given, k), max_iter=MAX_STEPS, tol=TOLERANCE, step=step)
    directions = powers.keep_support(ended.last.vectors)
    solution = Solution(
        directions,
        ended.history[-1],
        errors_of(ended.history, points.total),
        n_sweeps=len(ended.history),
        steps=(STEP,),
        components=points.components_of(given, directions),
        unused=UNUSED,
    )
    return publish_labels(matrix, labels, solution, options)


class _PowerSteps(Method[Array, Update[Array]]):
    """Directions towards the top singular vectors of the points of every label (N,).

    With ``support`` (k, m) a direction has only the coordinates of its block.
    """

    def __init__(self, points: Points, labels: Array, support: Array | None) -> None:
        self._points, self.total = points, points.total
        self._labels, self._support = labels, support

    def keep_support(self, directions: Array) -> Array:
        return directions if self._support is None else np.where(self._support, directions, 0.0)

    def update(self, vectors: Array) -> Update[Array]:
        updated = self._points.update(self._labels, self.keep_support(vectors))
        return Update(captured=float(updated.captured.sum()), vectors=updated.sums)


def refit_groups(
    matrix: Matrix, labels: Array, feature_labels: Array, options: Options
) -> Factorization:
    """A factorization with these groups of rows (n,) and columns (m,) and a core between them."""
    numbers = np.arange(options.n_groups)[:, None]
    core = np.ones((options.n_components, options.n_groups))
    solutions = []
    for scales in (np.ones(matrix.shape[1]), np.sqrt(matrix.column_squares)):
        groups = unit_lengths(np.where(numbers == feature_labels, scales, 0.0))
        start, given = CoreSolution(groups, core), (labels, feature_labels)
        solutions.append(
            descend_core(matrix, start, max_iter=MAX_STEPS, tol=TOLERANCE, given=given)
        )
    best, points = max(solutions, key=lambda solution: solution.captured), Samples(matrix)
    solution = replace(
        best,
        steps=(STEP,),
        unused=UNUSED,
        components=points.components(best.directions.components),
        groups=points.components(best.directions.groups),
    )
    return publish_labels(matrix, labels, solution, options)
