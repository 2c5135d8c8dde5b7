"""Descent with groups of rows, groups of columns, and a core of any pattern between them.

``Y ~ F core G^T`` with one non-zero per row of F and of G, unit columns. For given G the rows are
exactly the problem over samples on ``Y G``, (n, l), since ``|Y - F core G^T|^2 = |Y - Y G G^T|^2 +
|Y G - F core|^2``; for given F the columns are the same on ``Y^T F``, (m, k). Each half reads the
data once and is then solved in memory. Neither can raise the error.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from orthonmf.alternation import Method, Update
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
    halves = _Halves(matrix, max_iter, tol, given)
    return descend_by(halves, start, max_iter=max_iter, tol=tol, step=step)


class _Halves(Method[CoreSolution, Update[CoreSolution]]):
    """Rows for given groups of columns, then columns for the groups of rows just found.

    Both halves put empty groups to use, so none is idle after a round.
    """

    def __init__(
        self, matrix: Matrix, max_iter: int, tol: float, given: tuple[Array, Array] | None
    ) -> None:
        self._matrix, self.total = matrix, matrix.total
        self._max_iter, self._tol, self._given = max_iter, tol, given or (None, None)

    def arrays_of(self, vectors: CoreSolution) -> dict[str, Any]:
        return {"groups": vectors.groups, "core": vectors.core}

    def vectors_of(self, arrays: dict[str, Array]) -> CoreSolution:
        return CoreSolution(arrays["groups"], arrays["core"])

    def update(self, vectors: CoreSolution) -> Update[CoreSolution]:
        labels, feature_labels = self._given
        seen = compress_columns(self._matrix, vectors.groups)
        rows = self._solve(seen, vectors.core, labels)
        rows = self._open_unseen(rows) if labels is None else rows
        scales = self._matrix.weigh_rows(rows.scales)
        sums = self._matrix.row_sums(rows.labels, scales, len(rows.energies))
        seen = compress_rows(self._matrix, sums, rows.energies)
        columns = self._solve(seen, vectors.core.T, feature_labels)
        captured = float(np.square(columns.core).sum())
        core = np.ascontiguousarray(columns.core.T)  # as a checkpoint gives it back
        return Update(captured=captured, vectors=CoreSolution(columns.as_rows(), core))

    def _solve(self, points: Samples, directions: Array, labels: Array | None) -> Grouped:
        """The problem over samples, from directions, on points of few coordinates."""
        if labels is not None:
            directions = find_top_directions(points.whole(), labels, directions)
        elif points.total > 0:
            with silence():
                descended = descend(points, directions, max_iter=self._max_iter, tol=self._tol)
            directions = descended.directions
        return group_points(points, directions, labels)

    def _open_unseen(self, rows: Grouped) -> Grouped:
        """Give empty groups the heaviest rows that the groups of columns do not see at all.

        Such a row has entries in unused columns alone, which no group of rows sees in turn: left
        to themselves, descent would never come to either.
        """
        empty = np.flatnonzero(rows.energies <= 0)
        if len(empty) == 0:
            return rows
        weights = Samples(self._matrix).weights
        unseen = np.flatnonzero((rows.labels < 0) & (weights > 0))
        chosen = unseen[np.argsort(-weights[unseen], kind="stable")][: len(empty)]
        empty = empty[: len(chosen)]
        labels, scales, energies = rows.labels.copy(), rows.scales.copy(), rows.energies.copy()
        labels[chosen], scales[chosen] = empty, 1.0
        given = self._matrix.row_weights
        energies[empty] = 1.0 if given is None else given[chosen]
        return Grouped(labels, scales, energies, rows.core)
