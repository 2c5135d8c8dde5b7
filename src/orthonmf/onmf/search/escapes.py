"""Ways out of a local optimum; what they find counts only if it captures more."""

from __future__ import annotations

from functools import partial

import numpy as np

from orthonmf.engine.points import Samples
from orthonmf.onmf.search.loop import Escape
from orthonmf.onmf.search.moves import energies_along
from orthonmf.onmf.solution import Solution
from orthonmf.typing import Array
from orthonmf.vectors import unit_lengths

RECOMBINATIONS = 3


def one_side_escapes(points: Samples, k: int, n_init: int) -> list[Escape]:
    """Recombine the best solution with each of the next ones."""
    others = range(1, min(n_init, 1 + RECOMBINATIONS))
    return [Escape("recombination", partial(recombine, points, k, other)) for other in others]


def prune(points: Samples, directions: Array, k: int) -> Array:
    """Remove directions (c, m), each time the one that is missed least, until k are left."""
    energies = energies_along(points, unit_lengths(directions))
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


def recombine(
    points: Samples, k: int, other: int, best: Solution, answers: list[Solution]
) -> Array:
    """The k directions of the best solution and of another answer that are missed most."""
    both = best.directions, answers[other].directions
    return prune(points, np.concatenate([unit_lengths(directions) for directions in both]), k)
