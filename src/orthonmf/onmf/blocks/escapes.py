"""Escapes from disjoint blocks: one of them is replaced."""

from __future__ import annotations

import numpy as np

from orthonmf.engine.points import Points, Samples
from orthonmf.engine.sampling import draw
from orthonmf.onmf.search.loop import Escape
from orthonmf.onmf.solution import Solution
from orthonmf.typing import Array
from orthonmf.vectors import unit_lengths


def block_escapes(points: Samples, k: int, count: int, rng: np.random.Generator) -> list[Escape]:
    """Each replaces one block: mostly the weakest, every third time any."""

    def make_replacement(number: int) -> Escape:
        def propose(best: Solution, answers: list[Solution]) -> Array:
            return replace_block(points, best.directions, k, number, rng)

        return Escape("block replacement", propose)

    return [make_replacement(number) for number in range(count)]


def replace_block(
    points: Points, directions: Array, k: int, number: int, rng: np.random.Generator
) -> Array:
    """Directions (k, m) with one replaced by a row that is captured badly.

    The weakest (or an unused) direction gives way two times of three, any other the third.
    Directions may overlap now; the first sweep of the descent separates them.
    """
    everyone = np.zeros((k, directions.shape[1]))
    everyone[: len(directions)] = directions
    sweep = points.sweep_directions(everyone)
    weakest = int(sweep.captured.argmin())
    leaving = weakest if number % 3 else int(rng.integers(k))
    units = unit_lengths(everyone)
    missed = points.find_missed(sweep)
    if not missed.any():
        return units
    row = points.at(draw(missed, 1, rng))[0]
    labels = np.flatnonzero(units.any(axis=1))
    if number % 2 and len(labels) > 1:
        # One block only: what the row has in common with a direction.
        inside = units[rng.choice(labels)] > 0
        if (row * inside).any():
            row = row * inside
    units[leaving] = row
    return units
