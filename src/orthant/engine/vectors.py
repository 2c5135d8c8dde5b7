"""Vectors with one entry per point: the few functions that see all of them."""

from __future__ import annotations

import numpy as np

from orthant.numerics.arrays import Array


def count_equal(weights: Array) -> float:
    """How many equal points weights (N,) are worth: ``(sum w)^2 / sum w^2``."""
    squares = float(weights @ weights)
    return float(weights.sum()) ** 2 / squares if squares > 0 else 0.0


def draw_evenly(chances: Array, size: int, rng: np.random.Generator) -> Array:
    """Positions (size,), ascending, each as often as its share of the chances (N,) says.

    Systematic sampling: one random offset, equal steps along the cumulated chances, so that
    positions next to each other are not drawn together by accident.
    """
    cumulated = np.cumsum(chances)
    places = (np.arange(size) + rng.random()) * (cumulated[-1] / size)
    picks = np.searchsorted(cumulated, places, side="right")
    # Rounding may point just past the end, where the last position with a chance is meant.
    return np.minimum(picks, np.flatnonzero(chances)[-1])
