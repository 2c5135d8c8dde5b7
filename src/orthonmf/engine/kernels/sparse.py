"""Kernels for blocks of rows held as CSR arrays."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy.sparse import csr_array, vstack

from orthonmf.engine.kernels.dense import CHUNK_ENTRIES, DENSE, add_product, find_offense
from orthonmf.engine.kernels.interface import (
    BlockColumns,
    BlockLook,
    BlockSweep,
    Kernel,
    ObservedBlock,
    Penalty,
)
from orthonmf.engine.kernels.missing import ObservedCsr
from orthonmf.engine.unchanged import add_bits
from orthonmf.engine.units import NO_ENTRIES, SWITCHED_OFF, Units
from orthonmf.numerics.arrays import Array
from orthonmf.numerics.segments import slices
from orthonmf.numerics.short_products import exact_in_float32

# What one multiplication of a sparse product costs, in multiplications of a dense one.
SPARSE_OVERHEAD = 200
GRAM_CHUNK = 2**21
# With more directions than this that share no column, adding up segments beats multiplying.
SEGMENTS_FROM = 12


class SparseKernel(Kernel):
    """Blocks of rows held as CSR arrays."""

    sparse = True

    def pieces(self, rows: csr_array) -> Iterator[slice]:
        """The whole block: its copies are as small as it is."""
        yield slice(0, rows.shape[0])

    def scale(self, rows: csr_array, units: Units) -> csr_array:
        if units.at_rest:
            return rows
        power = np.full(rows.nnz, units.exponent)
        if units.rows is not None:
            power += np.repeat(units.rows, np.diff(rows.indptr))
        if units.columns is not None:
            power += units.columns[rows.indices]
        return _with_values(rows, np.ldexp(rows.data.astype(np.float64, copy=False), -power))

    def find_row_powers(self, rows: csr_array, columns: Array | None) -> Array:
        _, powers = np.frexp(rows.data)
        shifts = 0 if columns is None else columns[rows.indices]
        counted = (rows.data > 0) & np.less(shifts, SWITCHED_OFF)
        found = np.full(rows.shape[0], NO_ENTRIES, dtype=np.int32)
        owners = np.repeat(np.arange(rows.shape[0]), np.diff(rows.indptr))[counted]
        np.maximum.at(found, owners, (powers - shifts)[counted])
        return found

    def look(self, rows: csr_array, column_weights: Array | None) -> BlockLook:
        if rows.nnz == 0:
            return BlockLook(None, 0.0, np.zeros(rows.shape[0]))
        offense = None
        lowest, largest = rows.data.min(), rows.data.max()
        if not (lowest >= 0 and np.isfinite(largest)):
            entry = find_offense(rows.data) or 0
            row = int(np.searchsorted(rows.indptr, entry, side="right")) - 1
            offense = (row, int(rows.indices[entry]), float(rows.data[entry]))
        weights = np.ones(rows.shape[1]) if column_weights is None else column_weights
        return BlockLook(offense, float(largest), _square(rows) @ weights)

    def square_columns(self, rows: csr_array, row_weights: Array | None) -> Array:
        weights = np.ones(rows.shape[0]) if row_weights is None else row_weights
        return _square(rows).T @ weights

    def multiply_directions(
        self, rows: csr_array, directions: Array, exact: bool = True, disjoint: bool = False
    ) -> Array:
        dtype = np.dtype(np.float64) if exact else rows.dtype
        if disjoint and len(directions) > SEGMENTS_FROM:
            return _segment_products(rows, directions, dtype)
        return rows @ np.ascontiguousarray(directions.T, dtype=dtype)

    def find_winners(
        self,
        rows: csr_array,
        directions: Array,
        penalty: Penalty | None = None,
        disjoint: bool = False,
    ) -> tuple[Array, Array]:
        scores = self.multiply_directions(rows, directions, exact=False, disjoint=disjoint)
        if penalty is not None:
            lower = np.multiply.outer(penalty.lengths, penalty.offsets)
            scores -= lower.astype(rows.dtype, copy=False)
        labels = scores.argmax(axis=1).astype(np.int32)
        return labels, scores[np.arange(rows.shape[0]), labels]

    def update(
        self, rows: csr_array, directions: Array, labels: Array, row_weights: Array | None = None
    ) -> BlockSweep:
        k, n_columns = directions.shape
        places = np.maximum(labels, 0)
        flat = _shift(rows, places, k)
        products = flat @ np.ascontiguousarray(directions, dtype=rows.dtype).ravel()
        products = np.where(labels >= 0, products, 0)
        coefficients = products if row_weights is None else products * row_weights
        sums = (flat.T @ coefficients.astype(rows.dtype, copy=False)).reshape(k, n_columns)
        return BlockSweep(labels, products, sums.astype(np.float64, copy=False))

    def sum_rows(self, rows: csr_array, labels: Array, coefficients: Array, k: int) -> Array:
        sums = _shift(rows, labels, k).T @ coefficients.astype(rows.dtype, copy=False)
        return sums.reshape(k, rows.shape[1]).astype(np.float64, copy=False)

    def normalize(self, rows: csr_array, lengths: Array, column_factors: Array | None) -> csr_array:
        values = rows.data / np.repeat(lengths, np.diff(rows.indptr))
        if column_factors is not None:
            values = values * column_factors[rows.indices]
        return _with_values(rows, values.astype(rows.dtype, copy=False))

    def multiply(self, rows: csr_array, row_scales: Array, column_scales: Array) -> csr_array:
        values = (
            rows.data * np.repeat(row_scales, np.diff(rows.indptr)) * column_scales[rows.indices]
        )
        return _with_values(rows, values)

    def stack(self, blocks: list[csr_array], transposed: bool) -> csr_array:
        whole = blocks[0] if len(blocks) == 1 else vstack(blocks, format="csr")
        return whole.T.tocsr() if transposed else whole

    def multiply_combinations(
        self, rows: csr_array, combinations: Array, row_weights: Array | None
    ) -> BlockColumns:
        combined = rows @ np.ascontiguousarray(combinations.T, dtype=rows.dtype)
        weighted = combined if row_weights is None else combined * row_weights[:, None]
        products = (rows.T @ weighted.astype(rows.dtype, copy=False)).T
        squares = np.einsum("bk,bk->k", weighted, combined, dtype=np.float64)
        return BlockColumns(products.astype(np.float64, copy=False), squares)

    def square_residuals(
        self, rows: csr_array, loadings: Any, components: Array, column_factors: Array | None
    ) -> Array:
        squares = np.empty(rows.shape[0])
        for part in slices(rows.shape[0], CHUNK_ENTRIES // max(1, rows.shape[1])):
            chunk = rows[part].toarray()
            squares[part] = DENSE.square_residuals(
                chunk, loadings[part], components, column_factors
            )
        return squares

    def take_dense(self, rows: csr_array, indices: Array | slice) -> Array:
        return rows[indices].toarray().astype(np.float64, copy=False)

    def find_filled(self, rows: csr_array) -> Array:
        return (rows != 0).sum(axis=1) > 0

    def list_entries(self, rows: csr_array) -> tuple[Array, Array, Array]:
        stored = rows.data != 0
        places = np.repeat(np.arange(rows.shape[0]), np.diff(rows.indptr))[stored]
        return places, rows.indices[stored], rows.data[stored].astype(np.float64)

    def count_entries(self, rows: csr_array) -> Array:
        return np.bincount(rows.indices, minlength=rows.shape[1])

    def sum_squares(self, rows: csr_array, down: Any, across: Any) -> Array:
        found = down.T @ (rows * rows @ across)
        return found.toarray() if hasattr(found, "toarray") else found

    def add_bits(self, rows: csr_array) -> int:
        return add_bits(rows.data) + add_bits(rows.indices) + add_bits(rows.indptr)

    def observe(self, rows: csr_array) -> ObservedBlock:
        return ObservedCsr(rows)

    def fill(self, rows: csr_array) -> csr_array:
        return _with_values(rows, np.where(np.isnan(rows.data), rows.dtype.type(0), rows.data))

    def any_missing(self, rows: csr_array) -> bool:
        return bool(np.isnan(rows.data).any())

    def gram_rows(self, rows: csr_array) -> Array:
        gram = np.zeros((rows.shape[0], rows.shape[0]), rows.dtype)
        self.add_gram(rows.T.tocsr(), gram)
        return gram

    def add_gram(self, rows: csr_array, gram: Array) -> None:
        m = rows.shape[1]
        if exact_in_float32(
            rows.data, lambda: float(self.square_columns(rows, None).max(initial=0.0))
        ):
            rows = rows.astype(np.float32)
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
            add_product(full_rows[start : start + size].toarray(), gram)


def _square(rows: csr_array) -> csr_array:
    return _with_values(rows, np.square(rows.data, dtype=np.float64))


def _segment_products(rows: csr_array, directions: Array, dtype: np.dtype) -> Array:
    """(b, k) products with directions that share no column: every entry is read once."""
    n_rows, k = rows.shape[0], len(directions)
    owners = directions.argmax(axis=0)
    values = directions[owners, np.arange(len(owners))]
    places = np.repeat(np.arange(n_rows) * k, np.diff(rows.indptr)) + owners[rows.indices]
    products = np.bincount(places, rows.data * values[rows.indices], minlength=n_rows * k)
    return products.reshape(n_rows, k).astype(dtype, copy=False)


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


def _with_values(rows: csr_array, values: Array) -> csr_array:
    return csr_array((values, rows.indices, rows.indptr), shape=rows.shape)


SPARSE = SparseKernel()
