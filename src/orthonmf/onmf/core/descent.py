"""Descent with groups of rows, groups of columns, and a core of any pattern between them.

``Y ~ F core G^T`` with one non-zero per row of F and of G, unit columns. For given G the rows are
exactly the problem over samples on ``Y G``, (n, l), since ``|Y - F core G^T|^2 = |Y - Y G G^T|^2 +
|Y G - F core|^2``; for given F the columns are the same on ``Y^T F``, (m, k). Each half reads the
data once and is then solved in memory. Neither can raise the error.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from orthonmf.alternation import Update, alternate, errors_of
from orthonmf.checkpoint import Checkpoint, Step
from orthonmf.engine.compressed import compress_columns, compress_rows
from orthonmf.engine.matrix import Matrix
from orthonmf.engine.samples import Samples
from orthonmf.numerics.arrays import Array
from orthonmf.numerics.vectors import divide, unit_lengths, winners_only
from orthonmf.onmf.search.descent import descend
from orthonmf.onmf.solution import Solution
from orthonmf.progress import silence


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
        found = np.zeros((len(self.energies), len(self.labels)))
        inside = np.flatnonzero(self.labels >= 0)
        labels = self.labels[inside]
        found[labels, inside] = self.scales[inside] / np.sqrt(self.energies[labels])
        return found


def group_points(points: Samples, directions: Array) -> Grouped:
    """Give every point to the direction (k, c) that captures most of it."""
    sweep = points.sweep_directions(directions)
    scales = np.where(points.weights > 0, sweep.products, 0.0)
    labels = np.where(scales > 0, sweep.labels, np.int32(-1))
    energies = np.maximum(sweep.captured, 0.0)
    core = divide(sweep.sums, np.sqrt(energies)[:, None])
    return Grouped(labels, scales, energies, core)


def pack(groups: Array, core: Array) -> Array:
    """Vectors (l + k, m) from unit groups of columns (l, m) and a core (k, l).

    The groups first, then the components ``core @ groups`` that they make.
    """
    return np.concatenate([groups, core @ groups])


def unpack(vectors: Array, n_groups: int) -> tuple[Array, Array]:
    """Unit groups of columns (l, m) that share none, and the core (k, l), from vectors."""
    groups = unit_lengths(winners_only(vectors[:n_groups]))
    return groups, vectors[n_groups:] @ groups.T


def descend_core(
    matrix: Matrix,
    vectors: Array,
    n_groups: int,
    *,
    max_iter: int,
    tol: float,
    step: Step | None = None,
) -> Solution:
    """Improve vectors (l + k, m) until a round lowers the error by less than ``tol`` of itself.

    ``n_groups`` is l. A round solves the problem of the rows, then that of the columns.
    """
    step = step or Checkpoint().next_step()
    if not step.finished:
        halves = _Halves(matrix, n_groups, max_iter, tol)
        found = alternate(halves, vectors, max_iter=max_iter, tol=tol, step=step)
        step.finish(found.history, vectors=found.last.vectors)
    return Solution(
        step.arrays["vectors"],
        step.history[-1],
        errors_of(step.history, matrix.total),
        n_sweeps=len(step.history),
    )


class _Halves:
    """Rows for given groups of columns, then columns for the groups of rows just found."""

    name = "sweep"

    def __init__(self, matrix: Matrix, n_groups: int, max_iter: int, tol: float) -> None:
        self._matrix, self._n_groups, self.total = matrix, n_groups, matrix.total
        self._max_iter, self._tol = max_iter, tol

    def update(self, vectors: Array) -> Update:
        groups, core = unpack(vectors, self._n_groups)
        rows = self._solve(compress_columns(self._matrix, groups), core)
        rows = self._open_unseen(rows)
        seen = compress_rows(self._matrix, rows.labels, rows.scales, rows.energies)
        columns = self._solve(seen, core.T)
        captured = float(np.square(columns.core).sum())
        return Update(captured=captured, vectors=pack(columns.as_rows(), columns.core.T))

    def _solve(self, points: Samples, directions: Array) -> Grouped:
        """The problem over samples, from directions, on points of few coordinates."""
        if points.total > 0:
            with silence():
                found = descend(points, directions, max_iter=self._max_iter, tol=self._tol)
            directions = found.directions
        return group_points(points, directions)

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

    def reuse_idle(self, swept: Array, update: Update) -> bool:
        """Both halves put empty groups to use already."""
        return False

    def mark(self, update: Update) -> str:
        return ""
