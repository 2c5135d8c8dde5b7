"""Ways out of a local optimum; what they find counts only if it captures more."""

from __future__ import annotations

from functools import partial

import numpy as np

from orthonmf.engine.points import Samples
from orthonmf.engine.sampling import draw
from orthonmf.onmf.search.loop import Escape
from orthonmf.onmf.search.moves import energies_along
from orthonmf.onmf.solution import Solution
from orthonmf.typing import Array
from orthonmf.vectors import unit_lengths

BREATH_SWEEPS = 3
RECOMBINATIONS = 3


def one_side_escapes(
    points: Samples, k: int, n_init: int, rng: np.random.Generator
) -> list[Escape]:
    """Recombine the best solutions, then breathe as often as there were starts."""
    others = range(1, min(n_init, 1 + RECOMBINATIONS))
    return [
        *(Escape("recombination", partial(recombine, points, k, other)) for other in others),
        *(Escape("breathing", partial(breathe, points, 1 + n % 3, rng)) for n in range(n_init)),
    ]


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


def breathe(
    points: Samples, n_added: int, rng: np.random.Generator, best: Solution, answers: list[Solution]
) -> Array:
    """Add badly captured points as directions, let all settle, and prune to as many as before."""
    directions = best.directions
    chances = points.find_missed(points.sweep_directions(directions))
    if not chances.any():
        return directions
    added = np.unique(draw(chances, n_added, rng))
    wide = np.concatenate([unit_lengths(directions), points.at(added)])
    for _ in range(BREATH_SWEEPS):
        swept = points.sweep_directions(wide)
        wide = np.where(swept.captured[:, None] > 0, swept.sums, wide)
    return prune(points, wide, len(directions))
