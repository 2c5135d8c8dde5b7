"""Kernels for blocks of rows held as CSR arrays."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import csr_array

from orthonmf.engine.kernels.dense import CHUNK_ENTRIES, DENSE, find_offense
from orthonmf.engine.kernels.interface import BlockLook, Kernel
from orthonmf.engine.loadings import Projection
from orthonmf.engine.segments import slices
from orthonmf.typing import Array

# What one multiplication of a sparse product costs, in multiplications of a dense one.
SPARSE_OVERHEAD = 200
GRAM_CHUNK = 2**21
# From so many directions on that share no column, one product for every entry pays.
MANY_DIRECTIONS = 48


class SparseKernel(Kernel[csr_array]):
    """Blocks of rows held as CSR arrays."""

    sparse = True

    def scale(self, rows: csr_array, exponent: int) -> csr_array:
        return rows if exponent == 0 else with_values(rows, DENSE.scale(rows.data, exponent))

    def look(self, rows: csr_array, column_weights: Array | None = None) -> BlockLook:
        if rows.nnz == 0:
            return BlockLook(None, 0.0, np.zeros(rows.shape[0]))
        offense = None
        lowest, largest = rows.data.min(), rows.data.max()
        if not (lowest >= 0 and np.isfinite(largest)):
            entry = find_offense(rows.data)
            row = int(np.searchsorted(rows.indptr, entry, side="right")) - 1
            offense = (row, int(rows.indices[entry]), float(rows.data[entry]))
        weights = np.ones(rows.shape[1]) if column_weights is None else column_weights
        return BlockLook(offense, float(largest), _square(rows) @ weights)

    def square_columns(self, rows: csr_array, row_weights: Array | None = None) -> Array:
        weights = np.ones(rows.shape[0]) if row_weights is None else row_weights
        return _square(rows).T @ weights

    def multiply_directions(self, rows: csr_array, directions: Array, exact: bool = True) -> Array:
        vectors = directions.astype(np.float64 if exact else rows.dtype, copy=False)
        if len(vectors) >= MANY_DIRECTIONS and np.count_nonzero(vectors, axis=0).max() <= 1:
            return (rows @ csr_array(vectors).T.tocsr()).toarray()
        return rows @ np.ascontiguousarray(vectors.T)

    def find_winners(
        self, rows: csr_array, directions: Array, offsets: Array | None = None, lengths: Any = None
    ) -> tuple[Array, Array]:
        scores = self.multiply_directions(rows, directions, exact=False)
        if offsets is not None:
            lower = np.multiply.outer(lengths, offsets)
            scores -= lower.astype(rows.dtype, copy=False)
        labels = scores.argmax(axis=1).astype(np.int32)
        return labels, scores[np.arange(rows.shape[0]), labels]

    def multiply_own(self, rows: csr_array, directions: Array, labels: Array) -> Array:
        flat = np.ascontiguousarray(directions, dtype=rows.dtype).ravel()
        return _shift(rows, labels, len(directions)) @ flat

    def sum_rows(
        self, rows: csr_array, labels: Array, coefficients: Array, k: int, exact: bool = False
    ) -> Array:
        if exact:
            rows = rows.astype(np.float64, copy=False)
        sums = _shift(rows, labels, k).T @ coefficients.astype(rows.dtype, copy=False)
        return sums.reshape(k, rows.shape[1]).astype(np.float64, copy=False)

    def square_residuals(
        self, rows: csr_array, fitted: Projection, components: Array, column_factors: Array | None
    ) -> Array:
        squares = np.empty(rows.shape[0])
        for part in slices(rows.shape[0], CHUNK_ENTRIES // max(1, rows.shape[1])):
            chunk = rows[part].toarray()
            squares[part] = DENSE.square_residuals(chunk, fitted[part], components, column_factors)
        return squares

    def combine_columns(
        self, rows: csr_array, combinations: Array, row_weights: Any, exact: bool
    ) -> tuple[Array, Array]:
        return DENSE.combine_columns(rows, combinations, row_weights, exact)

    def gram(self, rows: csr_array, row_scales: Array, column_scales: Array) -> Array:
        gram = np.zeros((rows.shape[1], rows.shape[1]))
        _add_gram(self.multiply(rows, row_scales, column_scales), gram)
        return gram

    def multiply(self, rows: csr_array, row_scales: Array, column_scales: Array) -> csr_array:
        values = rows.data.astype(np.float64)
        # Looking up a factor for every entry takes longer than a product; most factors are 1.
        if (row_scales != 1).any():
            values *= np.repeat(row_scales, np.diff(rows.indptr))
        if (column_scales != 1).any():
            values *= column_scales[rows.indices]
        return with_values(rows, values)


def gram_of_rows(rows: Array | csr_array) -> Array:
    """``rows @ rows.T``, dense (b, b), in the dtype of the rows."""
    if isinstance(rows, np.ndarray):
        return rows @ rows.T
    gram = np.zeros((rows.shape[0], rows.shape[0]), rows.dtype)
    _add_gram(rows.T.tocsr(), gram)
    return gram


def with_values(rows: csr_array, values: Array) -> csr_array:
    """The same places with other values."""
    return csr_array((values, rows.indices, rows.indptr), shape=rows.shape)


def _add_gram(rows: csr_array, gram: Array) -> None:
    """Add ``rows.T @ rows``, in the precision of the rows, to a dense matrix (m, m)."""
    m = rows.shape[1]
    # A row with c entries takes c^2 products of its own, or m^2 much cheaper dense ones.
    counts = np.diff(rows.indptr).astype(np.int64)
    full = SPARSE_OVERHEAD * counts**2 > m**2
    rest, full_rows = rows[~full], rows[full]
    size = max(1, GRAM_CHUNK // max(1, m))
    columns = rest.T.tocsr()
    for start in range(0, m, size):
        products = (columns[start : start + size] @ rest[:, start:]).toarray()
        stop = start + len(products)
        gram[start:stop, start:] += products
        gram[stop:, start:stop] += products[:, stop - start :].T
    for start in range(0, full_rows.shape[0], size):
        dense = full_rows[start : start + size].toarray()
        gram += dense.T @ dense


def _square(rows: csr_array) -> csr_array:
    return with_values(rows, np.square(rows.data, dtype=np.float64))


def _shift(rows: csr_array, labels: Array, k: int) -> csr_array:
    """The rows spread over k times as many columns: row i stands in copy ``labels[i]``.

    With ``label * m`` added to its column number every entry knows its place in a flattened k x m
    array, so what differs by label becomes one product with a vector.
    """
    n_columns = rows.shape[1]
    wide = k * n_columns >= 2**31 or rows.indices.dtype == np.int64
    index_dtype = np.int64 if wide else np.int32
    places = rows.indices.astype(index_dtype)
    places += np.repeat(labels.astype(index_dtype) * n_columns, np.diff(rows.indptr))
    return csr_array((rows.data, places, rows.indptr), shape=(rows.shape[0], k * n_columns))


SPARSE = SparseKernel()
