"""Starts of disjoint blocks.

The heaviest classes where all pairs of the smaller side can be looked at, which promise 14.93. The
steps of the paper, the same without weight reduction, both from the answer over samples too, and
one block. The start of the published algorithm is always among them, so what its clustering
promises holds for the answer too: in memory that of k-means++; in rounds, for data far away,
nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from orthonmf.certificate import Promise
from orthonmf.engine.points import Points
from orthonmf.engine.sources import to_dense
from orthonmf.kmeans.subroutines import TOL
from orthonmf.onmf.double_factor import separate_centers
from orthonmf.onmf.options import Options
from orthonmf.onmf.promises import double_from_lines, double_from_means
from orthonmf.onmf.search.loop import Search, Start
from orthonmf.onmf.search.one_side import search_one_side
from orthonmf.onmf.single_factor import cluster
from orthonmf.onmf.solution import Solution
from orthonmf.steps.coordinate_split import split_coordinates
from orthonmf.typing import Array
from orthonmf.vectors import unit_lengths

# A start is refined as blocks afterwards; its clusters need not come to rest.
LLOYD_ITERATIONS = 30


def block_starts(
    points: Points,
    options: Options,
    search: Search,
    heaviest: Solution | None,
    *,
    promised_only: bool,
) -> Iterator[Start]:
    """Given components and the heaviest classes, where there are any, before all others.

    Where every sweep reads the data from far away, means are drawn in a few rounds. With
    ``promised_only`` there are no more than the published algorithm needs, and one block.
    """
    if not isinstance(options.init, str):
        yield Start("given components", points.directions_of(options.init))
    if heaviest is not None:
        yield Start("heaviest classes", heaviest.directions, heaviest.promise)
    far = points.at_hand is None
    clustering = replace(
        options,
        kmeans="k-means||" if far else "k-means++",
        n_init=1,
        max_iter=LLOYD_ITERATIONS,
        tol=options.tol if far else TOL,
    )
    for _ in range(1 if promised_only else options.n_init):
        clusters = cluster(points, clustering)
        promise = double_from_means(clusters.promise)
        yield from _separate(clusters.centers, clusters.weights, promise)
    if not promised_only:
        yield from _from_samples(points, options, search)
    # The sum of all rows by weight: descent makes it the top singular vector.
    everyone = np.zeros(len(points.weights), dtype=np.int32)
    yield Start("one block", points.sums(everyone, 1))


def _from_samples(points: Points, options: Options, search: Search) -> Iterator[Start]:
    """The directions of the answer over samples alone in place of centers."""
    solution = search.count(search_one_side(points, replace(options, init="auto")))
    directions = solution.directions
    labels = points.sweep_directions(directions).labels
    weights = np.bincount(labels, points.weights, minlength=len(directions))
    yield from _separate(unit_lengths(directions), weights, double_from_lines(solution.promise))


def _separate(centers: Array, weights: Array, promise: Promise) -> Iterator[Start]:
    """Steps 2 and 3 of the paper, which the promise is about, and step 3 alone."""
    yield Start("published steps", separate_centers(centers, weights).directions, promise)
    whole = split_coordinates(centers, weights, np.arange(len(centers)))
    yield Start("no weight reduction", to_dense(whole))
