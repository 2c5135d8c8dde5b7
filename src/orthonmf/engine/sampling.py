"""Draws by weight: positions of points, each with the chance that its share of the weights says."""

from __future__ import annotations

from typing import Any

import numpy as np

from orthonmf.engine.placement import is_on_device
from orthonmf.typing import Array


def draw(chances: Array, size: int, rng: np.random.Generator) -> Array:
    """Draw positions with probability proportional to their chances, with replacement."""
    return find_places(chances, rng.random(size), 1)


def draw_sample(weights: Array, size: int, rng: np.random.Generator) -> tuple[Array, Array]:
    """Positions by their shares of the weights (N,), ascending, and how often each was drawn.

    Systematic sampling, ``size`` times in all: one random offset, equal steps along the cumulated
    weights, so that positions next to each other are not drawn together by accident.
    """
    steps = np.arange(size) + rng.random()
    return np.unique(find_places(weights, steps, size), return_counts=True)


def draw_distinct(chances: Array, size: int, rng: np.random.Generator) -> Array:
    """Draw up to ``size`` different positions one after the other, each by the chances left.

    Each position waits an exponential time at the rate of its chance; the first to arrive win.
    """
    rates = np.where(chances > 0, chances, np.nan)  # what has no chance never arrives
    with np.errstate(over="ignore"):
        arrivals = rng.standard_exponential(len(chances)) / rates
    size = min(size, int(np.count_nonzero(chances > 0)))
    return np.sort(np.argpartition(arrivals, max(size - 1, 0))[:size])


def find_places(chances: Any, steps: Array, parts: int) -> Array:
    """Where the cumulated chances (N,) pass ``steps`` (s,), each one of ``parts`` of their sum."""
    if is_on_device(chances):
        return chances.find_places(steps, parts)
    cumulated = np.cumsum(chances)
    picks = np.searchsorted(cumulated, steps * (cumulated[-1] / parts), side="right")
    # Rounding may point just past the end, where the last position with a chance is meant.
    return np.minimum(picks, np.flatnonzero(chances)[-1])
