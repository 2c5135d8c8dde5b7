"""Two ways to say how far normalized points are apart, both from their cosine.

*Plain*: squared Euclidean distance, the geometry of the paper. *Lines*: squared sine of the angle,
which is the error of the factorization itself (half the squared distance of the lifted points
``x x^T``). Both are squared metrics, so seeding and swaps have the same guarantees in each.
"""

from __future__ import annotations

import numpy as np

from orthant.engine.points import Distance as Distance
from orthant.numerics.arrays import Array
from orthant.numerics.rounding import UNIT_ROUNDOFF


def plain(products: Array, squares: Array) -> Array:
    """Squared distance of unit points to centers: ``1 - 2 <x, c> + |c|^2``, (N, c)."""
    return np.maximum(1.0 - 2.0 * products + squares, 0.0)


def lines(products: Array, squares: Array) -> Array:
    """Squared sine of the angle between unit points and centers, (N, c)."""
    cosines_squared = np.divide(
        np.square(products), squares, out=np.zeros_like(products), where=squares > 0
    )
    return np.clip(1.0 - cosines_squared, 0.0, 1.0)


def distance_rounding(dimension: int) -> float:
    """A bound on the rounding error of either distance between points of this dimension."""
    return 10.0 * (dimension + 4) * UNIT_ROUNDOFF
