"""Ways out of a local optimum; what they find counts only if it captures more.

Those from the relaxation that a tight certificate solves, for a fit that asked for one, are tried
last and draw from a generator of their own: all that precedes them is as it is without, so that an
answer with them never captures less.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from orthonmf.engine.points import Samples
from orthonmf.engine.products import Products
from orthonmf.engine.sampling import draw
from orthonmf.onmf.options import Options
from orthonmf.onmf.search.loop import Escape
from orthonmf.onmf.search.tournament import Tournament
from orthonmf.onmf.solution import Solution
from orthonmf.typing import Array
from orthonmf.vectors import unit_lengths

BREATH_SWEEPS = 3
RECOMBINATIONS = 3
RELAXATION_STEP = "relaxation start"
N_STARTS, N_ROUNDS, N_MOVED = 8, 2, 2
"""Of a tournament of rows of the relaxation, which have few coordinates."""


def line_escapes(points: Samples, k: int, n_init: int, rng: np.random.Generator) -> list[Escape]:
    """Recombine the best solutions, then breathe as often as there were starts."""

    def make_recombination(number: int) -> Escape:
        def propose(best: Solution, answers: list[Solution]) -> Array:
            return recombine(points, best.directions, answers[number].directions, k)

        return Escape("recombination", propose)

    def make_breath(number: int) -> Escape:
        def propose(best: Solution, answers: list[Solution]) -> Array:
            return breathe(points, best.directions, 1 + number % 3, rng)

        return Escape("breathing", propose)

    others = range(1, min(n_init, 1 + RECOMBINATIONS))
    return [*map(make_recombination, others), *map(make_breath, range(n_init))]


def prune(points: Samples, directions: Array, k: int) -> Array:
    """Remove directions (c, m), each time the one that is missed least, until k are left."""
    products = points.raw_products(unit_lengths(directions))
    energies = points.multipliers()[:, None] * np.square(products)
    chosen = np.arange(len(directions))
    everyone = np.arange(len(energies))
    while len(chosen) > k:
        left = energies[:, chosen]
        labels = left.argmax(axis=1)
        best = left[everyone, labels]
        left[everyone, labels] = -1.0
        second = np.maximum(left.max(axis=1), 0.0)
        losses = np.bincount(labels, best - second, minlength=len(chosen))
        chosen = np.delete(chosen, losses.argmin())
    return directions[chosen]


def recombine(points: Samples, directions: Array, other: Array, k: int) -> Array:
    """The k directions of two solutions that are missed most."""
    return prune(points, np.concatenate([unit_lengths(directions), unit_lengths(other)]), k)


def breathe(points: Samples, directions: Array, n_added: int, rng: np.random.Generator) -> Array:
    """Add badly captured points as directions, let all settle, and prune to as many as before."""
    chances = points.find_missed(points.sweep_directions(directions))
    if not chances.any():
        return directions
    added = np.unique(draw(chances, n_added, rng))
    wide = np.concatenate([unit_lengths(directions), points.at(added)])
    for _ in range(BREATH_SWEEPS):
        swept = points.sweep_directions(wide)
        wide = np.where(swept.captured[:, None] > 0, swept.sums, wide)
    return prune(points, wide, len(directions))


def relaxed_escapes(points: Samples, options: Options) -> list[Escape]:
    """Two ways to make a partition of the relaxation, and the best answer joined by the second.

    Nothing where the relaxation of these points takes longer than it may.
    """
    rows = _solve_relaxation(points, options)
    if not rows.any():
        return []
    plain = _Rounding(points, options, rows)
    lengths = np.sqrt(points.weights)[:, None]
    # A row has the part of its point in Z; here the point counts as it does in the data.
    heavy = _Rounding(points, options, unit_lengths(rows) * lengths)

    def join(best: Solution, answers: list[Solution]) -> Array:
        return recombine(points, best.directions, heavy.directions, options.n_components)

    return [
        Escape(RELAXATION_STEP, plain),
        Escape(RELAXATION_STEP, heavy),
        Escape(RELAXATION_STEP, join),
    ]


def _solve_relaxation(points: Samples, options: Options) -> Array:
    """W (N, r) of the relaxation, or no columns; solved once, also by a fit that was broken off."""
    step = options.checkpoint.next_step()
    if not step.finished:
        from orthonmf.bounds.primal import relaxed_rows  # no other fit needs bounds

        rows = relaxed_rows(points, options.n_components, options.relaxation_seconds)
        empty = np.zeros((len(points.weights), 0))
        step.finish(text=RELAXATION_STEP, vectors=empty if rows is None else rows)
    return step.arrays["vectors"]


@dataclass(slots=True)
class _Rounding:
    """The directions of the clusters of rows (N, r), one for every point; made when asked for."""

    points: Samples
    options: Options
    rows: Array
    directions: Array = field(default_factory=lambda: np.zeros((0, 0)))

    def __call__(self, best: Solution, answers: list[Solution]) -> Array:
        k = self.options.n_components
        heavy = np.flatnonzero(self.rows.any(axis=1))
        rng = np.random.default_rng(0)
        tournament = Tournament(Products(rows=self.rows[heavy]), k, rng, tol=1e-4)
        tournament.begin(N_STARTS)
        labels = np.full(len(self.rows), -1)
        labels[heavy], _ = tournament.play(N_STARTS, N_ROUNDS, N_MOVED)
        self.directions = self.points.power_update(labels, np.ones(len(labels)), k)
        return self.directions
