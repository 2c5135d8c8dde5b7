"""Escapes from the relaxation that a tight certificate solves: a fit that asked for one has them.

They are tried last, and draw from a generator of their own: all that precedes them is as it is
without, so that an answer with them never captures less.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from orthonmf.engine.points import SinglePoints
from orthonmf.engine.samples import Products
from orthonmf.numerics.arrays import Array
from orthonmf.numerics.vectors import unit_lengths
from orthonmf.onmf.escapes import recombine
from orthonmf.onmf.options import Options
from orthonmf.onmf.solution import Escape, Solution
from orthonmf.onmf.tournament import Tournament

STEP = "relaxation start"
N_STARTS, N_ROUNDS, N_MOVED = 8, 2, 2
"""Of a tournament of rows of the relaxation, which have few coordinates."""


def relaxed_escapes(points: SinglePoints, options: Options) -> list[Escape]:
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

    def join(best: Solution, found: list[Solution]) -> Array:
        return recombine(points, best.directions, heavy.directions, options.n_components)

    return [Escape(STEP, plain), Escape(STEP, heavy), Escape(STEP, join)]


def _solve_relaxation(points: SinglePoints, options: Options) -> Array:
    """W (N, r) of the relaxation, or no columns; solved once, also by a fit that was broken off."""
    step = options.checkpoint.next_step()
    if not step.finished:
        from orthonmf.bounds.primal import relaxed_rows  # no other fit needs bounds

        rows = relaxed_rows(points, options.n_components, options.relaxation_seconds)
        empty = np.zeros((len(points.weights), 0))
        step.finish(text=STEP, vectors=empty if rows is None else rows)
    return step.arrays["vectors"]


@dataclass(slots=True)
class _Rounding:
    """The directions of the clusters of rows (N, r), one for every point; made when asked for."""

    points: SinglePoints
    options: Options
    rows: Array
    directions: Array = field(default_factory=lambda: np.zeros((0, 0)))

    def __call__(self, best: Solution, found: list[Solution]) -> Array:
        k = self.options.n_components
        heavy = np.flatnonzero(self.rows.any(axis=1))
        rng = np.random.default_rng(0)
        tournament = Tournament(Products(rows=self.rows[heavy]), k, rng, tol=1e-4)
        tournament.begin(N_STARTS)
        labels = np.full(len(self.rows), -1)
        labels[heavy], _ = tournament.play(N_STARTS, N_ROUNDS, N_MOVED)
        self.directions = self.points.power_update(labels, np.ones(len(labels)), k)
        return self.directions
