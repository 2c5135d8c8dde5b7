"""Rows expressed by components: loadings (n, k), or labels and scales; and in which metric."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from orthonmf.engine.placement import on_host, take
from orthonmf.engine.segments import slices
from orthonmf.typing import Array

# Entries of a large array that are copied at once.
ENTRIES_AT_ONCE = 2**20


@dataclass(frozen=True, slots=True, eq=False)
class Projection:
    """Rows expressed by k components: loadings (n, k), or labels and scales, where the rows lie."""

    dense: Any = None  # (n, k) over features, else None
    labels: Any = None  # (n,) int32 over samples and both, -1 for none
    scales: Any = None  # (n,), 0 where the label is -1
    k: int = 0

    def __getitem__(self, rows: slice) -> Projection:
        """That of some rows."""
        if self.labels is None:
            return Projection(self.dense[rows])
        return Projection(None, self.labels[rows], self.scales[rows], self.k)

    @property
    def loadings(self) -> Any:
        """On the host: CSR with at most one entry per row, or dense."""
        here = self.on_host()
        return here.dense if here.labels is None else one_per_row(here.labels, here.scales, here.k)

    def on_host(self) -> Projection:
        """The same, on the host."""
        return Projection(on_host(self.dense), on_host(self.labels), on_host(self.scales), self.k)

    def divide(self, exponent: int) -> Projection:
        """The same over ``2**exponent``, in float64."""
        values = (self.dense if self.labels is None else self.scales).astype(np.float64)
        values = values if exponent == 0 else np.ldexp(values, -exponent)
        if self.labels is None:
            return Projection(values)
        return Projection(None, self.labels, values, self.k)

    def in_order(self, order: Array) -> Projection:
        """The same for the same components in another order (k,); dense loadings are moved."""
        if self.labels is None:
            for part in slices(len(self.dense), ENTRIES_AT_ONCE // max(1, len(order))):
                self.dense[part] = self.dense[part][:, order]
            return self
        numbers = np.full(len(order) + 1, -1, dtype=np.int32)  # the last one for label -1
        numbers[order] = np.arange(len(order))
        return Projection(None, take(numbers, self.labels), self.scales, len(order))


def one_per_row(labels: Array, scales: Array, k: int) -> csr_array:
    """CSR array with ``scales[i]`` in column ``labels[i]`` of row i; nothing where it is -1."""
    starts = np.zeros(len(labels) + 1, dtype=np.int32 if len(labels) < 2**31 else np.int64)
    np.cumsum(labels >= 0, out=starts[1:])
    if starts[-1] < len(labels):  # otherwise the arrays serve as they are
        used = labels >= 0
        labels, scales = labels[used], scales[used]
    return csr_array((scales, labels, starts), shape=(len(starts) - 1, k))


@dataclass(frozen=True, slots=True)
class Metric:
    """Vectors whose product with a row of X tells how much of it a component captures.

    Feature weights w are a metric: the error of a row x at ``scale * c`` is ``sum_h w_h (x_h -
    scale * c_h)^2``. Its best scale is ``<x, c>_w / |c|_w^2``, and it then captures ``(<x, c>_w /
    |c|_w)^2``: products with the vectors ``w * c / |c|_w`` decide, and divided by ``|c|_w`` they
    are the scales.
    """

    directions: Array  # (k, m) unit vectors of the components over the columns of Y
    vectors: Array  # (k, m) the same times the square roots of the weights, for rows of X
    lengths: Array | None = None  # (k,) of the components in the metric; None where that is 1

    def scales(self, products: Array, labels: Array | slice) -> Array:
        """Products (...) with the vectors of these labels as scales of the components."""
        if self.lengths is None:
            return products
        return (products / self.lengths[labels]).astype(products.dtype, copy=False)
