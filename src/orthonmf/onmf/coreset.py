"""Coreset: a bounded number of weighted rows that stand for all rows seen so far.

Rows arrive in batches. Every batch is merged with the rows kept from earlier ones, and when there
are more than the coreset may hold, some are drawn by their line sensitivity: a bound, from a rough
solution, on the share a row may have of the error of any solution. A row is kept with a chance pi
and then weighted by 1 / pi, so every weighted sum over the rows is right on average. Rows too
important to be drawn (pi = 1) are kept as they are.

There is one coreset, reduced in order of arrival, and no tree of coresets that are merged level by
level. A tree bounds how often a row is drawn again, but its levels share the rows that may be
kept, and between merges many of their places are empty. Without replacement little is drawn again
where little arrives. Under the same limit on rows, the one coreset came closer to the full fit
than a tree of five levels on all data that were tried.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from orthonmf.engine.executors import one_blas_thread
from orthonmf.engine.matrix import Matrix
from orthonmf.engine.points import Points
from orthonmf.engine.samples import Samples
from orthonmf.engine.sources import append_rows
from orthonmf.engine.vectors import divide, draw_evenly
from orthonmf.errors import InvalidInputError
from orthonmf.inputs.data import as_matrix
from orthonmf.numerics.arrays import Array
from orthonmf.onmf.search import descend
from orthonmf.onmf.starts import draw_directions

# Sensitivities need a solution of the right order only.
ROUGH_SWEEPS = 3
ROUGH_TOL = 1e-3


@dataclass(frozen=True, slots=True, eq=False)
class Coreset:
    """Rows that stand for all rows seen; adding a batch makes a new one and changes nothing.

    Attributes
    ----------
    rows
        (s, m) array or CSR array, like the first batch; in order of arrival. Zero rows are left
        out; one zero row stands for nothing but zero rows.
    weights
        (s,) for how many rows of weight one each of them stands.
    n_seen
        How many rows have arrived.
    n_reductions
        How often rows were drawn; numbers the random draws.
    key
        From which all random draws follow.
    """

    rows: Any
    weights: Array
    n_seen: int
    n_reductions: int
    key: tuple[int, ...]

    @classmethod
    def begin(cls, batch: Matrix, rng: np.random.Generator) -> Coreset:
        """Nothing seen yet: one zero row like those of a batch, so that there is a matrix."""
        key = tuple(int(number) for number in rng.integers(2**63, size=2))
        return cls(batch.stored_rows(np.arange(1)) * 0, np.ones(1), 0, 0, key)

    def merge(self, batch: Matrix, weights: Array) -> Coreset:
        """The rows kept, followed by those of a batch that carry anything, weighted (n,)."""
        n_seen = self.n_seen + batch.shape[0]
        carrying = np.flatnonzero(Samples(batch).weights)
        if len(carrying) == 0:
            return replace(self, n_seen=n_seen)
        rows, weights = batch.stored_rows(carrying), weights[carrying]
        if self.rows.max() > 0:
            rows = append_rows(self.rows, rows)
            weights = np.concatenate([self.weights, weights])
        return replace(self, rows=rows, weights=weights, n_seen=n_seen)

    def reduce(self, size: int, k: int, n_jobs: int | None = None) -> Coreset:
        """At most ``size`` rows, drawn by their sensitivity for k components; all if few."""
        if len(self.weights) <= size:
            return self
        rng = np.random.default_rng((*self.key, self.n_reductions))
        points = Samples(as_matrix(self.rows, sample_weight=self.weights, n_jobs=n_jobs))
        with one_blas_thread():
            chances = find_chances(find_sensitivities(points, k, rng), size)
        kept = np.unique(draw_evenly(chances, round(float(chances.sum())), rng))
        with np.errstate(over="ignore"):
            weights = self.weights[kept] / chances[kept]
        if not np.isfinite(weights).all():
            raise InvalidInputError(
                "the rows kept stand for more weight than a float64 holds; divide sample_weight "
                "by the same number in all batches"
            )
        return replace(
            self,
            rows=self.rows[kept],
            weights=weights,
            n_reductions=self.n_reductions + 1,
        )


def find_sensitivities(points: Points, k: int, rng: np.random.Generator) -> Array:
    """(n,) how much every row may matter to a solution with k directions; zero for zero rows.

    The share of what a rough solution misses, plus the share of the energy of its cluster: the
    one covers rows far from all directions, the other directions that the rough solution lacks.
    """
    drawn = draw_directions(points, k, rng)
    directions = descend(points, drawn, max_iter=ROUGH_SWEEPS, tol=ROUGH_TOL).directions
    sweep = points.sweep_directions(directions)
    missed = points.find_missed(sweep)
    clusters = np.bincount(sweep.labels, points.weights, minlength=len(directions))
    return divide(missed, missed.sum()) + divide(points.weights, clusters[sweep.labels])


def find_chances(sensitivity: Array, size: int) -> Array:
    """(n,) chances ``min(1, c * sensitivity)`` that add up to ``size`` or to all that is above 0.

    The largest become 1 one after the other, until the rest shares what is left in proportion.
    """
    order = np.argsort(-sensitivity, kind="stable")
    falling = sensitivity[order]
    rest = np.cumsum(falling[::-1])[::-1]  # of this position and all after it
    left = size - np.arange(len(falling))
    n_certain = int(np.argmax((left * falling <= rest) | (left <= 0)))
    chances = np.ones(len(falling))
    uncertain = order[n_certain:]
    share = divide(sensitivity[uncertain], rest[n_certain])
    chances[uncertain] = np.minimum(1.0, left[n_certain] * share)
    return chances
