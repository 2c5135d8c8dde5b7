"""Both factors orthogonal, as well as we can: many starts, descent, and escapes.

The start of the published algorithm is always among them, so its guarantee holds for the answer.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

import numpy as np

from orthant.bounds.lower_bound import LowerBound
from orthant.engine.matrix import Matrix
from orthant.engine.points import Samples, points_over, unit_lengths
from orthant.kmeans.clustering import Clustering
from orthant.kmeans.seeding import draw
from orthant.kmeans.solve import TOL, weighted_kmeans
from orthant.numerics.arrays import Array
from orthant.onmf.canonical import canonical, may_be_exact
from orthant.onmf.double_descent import descend_double
from orthant.onmf.double_factor import disjoint_directions, full_rank_components
from orthant.onmf.escapes import missed_energy
from orthant.onmf.options import Options
from orthant.onmf.outcome import Outcome
from orthant.onmf.promises import APriori, double_from_means, strongest
from orthant.onmf.publish import Trace, publish
from orthant.onmf.search import Search
from orthant.onmf.solution import Solution
from orthant.onmf.spectral_start import MOST_ENTRIES, spectral_components
from orthant.steps.coordinate_split import split_coordinates

ESCAPES_PER_START = 6
PATIENCE = 20


@dataclass
class DoubleSearch:
    """The options of a search and the steps it went through."""

    points: Samples
    options: Options
    steps: list[str] = field(default_factory=list)
    n_sweeps: int = 0
    promises: list[APriori] = field(default_factory=list)  # of every published start
    best: Solution | None = None

    def __post_init__(self) -> None:
        # The searches over one side draw their own directions.
        self.options = replace(self.options, seeding="auto")
        self.k, self.rng = self.options.n_components, self.options.rng
        self.n_init = self.options.n_init

    def run(self) -> Solution:
        """The best of all starts and of what the escapes make of it.

        Where every sweep reads the data from afar, only the start that captures most after one
        sweep is descended from. That keeps the guarantee of the published start: one sweep from
        it is no worse than it is, and a descent never loses.
        """
        if not self.points.at_hand:
            self.consider(*max(self.few_starts(), key=self.promising))
            assert self.best is not None
            return self.best
        for step, form in self.starts():
            self.consider(step, form)
        assert self.best is not None
        fruitless = 0
        for number in range(ESCAPES_PER_START * self.n_init if self.k > 1 else 0):
            before = self.best.captured
            self.consider("block replacement", self.replaced(number))
            fruitless = fruitless + 1 if self.best.captured <= before else 0
            if fruitless == PATIENCE:
                break
        return self.best

    def consider(self, step: str, form: Array) -> None:
        """Descend from a form and keep what it gives if that captures more."""
        if not form.any():
            return
        if step not in self.steps:
            self.steps.append(step)
        found = descend_double(
            self.points,
            form,
            max_iter=self.options.max_iter,
            tol=self.options.tol,
            step=self.options.checkpoint.next_step(),
        )
        self.n_sweeps += len(found.history)
        if self.best is None or found.captured > self.best.captured:
            past = () if self.best is None else self.best.history
            history = found.history if self.best is None else (*past, found.captured)
            self.best = Solution(found.form, found.captured, history)

    def promising(self, start: tuple[str, Array]) -> float:
        """What one sweep from a start captures."""
        if not start[1].any():
            return 0.0
        self.n_sweeps += 1
        return descend_double(self.points, start[1], max_iter=1, tol=0.0).captured

    def few_starts(self) -> Iterator[tuple[str, Array]]:
        """First components that need few reads: from means, from the samples' answer, one block."""
        for _ in range(self.n_init):
            clusters = self._clustered("k-means||", self.options.tol)
            yield from self._both_ways(clusters.form, clusters.weights)
        yield from self._both_ways(*self._samples_answer())
        yield "one block", self._one_block()

    def _clustered(self, subroutine: str = "k-means++", tol: float = TOL) -> Clustering:
        """Weighted k-means of the rows for a published start, and what that start promises."""
        clusters = weighted_kmeans(
            self.points,
            self.k,
            rng=self.rng,
            subroutine=subroutine,
            tol=tol,
            checkpoint=self.options.checkpoint,
        )
        self.promises.append(double_from_means(clusters.claim))
        return clusters

    def _samples_answer(self) -> tuple[Array, Array]:
        """Directions of the answer over samples alone, and the weights of their points."""
        points = self.points
        single = Search(points, self.options)
        solution = single.run()
        self.n_sweeps += single.n_sweeps
        self.steps += [step for step in single.steps if step not in self.steps]
        labels = points.sweep_directions(solution.form).labels
        energies = np.bincount(labels, points.weights, minlength=len(solution.form))
        return unit_lengths(solution.form), energies

    def starts(self) -> Iterator[tuple[str, Array]]:
        """First components: published, unreduced, reordered, from each side, spectral, one."""
        points, k, rng = self.points, self.k, self.rng
        for number in range(self.n_init):
            clusters = self._clustered()
            yield from self._from_centers(clusters.form, clusters.weights, number)
        yield "one block", self._one_block()
        yield from self._from_centers(*self._samples_answer(), 0)
        yield "features answer", self._features_answer()
        n, m = points.matrix.shape
        if points.at_hand and n * m <= MOST_ENTRIES:
            yield "spectral start", spectral_components(points, k, rng)

    def _from_centers(
        self, centers: Array, weights: Array, number: int
    ) -> Iterator[tuple[str, Array]]:
        yield from self._both_ways(centers, weights)
        if number == 0:
            shuffled = disjoint_directions(centers, weights, self.rng.permutation)
            yield "other pair orders", shuffled
            yield "other pair orders", disjoint_directions(centers, weights, lambda p: p[::-1])

    def _both_ways(self, centers: Array, weights: Array) -> Iterator[tuple[str, Array]]:
        yield "published steps", disjoint_directions(centers, weights)
        whole = split_coordinates(centers, weights, np.arange(len(centers)))
        yield "no weight reduction", whole

    def _one_block(self) -> Array:
        """The sum of all rows by weight: descent makes it the top singular vector."""
        return self.points.sums(np.zeros(len(self.points.weights), dtype=np.int32), 1)

    def _features_answer(self) -> Array:
        matrix = self.points.matrix
        columns = points_over(matrix, "features")
        search = Search(columns, self.options)
        form = search.run().form
        self.n_sweeps += search.n_sweeps
        return matrix.of_components(columns.components(form))

    def replaced(self, number: int) -> Array:
        """The best components with one replaced by a row that is captured badly.

        The weakest (or an unused) component gives way two times of three, any other the third.
        Components may overlap now; the first sweep of the descent separates them.
        """
        assert self.best is not None
        form = np.zeros((self.k, self.best.form.shape[1]))
        form[: len(self.best.form)] = self.best.form
        sweep = self.points.sweep_directions(form)
        weakest = int(sweep.captured.argmin())
        leaving = weakest if number % 3 else int(self.rng.integers(self.k))
        kept = unit_lengths(form)
        missed = missed_energy(self.points, sweep)
        if not missed.any():
            return kept
        row = self.points.at(draw(missed, 1, self.rng))[0]
        labels = np.flatnonzero(kept.any(axis=1))
        if number % 2 and len(labels) > 1:
            # A part of one block only: what the row has in common with a component.
            inside = kept[self.rng.choice(labels)] > 0
            if (row * inside).any():
                row = row * inside
        kept[leaving] = row
        return kept


# What the search found, no more: answers with further blocks may exist that are better.
FEWER = "the best answer that was found uses fewer blocks, and none found with more is better"


def factorize_best_double(matrix: Matrix, options: Options) -> Outcome:
    """Disjoint blocks of samples and features, with as small an error as we can."""
    points = Samples(matrix)
    search = DoubleSearch(points, options)
    bounds: tuple[LowerBound, ...] = ()
    if not isinstance(options.seeding, str):
        search.consider("given components", matrix.of_components(options.seeding))
    if options.n_components >= min(matrix.shape):
        published = full_rank_components(matrix)
        search.consider("published steps", published.form)
        search.promises.append(published.promise)
        bounds = published.bounds
    solution = search.run()
    form = solution.form
    if may_be_exact(points):
        search.steps.append("exact directions")
        form = canonical(points, form, disjoint=True)
    total = float(points.weights.sum())
    history = tuple(max(0.0, 1.0 - captured / total) for captured in solution.history)
    trace = Trace(history, search.n_sweeps, tuple(search.steps))
    components = points.components(form)
    result = publish(matrix, components, "both", options.asked, trace, FEWER)
    return Outcome(result, strongest(search.promises), bounds)
