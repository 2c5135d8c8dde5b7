"""The best factors of a partition that is given: one power iteration for every group.

With groups on both sides and a core between them, the two sides take turns: each is exact given the
other, and what they end with is a local optimum.
"""

from __future__ import annotations

import numpy as np

from orthonmf.alternation import errors_of
from orthonmf.engine.compressed import compress_columns, compress_rows
from orthonmf.engine.matrix import Matrix
from orthonmf.engine.points import Points, Samples, columns_of
from orthonmf.factorization import Factorization
from orthonmf.onmf.core.descent import Grouped
from orthonmf.onmf.exact_directions import find_top_directions
from orthonmf.onmf.options import Options
from orthonmf.onmf.publish import publish_labels
from orthonmf.onmf.solution import CoreSolution, Solution
from orthonmf.typing import Array
from orthonmf.vectors import divide, unit_lengths

STEP = "refit of given labels"
UNUSED = "the labels name no more groups that hold anything"
MAX_STEPS = 1000
TOLERANCE = 1e-10


def refit_partition(
    matrix: Matrix, labels: Array | None, feature_labels: Array | None, options: Options
) -> Factorization:
    """The factorization with the smallest error among those with these labels.

    ``labels`` (n,) and ``feature_labels`` (m,) number groups from 0, -1 for none; one of the two
    may be left out. With both, rows and columns of the same number are a block.
    """
    rows = labels is not None
    points: Points = Samples(matrix) if rows else columns_of(matrix)
    given = labels if labels is not None else feature_labels
    assert given is not None
    support = None
    if rows and feature_labels is not None:
        support = np.arange(options.n_components)[:, None] == feature_labels
    directions, captured = _find_directions(points, given, support, options.n_components)
    solution = Solution(
        directions,
        captured[-1],
        errors_of(tuple(captured), points.total),
        n_sweeps=len(captured),
        steps=(STEP,),
        components=points.components_of(given, directions),
        unused=UNUSED,
    )
    return publish_labels(matrix, labels, solution, options)


def _find_directions(
    points: Points, labels: Array, support: Array | None, k: int
) -> tuple[Array, list[float]]:
    """Top singular directions (k, m) of the points of every label, and what each update captured.

    All groups take a power update in one read, from the weighted sum of their points: of
    non-negative points no top singular direction is orthogonal to it. With ``support`` (k, m) a
    direction has only the coordinates of its block.
    """
    directions = points.sums(labels, k)
    captured: list[float] = []
    while len(captured) < MAX_STEPS:
        if support is not None:
            directions = np.where(support, directions, 0.0)
        updated = points.update(labels, directions)
        captured.append(float(updated.captured.sum()))
        if len(captured) > 1:
            gained = captured[-1] - captured[-2]
            if gained <= TOLERANCE * max(points.total - captured[-1], 0.0):
                break
        directions = updated.sums
    return directions, captured


def refit_groups(
    matrix: Matrix, labels: Array, feature_labels: Array, options: Options
) -> Factorization:
    """A factorization with these groups of rows (n,) and columns (m,) and a core between them."""
    starts = np.ones(matrix.shape[1]), np.sqrt(matrix.column_squares)
    captured, factors = max(
        (_take_turns(matrix, labels, feature_labels, scales, options) for scales in starts),
        key=lambda turns: turns[0][-1],
    )
    points = Samples(matrix)
    solution = Solution(
        factors,
        captured[-1],
        errors_of(tuple(captured), matrix.total),
        n_sweeps=len(captured),
        steps=(STEP,),
        unused=UNUSED,
        components=points.components(factors.components),
        groups=points.components(factors.groups),
    )
    return publish_labels(matrix, labels, solution, options)


def _take_turns(
    matrix: Matrix, labels: Array, feature_labels: Array, scales: Array, options: Options
) -> tuple[list[float], CoreSolution]:
    """What every round captured, and its last answer, from scales (m,) of the columns."""
    numbers = np.arange(options.n_groups)[:, None]
    groups = unit_lengths(np.where(numbers == feature_labels, scales, 0.0))
    core = np.ones((options.n_components, options.n_groups))
    captured: list[float] = []
    while len(captured) < MAX_STEPS:
        rows = _hold(compress_columns(matrix, groups), labels, core)
        seen = compress_rows(matrix, rows.labels, rows.scales, rows.energies)
        columns = _hold(seen, feature_labels, core.T)
        groups, core = columns.as_rows(), columns.core.T
        captured.append(max([float(np.square(core).sum()), *captured[-1:]]))
        if len(captured) > 1:
            gained = captured[-1] - captured[-2]
            if gained <= TOLERANCE * max(matrix.total - captured[-1], 0.0):
                break
    return captured, CoreSolution(groups, core)


def _hold(points: Samples, labels: Array, near: Array) -> Grouped:
    """The top singular vector of every group of points, labels (N,) held fixed."""
    directions = find_top_directions(points.whole(), labels, near)
    updated = points.update(labels, directions)
    scales = np.where(points.weights > 0, updated.products, 0.0)
    energies = np.maximum(updated.captured, 0.0)
    core = divide(updated.sums, np.sqrt(energies)[:, None])
    return Grouped(np.where(scales > 0, labels, np.int32(-1)), scales, energies, core)
