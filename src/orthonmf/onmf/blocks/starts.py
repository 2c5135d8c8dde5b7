"""Starts of disjoint blocks.

The heaviest classes where all pairs of the smaller side can be looked at, which promise 14.93. The
steps of the paper, the same without weight reduction and with pairs in other orders, from the
answer of each side, one block, and spectral. The start of the published algorithm is always among
them, so what its clustering promises holds for the answer too: in memory that of k-means++; in
rounds, for data far away, nothing.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator
from dataclasses import replace

import numpy as np
from scipy.sparse.linalg import ArpackError, svds

from orthonmf.certificate import Promise
from orthonmf.engine.points import Points, columns_of
from orthonmf.kmeans.lloyd import Clustering
from orthonmf.kmeans.subroutines import TOL, weighted_kmeans
from orthonmf.onmf.double_factor import separate_centers
from orthonmf.onmf.options import Options
from orthonmf.onmf.promises import double_from_lines, double_from_means
from orthonmf.onmf.search.loop import Search, Start
from orthonmf.onmf.search.one_side import search_lines
from orthonmf.onmf.solution import Solution
from orthonmf.steps.coordinate_split import split_coordinates
from orthonmf.typing import Array
from orthonmf.vectors import divide, unit_lengths

# The balanced matrix is a copy; beyond this many entries it is not worth one.
MOST_ENTRIES = 2**27
# As many rows tell which columns belong together; a device would wait for the host with more.
SPECTRAL_ROWS = 20_000
# A start is refined as blocks afterwards; its clusters need not come to rest.
LLOYD_ITERATIONS = 30


def block_starts(
    points: Points,
    options: Options,
    search: Search,
    heaviest: Solution | None,
    *,
    promised_only: bool = False,
) -> Iterator[Start]:
    """Given components and the heaviest classes, where there are any, before all others.

    Of these there are few where every sweep reads the data from far away. With ``promised_only``
    there are besides those of the published algorithm alone, and one block.
    """
    if not isinstance(options.init, str):
        yield Start("given components", points.directions_of(options.init))
    if heaviest is not None:
        yield Start("heaviest classes", heaviest.directions, heaviest.promise)
    # The searches over one side draw their own directions, and share what time there is.
    half = options.relaxation_seconds / 2
    starts = _Starts(points, replace(options, init="auto", relaxation_seconds=half), search)
    if promised_only:
        yield from starts.published()
        yield starts.one_block()
    else:
        yield from starts.few() if points.access is None else starts.many()


class _Starts:
    def __init__(self, points: Points, options: Options, search: Search) -> None:
        self._points, self._options, self._search = points, options, search

    def published(self) -> Iterator[Start]:
        """From means, by the steps of the paper."""
        yield from self._both_ways(self._cluster())

    def few(self) -> Iterator[Start]:
        """Those that need few reads: from means, from the samples' answer, one block."""
        for _ in range(self._options.n_init):
            yield from self._both_ways(self._cluster("k-means||", self._options.tol))
        yield from self._both_ways(*self._samples_answer())
        yield self.one_block()

    def many(self) -> Iterator[Start]:
        """All of them."""
        points, options = self._points, self._options
        for number in range(options.n_init):
            clusters = self._cluster()
            yield from self._both_ways(clusters)
            if number == 0:
                yield from self._other_orders(clusters)
        yield self.one_block()
        clusters, promise = self._samples_answer()
        yield from self._both_ways(clusters, promise)
        yield from self._other_orders(clusters)
        yield self._features_answer()
        some, (n, m) = points.access, points.matrix.shape
        if some is not None and min(n, SPECTRAL_ROWS) * m <= MOST_ENTRIES:
            if n > SPECTRAL_ROWS:
                some = some.sample(SPECTRAL_ROWS, options.rng)
            directions = spectral_components(some, options.n_components, options.rng)
            yield Start("spectral start", directions)

    def _cluster(self, subroutine: str = "k-means++", tol: float = TOL) -> Clustering:
        """Weighted k-means of the rows."""
        return weighted_kmeans(
            self._points,
            self._options.n_components,
            rng=self._options.rng,
            subroutine=subroutine,
            max_iter=LLOYD_ITERATIONS,
            tol=tol,
            checkpoint=self._options.checkpoint,
        )

    def _samples_answer(self) -> tuple[Clustering, Promise]:
        """The answer over samples alone: its directions stand for centers; it has no cost.

        And what it promises over both sides.
        """
        points = self._points
        solution = search_lines(points, self._options)
        self._search.count(solution)
        labels = points.sweep_directions(solution.directions).labels
        energies = np.bincount(labels, points.weights, minlength=len(solution.directions))
        clusters = Clustering(labels, unit_lengths(solution.directions), energies, cost=math.nan)
        return clusters, double_from_lines(solution.promise)

    def _features_answer(self) -> Start:
        matrix = self._points.matrix
        columns = columns_of(matrix)
        solution = search_lines(columns, self._options)
        self._search.n_sweeps += solution.n_sweeps
        components = columns.components(solution.directions)
        return Start("features answer", matrix.from_components(components))

    def _both_ways(self, clusters: Clustering, promise: Promise | None = None) -> Iterator[Start]:
        """Steps 2 and 3 of the paper, and step 3 alone; a clustering brings its own promise."""
        centers, weights = clusters.centers, clusters.weights
        promise = double_from_means(clusters.promise) if promise is None else promise
        yield Start("published steps", separate_centers(centers, weights).directions, promise)
        whole = split_coordinates(centers, weights, np.arange(len(centers)))
        yield Start("no weight reduction", whole)

    def _other_orders(self, clusters: Clustering) -> Iterator[Start]:
        """Pairs of centers that give up weight in other orders: the proof allows any."""
        for order in (self._options.rng.permutation, lambda pairs: pairs[::-1]):
            separate = separate_centers(clusters.centers, clusters.weights, order)
            yield Start("other pair orders", separate.directions)

    def one_block(self) -> Start:
        """The sum of all rows by weight: descent makes it the top singular vector."""
        everyone = np.zeros(len(self._points.weights), dtype=np.int32)
        return Start("one block", self._points.sums(everyone, 1))


