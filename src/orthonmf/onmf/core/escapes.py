"""Recombination of two answers with a core: what both keep together stays together.

Rows that two answers put into the same groups make a cell, and so do columns. The matrix seen by
cells is small, any answer for it is one for the whole matrix, and both answers are among them.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from orthonmf.checkpoint import Checkpoint
from orthonmf.engine.compressed import as_points, compress_columns
from orthonmf.engine.matrix import Matrix
from orthonmf.onmf.core.descent import descend_core, group_points
from orthonmf.onmf.core.starts import core_starts
from orthonmf.onmf.options import Options
from orthonmf.onmf.search.loop import Escape, Search
from orthonmf.onmf.solution import CoreSolution, Solution
from orthonmf.progress import silence
from orthonmf.typing import Array
from orthonmf.vectors import divide

RECOMBINATIONS = 3
SMALL_STARTS = 6  # rows first and columns first each


def core_escapes(matrix: Matrix, options: Options) -> list[Escape[CoreSolution]]:
    """Recombine the best answer with each of the next best."""

    def make_recombination(number: int) -> Escape[CoreSolution]:
        def propose(
            best: Solution[CoreSolution], answers: list[Solution[CoreSolution]]
        ) -> CoreSolution:
            other = answers[min(number, len(answers) - 1)].directions
            return recombine(matrix, best.directions, other, options)

        return Escape("recombination", propose)

    return [make_recombination(number) for number in range(1, 1 + RECOMBINATIONS)]


@dataclass(frozen=True, slots=True)
class _Sides:
    """The groups and scales of rows (n,) and columns (m,) of an answer; label -1 for none."""

    labels: Array
    scales: Array
    feature_labels: Array
    feature_scales: Array


def recombine(
    matrix: Matrix, best: CoreSolution, other: CoreSolution, options: Options
) -> CoreSolution:
    """What does best on the cells of two answers, scaled as in the first."""
    first, second = _read_sides(matrix, best), _read_sides(matrix, other)
    rows = _meet(first.labels, second.labels)
    columns = _meet(first.feature_labels, second.feature_labels)
    scales = np.where(first.scales > 0, first.scales, second.scales)
    feature_scales = np.where(first.feature_scales > 0, first.feature_scales, second.feature_scales)
    cells = np.zeros((columns.max() + 1, len(columns)))
    cells[columns, np.arange(len(columns))] = feature_scales
    cells = divide(cells, np.linalg.norm(cells, axis=1)[:, None])
    solved = _solve(_see_cells(matrix, rows, scales, cells), options)
    return CoreSolution(solved.groups @ cells, solved.core)


def _read_sides(matrix: Matrix, answer: CoreSolution) -> _Sides:
    """One read: the rows as the groups of columns of an answer see them."""
    groups = answer.groups
    rows = group_points(compress_columns(matrix, groups), answer.core)
    feature_scales = groups.max(axis=0)
    feature_labels = np.where(feature_scales > 0, groups.argmax(axis=0), -1)
    return _Sides(rows.labels, rows.scales, feature_labels, feature_scales)


def _meet(labels: Array, other: Array) -> Array:
    """The number of the cell of every point: pairs of labels that occur."""
    pairs = labels.astype(np.int64) * (other.max() + 2) + other
    return np.unique(pairs, return_inverse=True)[1].reshape(-1)


def _see_cells(matrix: Matrix, rows: Array, scales: Array, cells: Array) -> Matrix:
    """The matrix seen by cells of rows, by their numbers and scales (n,), and of columns (c, m)."""
    weights = np.ones(len(rows)) if matrix.row_weights is None else matrix.row_weights
    seen = compress_columns(matrix, cells).matrix
    count = int(rows.max()) + 1
    energies = np.bincount(rows, weights * np.square(scales), minlength=count)
    sums = seen.row_sums(rows, weights * scales, count)
    return as_points(matrix, divide(sums, np.sqrt(energies)[:, None])).matrix


def _solve(small: Matrix, options: Options) -> CoreSolution:
    """The best of several starts on a small matrix."""
    options = replace(options, n_init=SMALL_STARTS, checkpoint=Checkpoint(), init="auto")

    def refine(start: CoreSolution) -> Solution[CoreSolution]:
        return descend_core(small, start, max_iter=options.max_iter, tol=options.tol)

    search = Search(refine)
    with silence():
        return search.run(core_starts(small, options, search), []).directions
