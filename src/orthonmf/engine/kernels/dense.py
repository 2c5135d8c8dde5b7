"""The kernel for blocks of rows held as C-ordered arrays.

The sweep is `Kernel.sweep` in `interface.py`, the same for dense and sparse rows: `find_winners`,
then `sum_rows`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy.sparse import csc_array, csr_array

from orthonmf.engine.kernels.interface import BlockLook, Kernel, piece_rows
from orthonmf.engine.loadings import Projection
from orthonmf.engine.segments import slices
from orthonmf.typing import Array

# Entries per step where a float64 copy of a block would not stay in cache.
CHUNK_ENTRIES = 2**18
FEWEST_ROWS = 1024
SCORES_IN_CACHE = 2**18
ENTRIES_IN_CACHE = 2**20
# Directions of which a smaller share is not zero are multiplied as sparse ones.
THIN = 1 / 256
# Below this size a product with zeros costs less than building a sparse matrix.
SMALL_MEMBERS = 2**12


class DenseKernel(Kernel[Array]):
    """Blocks of rows held as C-ordered arrays."""

    def scale(self, rows: Array, exponent: int) -> Array:
        if exponent == 0:
            return rows
        return np.ldexp(rows.astype(np.float64, copy=False), np.int32(-exponent))

    def look(self, rows: Array, column_weights: Array | None = None) -> BlockLook:
        squares = np.empty(len(rows))
        lowest, largest = np.inf, -np.inf
        for some in _chunks(rows):
            chunk = rows[some]
            # Not Python's min and max, which lose a NaN.
            lowest, largest = np.minimum(lowest, chunk.min()), np.maximum(largest, chunk.max())
            wide = chunk.astype(np.float64, copy=False)
            if column_weights is None:
                row_dots(wide, wide, out=squares[some])
            else:
                squares[some] = np.square(wide) @ column_weights
        offense = None
        if not (lowest >= 0 and np.isfinite(largest)):
            row, column = divmod(find_offense(rows.ravel()), rows.shape[1])
            offense = (row, column, float(rows[row, column]))
        return BlockLook(offense, float(largest), squares)

    def square_columns(self, rows: Array, row_weights: Array | None = None) -> Array:
        squares = np.zeros(rows.shape[1])
        for some in _chunks(rows):
            chunk = np.square(rows[some], dtype=np.float64)
            squares += chunk.sum(axis=0) if row_weights is None else row_weights[some] @ chunk
        return squares

    def multiply_directions(self, rows: Array, directions: Array, exact: bool = True) -> Array:
        vectors = _thin(directions, np.float64 if exact else rows.dtype)
        if not exact:
            return rows @ vectors.T
        products = np.empty((len(rows), len(directions)))
        for some in _chunks(rows):
            products[some] = rows[some].astype(np.float64, copy=False) @ vectors.T
        return products

    def find_winners(
        self, rows: Array, directions: Array, offsets: Array | None = None, lengths: Any = None
    ) -> tuple[Array, Array]:
        k, n_columns = directions.shape
        vectors = _thin(directions, rows.dtype)
        labels, best = np.empty(len(rows), dtype=np.int32), np.empty(len(rows), dtype=rows.dtype)
        # Few rows at a time, so that their products are still in cache when the winner is sought.
        most = max(FEWEST_ROWS, min(SCORES_IN_CACHE // k, ENTRIES_IN_CACHE // n_columns))
        size = -(-len(rows) // -(-len(rows) // most))  # as even as it goes
        for part in slices(len(rows), size):
            some = rows[part]
            if rows.dtype == np.float64:
                scores = vectors @ some.T
            else:  # in float32 the other layout of the product is faster, and a copy on top
                scores = np.ascontiguousarray((some @ vectors.T).T)
            if offsets is not None:
                lower = np.multiply.outer(offsets, lengths[part])
                scores -= lower.astype(rows.dtype, copy=False)
            np.max(scores, axis=0, out=best[part])
            labels[part] = _winners(scores, best[part])
        return labels, best

    def multiply_own(self, rows: Array, directions: Array, labels: Array) -> Array:
        narrow = np.asarray(directions, dtype=rows.dtype)
        products = np.empty(len(rows), dtype=rows.dtype)
        for some in _chunks(rows):
            row_dots(rows[some], narrow[labels[some]], out=products[some])
        return products

    def sum_rows(
        self, rows: Array, labels: Array, coefficients: Array, k: int, exact: bool = False
    ) -> Array:
        if exact:
            rows = rows.astype(np.float64, copy=False)
        if len(rows) * k <= SMALL_MEMBERS:
            few = np.zeros((k, len(rows)), dtype=rows.dtype)
            few[labels, np.arange(len(rows))] = coefficients
            return np.asarray(few @ rows, dtype=np.float64)
        # One non-zero per row of the block: a sparse product is one scaled addition per row.
        values, places = coefficients.astype(rows.dtype, copy=False), np.arange(len(rows) + 1)
        members = csc_array((values, labels, places), shape=(k, len(rows)))
        return np.asarray(members @ rows, dtype=np.float64)

    def combine_columns(
        self, rows: Array | csr_array, combinations: Array, row_weights: Any, exact: bool
    ) -> tuple[Array, Array]:
        block = rows.astype(np.float64, copy=False) if exact else rows
        combined = block @ np.ascontiguousarray(combinations.T, dtype=block.dtype)
        weighted = combined if row_weights is None else combined * row_weights[:, None]
        products = (block.T @ weighted.astype(block.dtype, copy=False)).T
        squares = np.einsum("bk,bk->k", weighted, combined, dtype=np.float64)
        return products.astype(np.float64, copy=False), squares

    def square_residuals(
        self, rows: Array, fitted: Projection, components: Array, column_factors: Array | None
    ) -> Array:
        factors = fitted.loadings
        squares = np.empty(len(rows))
        for some in _chunks(rows):
            chunk = rows[some].astype(np.float64, copy=False)
            difference = chunk - factors[some] @ components
            difference[np.isnan(difference)] = 0.0
            if column_factors is not None:
                difference *= column_factors
            squares[some] = np.square(difference).sum(axis=1)
        return squares

    def gram(self, rows: Array, row_scales: Array, column_scales: Array) -> Array:
        gram = np.zeros((rows.shape[1], rows.shape[1]))
        for some in slices(len(rows), piece_rows(rows.shape[1])):
            scaled = self.multiply(rows[some], row_scales[some], column_scales)
            gram += scaled.T @ scaled
        return gram

    def multiply(self, rows: Array, row_scales: Array, column_scales: Array) -> Array:
        multiplied = rows * row_scales[:, None]
        multiplied *= column_scales
        return multiplied


def find_offense(values: Array) -> int:
    """Position of the first value that is NaN, infinite or negative, where there is one."""
    return int(((values >= 0) & np.isfinite(values)).argmin())


def row_dots(left: Array, right: Array, out: Array) -> Array:
    """(b,) inner products of the rows of two arrays."""
    if hasattr(np, "vecdot"):  # NumPy 2 has a faster loop for it
        return np.vecdot(left, right, out=out)
    return np.einsum("ij,ij->i", left, right, out=out)


def _winners(scores: Array, best: Array) -> Array:
    """Row of the maximum in every column of a (k, b) array, the lowest on ties."""
    if len(scores) <= 127:
        # Without ties every column has one True, and or-ing the row numbers there is the answer;
        # this reads bytes where argmax would read floats.
        hits = scores == best
        if np.count_nonzero(hits) == hits.shape[1]:
            numbers = np.arange(len(scores), dtype=np.int8)[:, None]
            places = hits.view(np.int8)
            np.multiply(places, numbers, out=places)
            return np.bitwise_or.reduce(places, axis=0)
    return scores.argmax(axis=0)


def _thin(directions: Array, dtype: Any) -> Array | csr_array:
    """Directions (k, m) in a dtype, as CSR where nearly all of them is zero."""
    vectors = directions.astype(dtype, copy=False)
    return csr_array(vectors) if np.count_nonzero(vectors) < THIN * vectors.size else vectors


def _chunks(rows: Array) -> Iterator[slice]:
    return slices(len(rows), CHUNK_ENTRIES // max(1, rows.shape[1]))


DENSE = DenseKernel()
