"""Ways out of a local optimum; what they find counts only if it captures more."""

from __future__ import annotations

import numpy as np

from orthant.engine.points import Points, Samples, Sweep, unit_lengths
from orthant.kmeans.seeding import draw
from orthant.numerics.arrays import Array

BREATH_SWEEPS = 3


def prune(points: Samples, form: Array, k: int) -> Array:
    """Remove directions, each time the one that is missed least, until k are left."""
    energies = _energies(points, form)
    kept = np.arange(len(form))
    everyone = np.arange(len(energies))
    while len(kept) > k:
        left = energies[:, kept]
        labels = left.argmax(axis=1)
        best = left[everyone, labels]
        left[everyone, labels] = -1.0
        second = np.maximum(left.max(axis=1), 0.0)
        losses = np.bincount(labels, best - second, minlength=len(kept))
        kept = np.delete(kept, losses.argmin())
    return form[kept]


def recombined(points: Samples, one: Array, other: Array, k: int) -> Array:
    """The k directions of two solutions that are missed most."""
    return prune(points, np.concatenate([unit_lengths(one), unit_lengths(other)]), k)


def missed_energy(points: Points, sweep: Sweep) -> Array:
    """(N,) what every point keeps beside its direction."""
    return points.weights * (1.0 - np.square(np.minimum(sweep.cosines, 1.0)))


def breathed(points: Samples, form: Array, n_added: int, rng: np.random.Generator) -> Array:
    """Add badly captured points as directions, let all settle, and prune to as many as before."""
    chances = missed_energy(points, points.sweep_directions(form))
    if not chances.any():
        return form
    added = np.unique(draw(chances, n_added, rng))
    wide = np.concatenate([unit_lengths(form), points.at(added)])
    for _ in range(BREATH_SWEEPS):
        swept = points.sweep_directions(wide)
        wide = np.where(swept.captured[:, None] > 0, swept.form, wide)
    return prune(points, wide, len(form))


def _energies(points: Samples, form: Array) -> Array:
    """(N, c) weighted squared product of every point with every direction."""
    products = points.raw_products(unit_lengths(form))
    return points.multipliers()[:, None] * np.square(products)
