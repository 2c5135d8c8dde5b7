"""Candidates: few weighted points that stand for all, and the directions that are best for them.

The first k are drawn by the plain law of k-means++ on lines, the others in rounds by what those
before them miss of each point, so that a few points that fit nowhere are among them however little
they weigh. Every candidate becomes the direction of the points that it is nearest to: noise cancels
in it. Starts, descents and repairs on candidates cost next to nothing beside one read of the data.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.sparse import csc_array

from orthonmf.engine.compressed import as_points
from orthonmf.engine.point_gram import Products
from orthonmf.engine.points import DirectionSweep, Points, Samples
from orthonmf.engine.sampling import draw_distinct
from orthonmf.kmeans.rounds import draw_in_rounds
from orthonmf.kmeans.seeding import draw_by_law, lines
from orthonmf.onmf.search.descent import descend
from orthonmf.onmf.search.repair import Repaired, repair
from orthonmf.onmf.search.tournament import Tournament, miss_the_same
from orthonmf.typing import Array
from orthonmf.vectors import divide, square_lengths, unit_lengths

# Rounds after the first k draws; the fewest points of a round, and how many more so many seconds,
# by counting, may pay for.
ROUNDS = 3
FEWEST_A_ROUND, MORE_A_ROUND = 24, 40
CHEAP_SECONDS = 3e-3
# Of points that only passes reach twice as many as components are drawn in every round.
# Many components take a read more: else one fit in twenty leaves something out.
FEWEST_A_READ, READS, READS_FOR_MANY = 40, 4, 5
# From so many components on a tournament costs more than the rest of the fit, and gains nothing.
MANY_COMPONENTS = 60
# A tournament of fewer finds out in less time than repairs whether the data are easy. Of more, two
# draws that were repaired and come to the same answer make it needless.
SOME_COMPONENTS = 20
SWEEPS, TOL = 8, 1e-3
# Candidates that hold this share stand for all, data of few different directions, and play longer.
ENOUGH = 1 - 1e-6
# What is added to squares of length one: more than rounding, and too little to change a choice.
ROOT_SLACK = 1e-10


@dataclass(frozen=True, slots=True)
class Candidates:
    """Directions that stand for all points, and what each captures."""

    centers: Array  # (c, m) unit vectors, as the points hold them
    energies: Array  # (c,) of the points that each captures best
    coordinates: Array  # (c, r) unit vectors that have the same products with each other


@dataclass(frozen=True, slots=True)
class Chosen:
    """First directions of a descent."""

    directions: Array  # up to (k, m)
    sweep: DirectionSweep | None = None  # by them, where one was made to choose them


@dataclass(frozen=True, slots=True)
class PlainDraws:
    """Points drawn by the plain law, as directions, and what they miss of all points."""

    points: Samples
    directions: Array  # up to (k, m)
    labels: Array  # (N,) which of them is nearest
    missed: Array  # (N,)

    def or_better(self, directions: Array) -> Chosen:
        """Directions (k, m), unless these draws capture more: so their promise holds."""
        captured = self.points.total - float(self.missed.sum())
        if len(directions) < len(self.directions):
            return Chosen(self.directions)
        sweep = self.points.sweep_directions(directions, by_point=self.points.sweeps_are_final)
        if float(sweep.captured.sum()) < captured:
            return Chosen(self.directions)
        return Chosen(directions, sweep)


def draw_plainly(points: Samples, k: int, rng: np.random.Generator) -> PlainDraws:
    """Draw k points from all by the plain law of k-means++ on lines."""
    drawn = draw_by_law(points, k, rng, distance=lines)
    missed = points.weights * drawn.distances
    return PlainDraws(points, points.at(drawn.picks), drawn.labels, missed)


def gather(plain: PlainDraws, k: int, rng: np.random.Generator) -> Candidates:
    """Draw candidates from all points: those that are drawn already, and more in rounds."""
    points, labels, missed = plain.points, plain.labels, plain.missed
    weights, count, size = points.weights, len(plain.directions), round_size(points, k)
    for _ in range(ROUNDS):
        picks = draw_distinct(missed, size, rng)
        if len(picks) == 0:
            break
        swept = points.sweep_directions(points.at(picks))
        by_new = points.find_missed(swept)
        by_new[picks] = 0.0
        labels = np.where(by_new < missed, swept.labels + count, labels)
        labels[picks] = count + np.arange(len(picks))
        missed = np.minimum(by_new, missed)
        count += len(picks)
    captured = np.bincount(labels, weights - missed, minlength=count)
    sums = points.power_update(labels, np.sqrt(divide(weights - missed, weights)), count)
    used = np.flatnonzero(captured > 0)
    # What the directions capture of their points, at the least.
    energies = divide(square_lengths(sums[used]), captured[used])
    centers = unit_lengths(sums[used])
    return Candidates(centers, energies, with_few_coordinates(centers, None))


def round_size(points: Samples, k: int) -> int:
    """How many points are drawn in a round: more where meeting them with all costs nothing."""
    cheap = CHEAP_SECONDS / (ROUNDS * points.sweep_seconds(1))
    return max(k, int(np.clip(cheap, FEWEST_A_ROUND, MORE_A_ROUND)))


def count_candidates(points: Samples, k: int) -> int:
    """How many candidates for k components are drawn."""
    return k + ROUNDS * round_size(points, k)


def gather_in_rounds(points: Points, k: int, rng: np.random.Generator) -> Candidates:
    """Draw candidates from points that only passes reach; over columns a read more for products."""
    n_rounds = READS if k < SOME_COMPONENTS else READS_FOR_MANY
    drawn = draw_in_rounds(points, max(2 * k, FEWEST_A_READ), rng, n_rounds=n_rounds)
    swept = points.sweep_directions(drawn, by_point=False)
    used = np.flatnonzero(swept.captured > 0)
    gram = points.gram(swept.sums[used])
    squares = np.diag(gram)
    inverse = divide(np.ones(len(used)), np.sqrt(squares))
    cosines = gram * np.multiply.outer(inverse, inverse)
    centers = swept.sums[used] * inverse[:, None]
    energies = squares / swept.captured[used]
    return Candidates(centers, energies, with_few_coordinates(centers, cosines))


def with_few_coordinates(centers: Array, cosines: Array | None) -> Array:
    """Unit vectors (c, r) with the products of unit centers (c, m), with r at most c.

    ``cosines`` (c, c) of the centers, where these are not vectors themselves.
    """
    c, m = centers.shape
    if cosines is None and m <= 2 * c:
        return centers
    cosines = centers @ centers.T if cosines is None else cosines
    try:
        # What is added gives the matrix a root where vectors depend on each other.
        return np.linalg.cholesky(cosines + ROOT_SLACK * np.eye(c))
    except np.linalg.LinAlgError:  # rounding was more than that
        values, vectors = np.linalg.eigh(cosines)
        return np.asarray(vectors * np.sqrt(np.maximum(values, 0.0)))


def choose(points: Points, candidates: Candidates, k: int, rng: np.random.Generator) -> Array:
    """Up to k directions (k, m) that are good for the candidates, as the points hold them."""
    roots = np.sqrt(candidates.energies)
    few = as_points(points.matrix, candidates.coordinates * roots[:, None])
    # Few different rows: candidates that stand for all of them are played on for longer.
    long = few.total >= ENOUGH * points.total
    if k < SOME_COMPONENTS:
        labels, scales = _play(few, k, rng, long)
    else:
        labels, scales = _repair_many(few, k, rng, long)
    everyone = np.arange(len(labels) + 1)
    members = csc_array((scales * roots, labels, everyone), shape=(k, len(labels)))
    directions = members @ candidates.centers
    return directions[directions.any(axis=1)]


def _draw_and_repair(few: Samples, k: int, rng: np.random.Generator) -> Repaired:
    """What a few sweeps and a repair make of one start."""
    drawn = few.at(draw_by_law(few, k, rng, distance=lines).picks)
    return repair(few, descend(few, drawn, max_iter=SWEEPS, tol=TOL).directions)


def repair_labels(points: Samples, labels: Array, scales: Array, k: int) -> tuple[Array, Array]:
    """Labels and scales (N,) after a repair of the groups of few points that they make.

    The points are seen by their products with each other, so that it does not matter how many
    coordinates they have.
    """
    everyone = np.arange(len(points.weights))
    lengths = np.sqrt(points.weights)
    coordinates = with_few_coordinates(points.at(everyone), None)
    few = as_points(points.matrix, coordinates * lengths[:, None])
    won = few.power_update(labels, divide(scales, lengths), k)
    return _members(few, repair(few, won).directions)


def _members(few: Samples, directions: Array) -> tuple[Array, Array]:
    """Labels and scales (c,) of few points along the best of the directions."""
    sweep = few.sweep_directions(directions)
    return sweep.labels, sweep.products


def _repair_many(few: Samples, k: int, rng: np.random.Generator, long: bool) -> tuple[Array, Array]:
    """Labels and scales (c,) of many components: of a repaired draw, or of two that agree.

    Where two do not, their best plays a tournament, and the winner is repaired once more.
    """
    answers = [_draw_and_repair(few, k, rng)]
    if k < MANY_COMPONENTS:
        answers.append(_draw_and_repair(few, k, rng))
    best = max(answers, key=lambda answer: answer.captured[-1])
    missed = few.total - np.array([answer.captured[-1] for answer in answers])
    if miss_the_same(missed, few.total).all():
        return _members(few, best.directions)
    labels, scales = _play(few, k, rng, long, best.directions)
    won = few.power_update(labels, divide(scales, np.sqrt(few.weights)), k)
    return _members(few, repair(few, won).directions)


def _play(
    few: Samples, k: int, rng: np.random.Generator, long: bool, given: Array | None = None
) -> tuple[Array, Array]:
    """Labels and scales (c,) of the winner of a tournament; ``given`` directions take part.

    Without them a draw that is repaired does, where starts do not agree.
    """
    rows = few.whole()
    products = (
        Products(rows=rows) if 2 * rows.shape[1] < len(rows) else Products(gram=rows @ rows.T)
    )
    tournament = Tournament(products, k, rng, tol=TOL)
    tournament.begin(16 if long else int(np.clip(96 // k, 4, 12)))
    if given is None and (long or not tournament.agreed):
        given = _draw_and_repair(few, k, rng).directions
    if given is not None:
        tournament.add(rows @ unit_lengths(given).T)
    return tournament.play(16, 6, 2) if long else tournament.play(4, 2, 2, persistent=False)
