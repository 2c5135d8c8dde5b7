"""Ways out of a local optimum; what they find counts only if it captures more."""

from __future__ import annotations

import numpy as np

from orthonmf.engine.points import Samples
from orthonmf.engine.sampling import draw
from orthonmf.onmf.search.loop import Escape
from orthonmf.onmf.solution import Solution
from orthonmf.typing import Array
from orthonmf.vectors import unit_lengths

BREATH_SWEEPS = 3
RECOMBINATIONS = 3


def one_side_escapes(
    points: Samples, k: int, n_init: int, rng: np.random.Generator
) -> list[Escape]:
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
