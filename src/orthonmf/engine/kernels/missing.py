"""Blocks with missing entries: values with zeros in their place, and sums over what is observed.

The passes are in `engine/missing.py`, the descent in `onmf/missing.py`.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import csr_array

from orthonmf.engine.kernels.dense import CHUNK_ENTRIES
from orthonmf.engine.kernels.interface import Kernel
from orthonmf.engine.kernels.sparse import with_values
from orthonmf.engine.loadings import Projection
from orthonmf.engine.segments import slices
from orthonmf.engine.sources import to_dense
from orthonmf.typing import Array

# A difference below this share of what it was taken from has lost digits: it is summed instead.
CANCELLED = 1e-2
# Entries of an indicator that are made dense at once.
ENTRIES_AT_ONCE = 2**20


class ObservedBlock:
    """A block with missing entries: values with zeros in their place, and where they are.

    A dense block carries the observed positions as ones. In a sparse one, where an absent entry is
    an observed zero, it is what is missing: sums over the observed are differences.
    """

    def __init__(self, rows: Array | csr_array) -> None:
        self.values = fill(rows).astype(np.float64, copy=False)
        if isinstance(rows, np.ndarray):
            self._observed = (~np.isnan(rows)).astype(np.float64)
            return
        missing = np.isnan(rows.data)
        ends = np.concatenate(([0], np.cumsum(missing)))[rows.indptr]
        ones = np.ones(int(ends[-1]))
        self._missing = csr_array((ones, rows.indices[missing], ends), shape=rows.shape)

    def sum_observed(self, squares: Array) -> Array:
        """For every row the sums of ``squares`` (k, m) over its observed columns, (b, k)."""
        by_column = np.ascontiguousarray(squares.T)
        if isinstance(self.values, np.ndarray):
            return self._observed @ by_column
        return _sum_others(self._missing, by_column)

    def sum_observed_rows(self, squares: Array) -> Array:
        """For every column the sums of ``squares`` (b, k) over its observed rows, (k, m)."""
        if isinstance(self.values, np.ndarray):
            return squares.T @ self._observed
        return _sum_others(self._missing.T.tocsr(), squares).T


def fill(rows: Array | csr_array) -> Array | csr_array:
    """The same rows with zeros in place of missing entries."""
    if isinstance(rows, np.ndarray):
        return np.where(np.isnan(rows), rows.dtype.type(0), rows)
    return with_values(rows, fill(rows.data))


def observed_residual_block(
    kernel: Kernel[Any],
    rows: Any,
    components: Array,
    column_factors: Array | None,
    exponent: int,
    projection: Projection,
    row_weights: Array | None,
) -> float:
    """Weighted squared distance of rows to ``loadings @ components``, missing entries left out."""
    fitted = to_dense(projection.divide(exponent).loadings)
    total = 0.0
    for some in slices(rows.shape[0], CHUNK_ENTRIES // max(1, rows.shape[1])):
        difference = to_dense(rows[some]) - fitted[some] @ components
        difference = np.where(np.isnan(difference), 0.0, difference)
        if column_factors is not None:
            difference *= column_factors
        squares = np.square(difference).sum(axis=1)
        total += float(squares.sum() if row_weights is None else squares @ row_weights[some])
    return total


def _sum_others(missing: csr_array, values: Array) -> Array:
    """(b, k) for every row of an indicator (b, m) the sums of values (m, k) where it has no one.

    Differences, and where little is left of them, so that digits are lost, the sums themselves.
    """
    total = values.sum(axis=0)
    rest = total - missing @ values
    lost = np.flatnonzero((rest < CANCELLED * total).any(axis=1))
    for some in slices(len(lost), ENTRIES_AT_ONCE // max(1, missing.shape[1])):
        rest[lost[some]] = (1.0 - missing[lost[some]].toarray()) @ values
    return rest
