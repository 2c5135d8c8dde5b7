"""Matrices with missing entries: descent by closed forms over what is observed, several starts.

Every half step is the exact minimizer over its unknowns, so the error over the observed entries
never rises. No ratio is claimed: with missing entries already one component is hard to fit best.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from orthant.engine.masked import MaskedMatrix, MaskedSweep
from orthant.engine.points import Features, Points, Samples
from orthant.factorization import Factorization, Projection, project
from orthant.kmeans.solve import weighted_kmeans
from orthant.numerics.arrays import Array
from orthant.onmf.options import Options
from orthant.onmf.outcome import Outcome
from orthant.onmf.promises import APriori
from orthant.onmf.publish import shortage, unit_rows, winners_of_columns
from orthant.onmf.solution import UNUSED
from orthant.progress import announce

REASON = (
    "entries are missing, and no algorithm with a proven ratio is known for that; "
    "impute them to get one"
)
# So many exchanges in a row that did not help end the search.
EXCHANGES = 5
PARTITION_SWEEPS = 8


def factorize_masked(matrix: MaskedMatrix, options: Options) -> Outcome:
    """Give every sample, or every feature, to one component by its observed entries.

    The error is the weighted squared error over the observed entries. Starts take turns: cluster
    the matrix with zeros for what is missing; draw points with probability proportional to what
    is not captured yet; fit a random partition, which reaches answers that hang on entries no
    drawn point has. Exchanges of one component for a point that is captured badly follow, as
    long as they help.
    """
    search = _Search(matrix, options)
    if not search.total > 0:
        empty = np.zeros((0, matrix.shape[1]))
        run = _Run(empty, 0.0, ())
        why = "nothing but zeros is observed"
        return Outcome(_published(search, run, 0, ("zero matrix",), why), APriori(reason=REASON))
    starts = range(options.n_init)
    seedings = (search.clustered, search.drawn, search.scattered)
    runs = [search.descended(seedings[number % 3]()) for number in starts]
    best = max(runs, key=lambda run: run.captured)
    n_sweeps = sum(len(run.history) for run in runs)
    failures = 0
    while failures < EXCHANGES and search.k > 1:
        run = search.descended(search.exchanged(best.form))
        n_sweeps += len(run.history)
        if run.captured > best.captured + options.tol * (search.total - best.captured):
            best = replace(run, history=(*best.history, run.history[-1]))
            failures = 0
        else:
            failures += 1
    steps = ("masked seeding", "masked descent", "exchanges")
    result = _published(search, best, n_sweeps, steps, UNUSED)
    return Outcome(result, APriori(reason=REASON))


@dataclass(frozen=True, slots=True)
class _Run:
    form: Array  # (k, m)
    captured: float
    history: tuple[float, ...]  # relative squared error after each sweep


@dataclass(frozen=True, slots=True)
class _Search:
    matrix: MaskedMatrix
    options: Options

    @property
    def k(self) -> int:
        return self.options.n_components

    @property
    def orthogonal(self) -> str:
        return self.options.orthogonal

    @property
    def rng(self) -> np.random.Generator:
        return self.options.rng

    @property
    def points(self) -> Points:
        """Rows or columns with zeros in place of missing entries."""
        return Samples(self.matrix) if self.orthogonal == "samples" else Features(self.matrix)

    @property
    def total(self) -> float:
        return float(self.points.weights.sum())

    def at(self, indices: Array) -> Array:
        """The form that stands for the points at these positions."""
        if self.orthogonal == "samples":
            return unit_rows(self.matrix.rows_in_units(indices))
        form = np.zeros((len(indices), self.matrix.shape[1]))
        form[np.arange(len(indices)), indices] = 1.0
        return form

    def clustered(self) -> Array:
        """Weighted k-means of the points with zeros for what is missing."""
        clusters = weighted_kmeans(self.points, self.k, rng=self.rng, subroutine="ls++")
        found = unit_rows(self.matrix.shifted(self.points.components(clusters.form))[0])
        return np.pad(found, ((0, self.k - len(found)), (0, 0)))

    def drawn(self) -> Array:
        """Points drawn one after the other by the energy not captured so far."""
        weights = self.points.weights
        missed, picks = weights.copy(), []
        for _ in range(min(self.k, int(np.count_nonzero(weights)))):
            if not missed.sum() > 0:
                break
            picks.append(int(self.rng.choice(len(missed), p=missed / missed.sum())))
            swept = self.matrix.masked_sweep(self.at(np.array(picks[-1:])), self.orthogonal)
            missed = np.minimum(missed, np.maximum(weights - swept.captured, 0.0))
            missed[picks] = 0.0
        form = np.zeros((self.k, self.matrix.shape[1]))
        form[: len(picks)] = self.at(np.array(picks))
        return form

    def scattered(self) -> Array:
        """Components fitted to a random partition of the points."""
        labels = self.rng.integers(self.k, size=len(self.points.weights))
        shape = (self.k, self.matrix.shape[1])
        form = self.rng.random(shape) + 0.5
        if self.orthogonal == "features":
            form = np.where(labels == np.arange(self.k)[:, None], form, 0.0)
        for _ in range(PARTITION_SWEEPS):
            form = unit_rows(self.matrix.masked_sweep(form, self.orthogonal, labels).form)
        return form

    def descended(self, form: Array) -> _Run:
        """Sweep until one lowers the error by less than ``tol`` of itself."""
        total, captured, history = self.total, -math.inf, []
        while True:
            swept = self.matrix.masked_sweep(form, self.orthogonal)
            now = float(swept.captured.sum())
            if now < captured:  # as good as this arithmetic can tell
                break
            gained, captured = now - captured, now
            history.append(max(0.0, 1.0 - captured / total))
            announce("sweep", history[-1])
            form = unit_rows(swept.form)
            if len(history) >= self.options.max_iter:
                break
            moved = self.reuse_idle(form, swept)
            if not moved and gained <= self.options.tol * (total - captured):
                break
        return _Run(form, captured, tuple(history))

    def exchanged(self, form: Array) -> Array:
        """A form without the component that is missed least, with a badly captured point."""
        swept = self.matrix.masked_sweep(form, self.orthogonal)
        losses = np.bincount(swept.labels, weights=swept.captured - swept.second, minlength=self.k)
        # Not always the cheapest: what is best to give up depends on what comes in its place.
        cheapest = np.argsort(losses, kind="stable")[: max(2, self.k // 3)]
        given_up = int(self.rng.choice(cheapest))
        missed = np.maximum(self.points.weights - swept.captured, 0.0)
        new = form.copy()
        if missed.sum() > 0:
            point = self.rng.choice(len(missed), size=1, p=missed / missed.sum())
            self.put(new, np.array([given_up]), point)
        return new

    def put(self, form: Array, places: Array, points: Array) -> None:
        """Let components stand for single points, in place; a column belongs to one component."""
        if self.orthogonal == "features":
            form[:, points] = 0.0
        form[places] = self.at(points)

    def reuse_idle(self, form: Array, swept: MaskedSweep) -> bool:
        """Move components that captured nothing, in place, to the points captured worst."""
        energies = np.bincount(swept.labels, weights=swept.captured, minlength=self.k)
        idle = np.flatnonzero(energies <= 0)
        if not len(idle):
            return False
        weights = self.points.weights
        missed = weights - swept.captured
        worth = np.flatnonzero(missed > 1e-9 * weights.mean())
        chosen = worth[np.argsort(-missed[worth], kind="stable")][: len(idle)]
        self.put(form, idle[: len(chosen)], chosen)
        return len(chosen) > 0


def _published(
    search: _Search, run: _Run, n_sweeps: int, steps: tuple[str, ...], reason: str
) -> Factorization:
    """Order the components by what they capture, assign once more, take the error."""
    matrix, orthogonal = search.matrix, search.orthogonal
    unit = unit_rows(matrix.unshifted(run.form)).astype(matrix.dtype)
    unit = unit[unit.any(axis=1)]
    projection = project(matrix, unit, orthogonal)
    # Dropping and reordering may change who wins a tie: assign again until nothing moves.
    for _ in range(len(unit) + 1):
        energies = _energies(matrix, projection, unit)
        order = np.argsort(-energies, kind="stable")
        order = order[energies[order] > 0]
        if np.array_equal(order, np.arange(len(unit))):
            break
        unit = unit[order]
        projection = project(matrix, unit, orthogonal)
    squared = matrix.residual(projection.loadings, unit)
    labels, scales = (None, None) if orthogonal == "samples" else winners_of_columns(unit)
    return Factorization(
        orthogonal=orthogonal,
        n_components=search.options.asked,
        components=unit,
        loadings=projection.loadings,
        labels=projection.labels,
        scales=projection.scales,
        feature_labels=labels,
        feature_scales=scales,
        error=matrix.in_units_of_x(math.sqrt(squared)),
        relative_squared_error=squared / search.total if search.total > 0 else 0.0,
        history=run.history,
        n_sweeps=n_sweeps + 1,
        steps_run=(*steps, "final assignment"),
        shortage=shortage(len(unit), search.options.asked, reason),
    )


def _energies(matrix: MaskedMatrix, projection: Projection, unit: Array) -> Array:
    """What every component captures by its loadings, missing entries counted as fitted, (k,)."""
    if projection.labels is None or projection.scales is None:
        return matrix.energies_of_loadings(projection.loadings, unit)
    return matrix.energies_of_scales(projection.labels, projection.scales, unit)
