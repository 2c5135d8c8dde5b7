"""Kernels for blocks of rows held as CSR arrays."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import csc_array, csr_array, vstack

from orthant.arrays import Array
from orthant.engine.kernels import dense
from orthant.engine.kernels.blocks import BlockColumns, BlockScan, BlockSweep, first_offence


def scaled(rows: csr_array, exponent: int) -> csr_array:
    """Rows times ``2**-exponent``, exact unless it underflows."""
    return _with_values(rows, np.ldexp(rows.data, -exponent)) if exponent else rows


def scan_block(
    rows: csr_array, row_weights: Array | None, column_weights: Array | None
) -> BlockScan:
    """Look at every entry once: bad values, the largest, and sums of squares in float64."""
    n_columns = rows.shape[1]
    if rows.nnz == 0:
        return BlockScan(None, 0.0, np.zeros(rows.shape[0]), np.zeros(n_columns))
    offence = None
    lowest, largest = rows.data.min(), rows.data.max()
    if not (lowest >= 0 and np.isfinite(largest)):
        entry = first_offence(rows.data) or 0
        row = int(np.searchsorted(rows.indptr, entry, side="right")) - 1
        offence = (row, int(rows.indices[entry]), float(rows.data[entry]))
    squares = _with_values(rows, np.square(rows.data.astype(np.float64)))
    row_squares = squares @ (np.ones(n_columns) if column_weights is None else column_weights)
    column_squares = squares.T @ (np.ones(rows.shape[0]) if row_weights is None else row_weights)
    return BlockScan(offence, float(largest), row_squares, column_squares)


def products_block(rows: csr_array, directions: Array) -> Array:
    """Inner products of rows with directions, (b, c), in float64 whatever the data."""
    return rows @ np.ascontiguousarray(directions.T)


def sweep_block(
    rows: csr_array,
    directions: Array,
    penalty: tuple[Array, Array] | None,
    row_weights: Array | None,
) -> BlockSweep:
    """Give every row to the direction with the highest score, and sum the rows of each.

    Scores and coefficients are those of the dense kernel.
    """
    k, b = len(directions), rows.shape[0]
    scores = rows @ np.ascontiguousarray(directions.T, dtype=rows.dtype)
    if penalty is not None:
        offsets, lengths = (part.astype(rows.dtype, copy=False) for part in penalty)
        scores -= np.multiply.outer(lengths, offsets)
    labels = scores.argmax(axis=1).astype(np.int32)
    best = scores[np.arange(b), labels]
    products, coefficients = best, best
    if penalty is not None:
        products, coefficients = best + offsets[labels] * lengths, lengths
    if row_weights is not None:
        coefficients = coefficients * row_weights
    return BlockSweep(labels, products, sums_block(rows, labels, coefficients, k))


def sums_block(rows: csr_array, labels: Array, coefficients: Array, k: int) -> Array:
    """Sum of coefficient times row over the rows of each label, (k, m).

    With ``label * m`` added to its column number every entry knows its place in the flattened
    result, and all sums are one matrix-vector product.
    """
    n_columns = rows.shape[1]
    wide = k * n_columns >= 2**31 or rows.indices.dtype == np.int64
    index_dtype = np.int64 if wide else np.int32
    places = rows.indices.astype(index_dtype)
    places += np.repeat(labels.astype(index_dtype) * n_columns, np.diff(rows.indptr))
    flat = csc_array((rows.data, places, rows.indptr), shape=(k * n_columns, rows.shape[0]))
    sums = flat @ coefficients.astype(rows.dtype, copy=False)
    return sums.reshape(k, n_columns).astype(np.float64, copy=False)


def multiplied(rows: csr_array, row_scales: Array, column_scales: Array) -> csr_array:
    """Rows with every row and every column multiplied by its scale."""
    values = rows.data * np.repeat(row_scales, np.diff(rows.indptr)) * column_scales[rows.indices]
    return _with_values(rows, values.astype(rows.dtype, copy=False))


def stacked(blocks: list[csr_array]) -> csr_array:
    """Blocks joined to one array."""
    return vstack(blocks, format="csr")


def columns_block(rows: csr_array, combinations: Array, row_weights: Array | None) -> BlockColumns:
    """Combine columns, then multiply every column with each combination, in one read."""
    combined = rows @ np.ascontiguousarray(combinations.T, dtype=rows.dtype)
    weighted = combined if row_weights is None else combined * row_weights[:, None]
    products = (rows.T @ weighted.astype(rows.dtype, copy=False)).T
    squares = np.einsum("bk,bk->k", weighted, combined, dtype=np.float64)
    return BlockColumns(products.astype(np.float64, copy=False), squares)


def residual_block(
    rows: csr_array, loadings: Any, components: Array, column_factors: Array | None
) -> Array:
    """Squared distance of every row to ``loadings @ components``, by direct difference.

    Only needed when the fit is nearly perfect, where the short formula would cancel; rows are
    made dense a few at a time.
    """
    squares = np.empty(rows.shape[0])
    size = max(1, dense.CHUNK_ENTRIES // max(1, rows.shape[1]))
    for start in range(0, rows.shape[0], size):
        part = slice(start, min(start + size, rows.shape[0]))
        chunk = rows[part].toarray()
        squares[part] = dense.residual_block(chunk, loadings[part], components, column_factors)
    return squares


def dense_rows(rows: csr_array, indices: Array) -> Array:
    """Some rows of the block, dense, in float64."""
    return rows[indices].toarray().astype(np.float64)


def column_gram(rows: csr_array) -> Array:
    """``rows.T @ rows`` in float64, dense (m, m)."""
    wide = rows.astype(np.float64)
    return (wide.T @ wide).toarray()


def row_gram(rows: csr_array, others: csr_array) -> Array:
    """``rows @ others.T`` in float64, dense."""
    return (rows.astype(np.float64) @ others.astype(np.float64).T).toarray()


def _with_values(rows: csr_array, values: Array) -> csr_array:
    return csr_array((values, rows.indices, rows.indptr), shape=rows.shape)
