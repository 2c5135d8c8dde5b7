"""Matrices with missing entries: descent by closed forms over what is observed, several starts.

Every half step is the exact minimizer over its unknowns, so the error over the observed entries
never rises. No ratio is claimed: with missing entries already one component is hard to fit best.

NaN is noticed in `inputs/data.py`; the passes over what is observed are in `engine/missing.py`.

Directions are components here: (k, m) vectors over the columns of X in its units.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from orthonmf.alternation import Update
from orthonmf.certificate import Promise
from orthonmf.engine.missing import MaskedMatrix
from orthonmf.engine.points import Points, Samples, StreamedColumns, move_idle
from orthonmf.engine.sampling import draw
from orthonmf.kmeans.seeding import distance_rounding
from orthonmf.kmeans.subroutines import weighted_kmeans
from orthonmf.onmf.options import Options
from orthonmf.onmf.publish import unit_rows
from orthonmf.onmf.search.loop import Escape, Search, Start
from orthonmf.onmf.solution import Solution, descend_by, pad
from orthonmf.typing import Array

NO_PROMISE = Promise(
    reason="entries are missing, and no algorithm with a proven ratio is known for that; "
    "impute them to get one"
)
# So many exchanges in a row that do not help end the search, and so many do in any case.
PATIENCE = 5
MOST_EXCHANGES = 1000
PARTITION_SWEEPS = 8


def factorize_masked(matrix: MaskedMatrix, options: Options) -> Solution:
    """Give every sample, or every feature, to one component by its observed entries.

    The error is the weighted squared error over the observed entries. Starts take turns: cluster
    the matrix with zeros for what is missing; draw points with probability proportional to what
    is not captured yet; fit a random partition, which reaches answers that hang on entries no
    drawn point has. Exchanges of one component for a point that is captured badly follow, as
    long as they help.
    """
    observed = _Observed(matrix, options)
    most = MOST_EXCHANGES if options.n_components > 1 else 0
    exchanges = [Escape("exchanges", observed.exchange)] * most
    search = Search(observed.descend)
    solution = search.run(observed.starts(), exchanges, PATIENCE, least_gain=options.tol)
    steps = ("masked seeding", "masked descent", "exchanges")
    return replace(solution, steps=steps, promise=NO_PROMISE, components=solution.directions)


class _Observed:
    """A matrix with missing entries as something to alternate on and to search in."""

    def __init__(self, matrix: MaskedMatrix, options: Options) -> None:
        self._matrix, self._options, self._rng = matrix, options, options.rng
        self._k, self._orthogonal = options.n_components, options.orthogonal
        # Rows or columns with zeros in place of missing entries.
        samples = self._orthogonal == "samples"
        self._points: Points = Samples(matrix) if samples else StreamedColumns(matrix)

    def descend(self, start: Start) -> Solution:
        """Sweep until one lowers the error by less than ``tol`` of itself."""
        options, total = self._options, self._points.total
        return descend_by(
            self._update, start.directions, total=total, max_iter=options.max_iter, tol=options.tol
        )

    def _update(self, vectors: Array) -> Update:
        """One sweep over the observed entries, and the best components after it."""
        sweep = self._matrix.masked_sweep(vectors, self._orthogonal)
        components, weights = unit_rows(sweep.components), self._points.weights

        def reuse_idle() -> bool:
            energies = np.bincount(sweep.labels, weights=sweep.captured, minlength=self._k)
            idle = np.flatnonzero(energies <= 0)
            if len(idle) == 0:
                return False
            least = 1e-9 * weights.mean()
            return move_idle(components, idle, weights - sweep.captured, least, at)

        def at(chosen: Array) -> Array:
            self._clear(components, chosen)
            return self._at(chosen)

        captured = float(sweep.captured.sum())
        return Update(captured=captured, vectors=components, reuse_idle=reuse_idle)

    def _at(self, indices: Array) -> Array:
        """Components (c, m) that stand for the points at these positions."""
        if self._orthogonal == "samples":
            return unit_rows(self._matrix.rows_in_units(indices))
        components = np.zeros((len(indices), self._matrix.shape[1]))
        components[np.arange(len(indices)), indices] = 1.0
        return components

    def _clear(self, components: Array, points: Array) -> None:
        """Take columns that get a component of their own from all others, in place."""
        if self._orthogonal == "features":
            components[:, points] = 0.0

    def starts(self) -> Iterator[Start]:
        """As many as asked for, of three kinds in turn."""
        kinds = (self._cluster, self._draw, self._scatter)
        for number in range(self._options.n_init):
            yield Start("masked seeding", kinds[number % 3]())

    def _cluster(self) -> Array:
        """Weighted k-means of the points with zeros for what is missing."""
        points = self._points
        clusters = weighted_kmeans(points, self._k, rng=self._rng, subroutine="ls++")
        return pad(unit_rows(points.components(clusters.centers)), self._k)

    def _draw(self) -> Array:
        """Points drawn one after the other by the energy not captured so far."""
        weights = self._points.weights
        rounding = distance_rounding(self._points.dimension) * weights.sum()
        components, missed = np.zeros((self._k, self._matrix.shape[1])), weights
        for number in range(self._k):
            if number > 0 and not missed.sum() > rounding:
                break
            drawn = draw(missed, 1, self._rng)
            components[number] = self._at(drawn)[0]
            alone = components[number : number + 1]
            captured = self._matrix.masked_sweep(alone, self._orthogonal).captured
            missed = np.minimum(missed, np.maximum(weights - captured, 0.0))
            missed[drawn] = 0.0
        return components

    def _scatter(self) -> Array:
        """Components fitted to a random partition of the points."""
        labels = self._rng.integers(self._k, size=len(self._points.weights))
        components = self._rng.random((self._k, self._matrix.shape[1])) + 0.5
        if self._orthogonal == "features":
            components = np.where(labels == np.arange(self._k)[:, None], components, 0.0)
        for _ in range(PARTITION_SWEEPS):
            swept = self._matrix.masked_sweep(components, self._orthogonal, labels)
            components = unit_rows(swept.components)
        return components

    def exchange(self, best: Solution, answers: list[Solution]) -> Array:
        """The best components without the one that is missed least, with a badly captured point."""
        components = best.directions
        swept = self._matrix.masked_sweep(components, self._orthogonal)
        lost = swept.captured - swept.second
        losses = np.bincount(swept.labels, weights=lost, minlength=self._k)
        # Not always the cheapest: what is best to give up depends on what comes in its place.
        cheapest = np.argsort(losses, kind="stable")[: max(2, self._k // 3)]
        given_up = int(self._rng.choice(cheapest))
        missed = np.maximum(self._points.weights - swept.captured, 0.0)
        new = components.copy()
        if missed.any():
            point = draw(missed, 1, self._rng)
            self._clear(new, point)
            new[given_up] = self._at(point)[0]
        return new