def spectral_components(points: Points, k: int, rng: np.random.Generator) -> Array:
    """Components (k, m) with disjoint supports from co-clustering rows and columns (Dhillon).

    Zero rows and columns are left out and belong to no component.
    """
    matrix = points.matrix
    n, m = matrix.shape
    row_sums = matrix.products(np.ones((1, m)))[:, 0]
    column_sums = matrix.row_sums(np.zeros(n, dtype=np.int32), np.ones(n), 1)[0]
    row_scales = divide(np.ones(n), np.sqrt(row_sums))
    column_scales = divide(np.ones(m), np.sqrt(column_sums))
    balanced = matrix.whole(row_scales=row_scales, column_scales=column_scales)
    wanted = min(k, min(n, m) - 1)
    if wanted < 1:
        return np.zeros((k, m))
    try:
        left, _, right = svds(balanced, k=wanted, v0=rng.random(min(n, m)))
    except ArpackError:  # one start among many: without it the others do
        return np.zeros((k, m))
    rows, columns = np.flatnonzero(row_sums > 0), np.flatnonzero(column_sums > 0)
    both = np.concatenate(
        [row_scales[rows, None] * left[rows], column_scales[columns, None] * right.T[columns]]
    )
    both = divide(both, np.linalg.norm(both, axis=1, keepdims=True))
    if len(both) < k:
        return np.zeros((k, m))
    labels = _cluster_signed(both, k, rng)
    of_rows = np.full(n, -1, dtype=np.int32)
    of_rows[rows] = labels[: len(rows)]
    sums = points.sums(of_rows, k)
    mine = np.zeros((k, m), dtype=bool)
    mine[labels[len(rows) :], columns] = True
    return np.where(mine, sums, 0.0)


def _cluster_signed(vectors: Array, k: int, rng: np.random.Generator) -> Array:
    """Labels of vectors of any sign: Lloyd from k vectors that are far from each other."""
    from scipy.cluster.vq import kmeans2  # slow to import: only where it is used

    first = int(rng.integers(len(vectors)))
    chosen, distances = [first], np.full(len(vectors), np.inf)
    while len(chosen) < k:
        latest = np.square(vectors - vectors[chosen[-1]]).sum(axis=1)
        distances = np.minimum(distances, latest)
        chosen.append(int(distances.argmax()))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # fewer blocks than asked for are fine
        _, labels = kmeans2(vectors, vectors[chosen], minit="matrix", iter=LLOYD_ITERATIONS)
    return labels
