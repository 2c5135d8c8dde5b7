"""How rows are expressed by components when features have weights.

With weights w the error of a row x at ``scale * c`` is ``sum_h w_h (x_h - scale * c_h)^2``. Its
best scale is ``<x, c>_w / |c|_w^2``, and it then captures ``(<x, c>_w / |c|_w)^2``: products with
the vectors ``w * c / |c|_w`` decide, and divided by ``|c|_w`` they are the scales.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from orthant.engine.units import NO_ENTRIES, SWITCHED_OFF
from orthant.numerics.arrays import Array


@dataclass(frozen=True, slots=True)
class Metric:
    """Vectors whose product with a row tells how much of it a component captures.

    The length of component s in the metric is ``lengths[s] * 2**powers[s]``; None where that is
    the plain length 1.
    """

    directions: Array  # (k, m) unit vectors of the components over the columns of Y
    vectors: Array  # (k, m) the same with the square roots of the weights, for rows of X'
    lengths: Array | None = None  # (k,) not far from 1
    powers: Array | None = None  # (k,) int

    def scales(self, products: Array, labels: Array | slice, exponent: int | Array) -> Array:
        """Products (...) with the vectors of these labels, times ``2**exponent``, as scales.

        Overflow is left to the caller, who knows the row.
        """
        with np.errstate(over="ignore", under="ignore"):
            if self.lengths is None or self.powers is None:
                return np.ldexp(products, exponent)
            own = (products / self.lengths[labels]).astype(products.dtype, copy=False)
            return np.ldexp(own, exponent - self.powers[labels])

    def captured(
        self, scales: Array, labels: Array | slice, exponent: int, rows: Array | None
    ) -> Array:
        """Scales of components with these labels as captured lengths, in float64.

        In the units of an exponent for all and, where given, powers for every row.
        """
        power: int | Array = -exponent if rows is None else -exponent - rows
        if self.lengths is None or self.powers is None or len(self.powers) == 0:
            return np.ldexp(scales, power, dtype=np.float64)
        own = np.ldexp(scales.astype(np.float64), power + self.powers[labels])
        return own * self.lengths[labels]


def metric_of(components: Array, factors: Array | None, columns: Array | None) -> Metric:
    """The metric of unit components (k, m) for rows in units with these column powers.

    The square root of the weight of column h is ``factors[h] * 2**-columns[h]``.
    """
    if factors is None:
        return Metric(components, components)
    folded, powers = folded_components(components, factors, columns)
    lengths = np.sqrt(np.einsum("sh,sh->s", folded, folded))
    lengths = np.where(lengths > 0, lengths, 1.0)
    directions = folded / lengths[:, None]
    return Metric(directions, directions * factors, lengths, powers)


def folded_components(
    components: Array, factors: Array, columns: Array | None
) -> tuple[Array, Array]:
    """Components times the square roots of the weights, each divided by ``2**power``, in range.

    Returns the divided components (k, m), largest entry near 1, and the powers (k,).
    """
    fractions, powers = np.frexp(components.astype(np.float64) * factors)
    if columns is not None:
        powers = powers - columns
    counted = fractions > 0
    if columns is not None:
        counted &= columns < SWITCHED_OFF
    largest = np.max(powers, axis=1, initial=NO_ENTRIES, where=counted)
    largest = np.where(counted.any(axis=1), largest, 0)
    shifted = np.where(counted, powers - largest[:, None], 0)
    return np.where(counted, np.ldexp(fractions, shifted), 0.0), largest
