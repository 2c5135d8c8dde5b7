"""Descent with groups of rows, groups of columns, and a core of any pattern between them.

``Y ~ F core G^T`` with one non-zero per row of F and of G, unit columns. For given G the rows are
exactly the problem over samples on ``Y G``, (n, l), since ``|Y - F core G^T|^2 = |Y - Y G G^T|^2 +
|Y G - F core|^2``; for given F the columns are the same on ``Y^T F``, (m, k). Each half reads the
data once and is then solved in memory. Neither can raise the error.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from orthonmf.alternation import Update
from orthonmf.checkpoint import Step
from orthonmf.engine.compressed import compress_columns, compress_rows
from orthonmf.engine.matrix import Matrix
from orthonmf.engine.points import Samples
from orthonmf.onmf.exact_directions import find_top_directions
from orthonmf.onmf.search.descent import descend
from orthonmf.onmf.solution import CoreSolution, Solution, descend_by
from orthonmf.progress import silence
from orthonmf.typing import Array
from orthonmf.vectors import divide


@dataclass(frozen=True, slots=True)
class Grouped:
    """Points given to groups, each on the line of its group.

    Attributes
    ----------
    labels, scales
        (N,) the group of every point, -1 for none, and its product with the unit direction.
    energies
        (k,) weighted sums of the squared scales; 0 for an empty group.
    core
        (k, c) the unit groups seen by the coordinates of the points: ``F^T @ points``.
    """

    labels: Array
    scales: Array
    energies: Array
    core: Array

    def as_rows(self) -> Array:
        """Unit groups (k, N) of points without weights, with one non-zero per point."""
        rows = np.zeros((len(self.energies), len(self.labels)))
        inside = np.flatnonzero(self.labels >= 0)
        labels = self.labels[inside]
        rows[labels, inside] = self.scales[inside] / np.sqrt(self.energies[labels])
        return rows


def group_points(points: Samples, directions: Array, labels: Array | None = None) -> Grouped:
    """Give every point to the direction (k, c) that captures most of it, or to its label (N,)."""
    if labels is None:
        sweep = points.sweep_directions(directions)
    else:
        sweep = points.update(labels, directions)
    scales = np.where(points.weights > 0, sweep.products, 0.0)
    energies = np.maximum(sweep.captured, 0.0)
    core = divide(sweep.sums, np.sqrt(energies)[:, None])
    return Grouped(np.where(scales > 0, sweep.labels, np.int32(-1)), scales, energies, core)


def descend_core(
    matrix: Matrix,
    start: CoreSolution,
    *,
    max_iter: int,
    tol: float,
    step: Step | None = None,
    given: tuple[Array, Array] | None = None,
) -> Solution:
    """Improve groups and core until a round lowers the error by less than ``tol`` of itself.

    A round solves the problem of the rows, then that of the columns. With ``given`` labels of rows
    (n,) and of columns (m,) these are kept, and a half is the best factors of one side's groups.
    """
    row_labels, column_labels = given or (None, None)

    def solve(points: Samples, directions: Array, labels: Array | None) -> Grouped:
        """The problem over samples, from directions, on points of few coordinates."""
        if labels is not None:
            directions = find_top_directions(points.whole(), labels, directions)
        elif points.total > 0:
            with silence():
                directions = descend(points, directions, max_iter=max_iter, tol=tol).directions
        return group_points(points, directions, labels)

    def update(factors: dict[str, Array]) -> Update:
        seen = compress_columns(matrix, factors["groups"])
        rows = solve(seen, factors["core"], row_labels)
        rows = open_unseen(matrix, rows) if row_labels is None else rows
        sums = matrix.row_sums(rows.labels, matrix.weigh_rows(rows.scales), len(rows.energies))
        seen = compress_rows(matrix, sums, rows.energies)
        columns = solve(seen, factors["core"].T, column_labels)
        core = np.ascontiguousarray(columns.core.T)  # as a checkpoint gives it back
        captured = float(np.square(columns.core).sum())
        return Update(captured=captured, vectors={"groups": columns.as_rows(), "core": core})

    descended = descend_by(
        update,
        {"groups": start.groups, "core": start.core},
        total=matrix.total,
        max_iter=max_iter,
        tol=tol,
        step=step,
    )
    return replace(descended, directions=CoreSolution(**descended.directions))


def open_unseen(matrix: Matrix, rows: Grouped) -> Grouped:
    """Give empty groups the heaviest rows that the groups of columns do not see at all.

    Such a row has entries in unused columns alone, which no group of rows sees in turn: left
    to themselves, descent would never come to either.
    """
    empty = np.flatnonzero(rows.energies <= 0)
    if len(empty) == 0:
        return rows
    weights = Samples(matrix).weights
    unseen = np.flatnonzero((rows.labels < 0) & (weights > 0))
    chosen = unseen[np.argsort(-weights[unseen], kind="stable")][: len(empty)]
    empty = empty[: len(chosen)]
    labels, scales, energies = rows.labels.copy(), rows.scales.copy(), rows.energies.copy()
    labels[chosen], scales[chosen] = empty, 1.0
    energies[empty] = 1.0 if matrix.row_weights is None else matrix.row_weights[chosen]
    return Grouped(labels, scales, energies, rows.core)
