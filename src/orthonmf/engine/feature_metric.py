"""The metric of feature weights: what decides which component captures most of a row.

Feature weights w are a metric. The error of a row x at ``scale * c`` is ``sum_h w_h (x_h - scale *
c_h)^2``. Its best scale is ``<x, c>_w / |c|_w^2``, and it then captures ``(<x, c>_w / |c|_w)^2``:
products with the vectors ``w * c / |c|_w`` decide, and divided by ``|c|_w`` they are the scales.
Where weights of rows and columns enter a fit: `matrix.py`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from orthonmf.typing import Array
from orthonmf.vectors import square_lengths


@dataclass(frozen=True, slots=True)
class Metric:
    """Vectors whose product with a row of X tells how much of it a component captures."""

    directions: Array  # (k, m) unit vectors of the components over the columns of Y
    vectors: Array  # (k, m) the same times the square roots of the weights, for rows of X
    lengths: Array | None = None  # (k,) of the components in the metric; None where that is 1

    def scales(self, products: Array, labels: Array | slice) -> Array:
        """Products (...) with the vectors of these labels as scales of the components."""
        if self.lengths is None:
            return products
        return (products / self.lengths[labels]).astype(products.dtype, copy=False)

    def find_captured(self, scales: Array, labels: Array | slice, exponent: int) -> Array:
        """Scales of components with these labels as captured lengths over ``2**exponent``."""
        captured = np.ldexp(scales, -exponent, dtype=np.float64)
        if self.lengths is None or len(self.lengths) == 0:
            return captured
        return captured * self.lengths[labels]


def metric_of(components: Array, factors: Array | None) -> Metric:
    """The metric of unit components (k, m); ``factors`` (m,) are square roots of the weights."""
    if factors is None:
        return Metric(components, components)
    weighted = components.astype(np.float64) * factors
    lengths = np.sqrt(square_lengths(weighted))
    lengths = np.where(lengths > 0, lengths, 1.0)
    directions = weighted / lengths[:, None]
    return Metric(directions, directions * factors, lengths)
