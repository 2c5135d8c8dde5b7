"""Angles between rows, and of rows with disjoint directions, without an n x n matrix."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array

from orthonmf.engine.checksums import digest_bytes
from orthonmf.engine.segments import first_largest, slices
from orthonmf.typing import Array
from orthonmf.vectors import divide

# Scalar products formed at a time. Bounds the extra memory (about 100 MB) whatever the data.
PRODUCTS_PER_BLOCK = 1 << 22
# Blocks of a sparse matrix at the least, unless it is small.
FEWEST_BLOCKS = 8
# A sparse matrix is multiplied as a dense one when that is cheaper and it takes at most this much.
DENSE_COPY_BYTES = 1 << 28
# What one multiplication costs in a sparse product, counted in multiplications of a dense one.
SPARSE_OVERHEAD = 40


@dataclass(frozen=True, slots=True)
class Pairs:
    """Some pairs of rows, in lexicographic order, with what was measured about each."""

    first: Array  # (p,) row numbers
    second: Array  # (p,), always larger than ``first``
    values: Array  # (p,) cosines, or numbers of shared ones

    def where(self, keep: Array) -> Array:
        """The pairs (q x 2) selected by the boolean array ``keep``."""
        return np.column_stack((self.first[keep], self.second[keep]))


def close_pairs(rows: Array | csr_array, norms: Array, threshold: float) -> Iterator[Pairs]:
    """Yield the pairs of rows whose cosine is at least ``threshold``, above 0, block by block.

    Rows (n, m) are non-negative, float64, dense or CSR; of a sparse matrix only the pairs that
    share a column are ever formed. A row of norm (n,) 0 is in no pair.
    """
    inverse = divide(1.0, norms)
    for pairs in _products_of_pairs(rows):
        # Multiplying by two inverses is one rounding more than dividing; the slack covers it.
        cosines = pairs.values * inverse[pairs.first] * inverse[pairs.second]
        keep = cosines >= threshold
        values = np.minimum(cosines[keep], 1.0)
        yield _in_order(Pairs(pairs.first[keep], pairs.second[keep], values))


def shared_ones(rows: csr_array) -> Iterator[Pairs]:
    """Yield all pairs of 0/1 rows that share a one; ``values`` holds how many, as integers."""
    for pairs in _products_of_pairs(rows.astype(np.float64)):
        yield _in_order(Pairs(pairs.first, pairs.second, pairs.values.astype(np.int64)))


def row_products(rows: Array | csr_array) -> Iterator[tuple[int, Array | csr_array]]:
    """Yield ``(start, rows[start:stop] @ rows[start:].T)`` for consecutive ranges of rows.

    The blocks cover every pair i <= j once. They are CSR, in any order within a row, or dense,
    whichever costs less for this matrix, and hold at most `PRODUCTS_PER_BLOCK` products or one row.
    """
    if isinstance(rows, np.ndarray):
        for some in slices(len(rows), PRODUCTS_PER_BLOCK // max(1, len(rows))):
            yield some.start, rows[some] @ rows[some.start :].T
        return
    n, m = rows.shape
    column_sizes = np.bincount(rows.indices, minlength=m)
    work = np.cumsum(np.r_[0, column_sizes[rows.indices]])[rows.indptr]
    if work[-1] * SPARSE_OVERHEAD > n * n * m and n * m * 8 <= DENSE_COPY_BYTES:
        yield from row_products(rows.toarray())
        return
    start = 0
    while start < n:
        # However much is summed up for them, a block holds no more products than pairs; those of
        # later rows with earlier ones in it are wasted.
        reach = np.searchsorted(work, work[start] + PRODUCTS_PER_BLOCK, side="right") - 1
        room = min(PRODUCTS_PER_BLOCK // (n - start), n // FEWEST_BLOCKS)
        stop = min(n, max(start + max(1, room), int(reach)))
        yield start, (rows[start:stop] @ rows[start:].T.tocsr()).tocsr()
        start = stop


def _products_of_pairs(rows: Array | csr_array) -> Iterator[Pairs]:
    """Yield the positive scalar products of rows i < j, by i but in any order of j."""
    for start, block in row_products(rows):
        if isinstance(block, np.ndarray):
            first, second = np.nonzero(np.triu(block, k=1))
            values = block[first, second]
        else:
            first = np.repeat(np.arange(block.shape[0]), np.diff(block.indptr))
            later = block.indices > first
            first, second, values = first[later], block.indices[later], block.data[later]
        yield Pairs(first.astype(np.int64) + start, second.astype(np.int64) + start, values)


def _in_order(pairs: Pairs) -> Pairs:
    """The same pairs in lexicographic order: few are left by now."""
    order = np.lexsort((pairs.second, pairs.first))
    return Pairs(pairs.first[order], pairs.second[order], pairs.values[order])


def merge_parallel(rows: Array | csr_array) -> Array:
    """For every row the first row that is parallel to it (n,); -1 for zero rows.

    Rows count as parallel when their entries, divided by their largest, are equal in every bit.
    Division is correctly rounded, so this finds every two rows that are exactly parallel (and all
    0/1 rows with the same ones), and never joins rows that differ by more than rounding.
    """
    representatives = np.full(rows.shape[0], -1, dtype=np.int64)
    seen: dict[bytes, int] = {}
    for i, content in enumerate(_rescaled_rows(rows)):
        if content is not None:
            representatives[i] = seen.setdefault(content, i)
    return representatives


def _rescaled_rows(rows: Array | csr_array) -> Iterator[bytes | None]:
    """Yield a digest of every row divided by its largest entry; None for a zero row."""
    if isinstance(rows, np.ndarray):
        for row in rows:
            largest = row.max(initial=0.0)
            yield digest_bytes(row / largest) if largest > 0.0 else None
        return
    for start, stop in zip(rows.indptr[:-1], rows.indptr[1:], strict=True):
        values = rows.data[start:stop]
        present = values != 0
        if present.any():
            values, columns = values[present], rows.indices[start:stop][present]
            yield digest_bytes(columns.astype(np.int64), values / values.max())
        else:
            yield None


def row_norms(rows: Array | csr_array) -> Array:
    """Euclidean norms (n,) of the rows of a dense or CSR array."""
    if isinstance(rows, np.ndarray):
        return np.sqrt(np.einsum("ij,ij->i", rows, rows))
    return np.sqrt(np.asarray(rows.multiply(rows).sum(axis=1), dtype=np.float64))


def capture_rows(rows: Array | csr_array, directions: Array | csr_array) -> tuple[Array, Array]:
    """Give every row to the direction that captures most of it, with the best scale.

    Row x goes to the direction a with the largest ``<x, a> / |a|`` (the lowest of equals) and gets
    the scale ``<x, a> / |a|^2``. No other choice of label and scale leaves a smaller error.

    Rows (n, m) and directions (k, m) are non-negative, dense or CSR. No two directions have a
    common coordinate; some may be zero. Returns labels and scales, (n,) each: -1 and 0 where no
    direction meets the row.
    """
    directions = csr_array(directions)
    inverse = divide(1.0, row_norms(directions))
    labels = np.full(rows.shape[0], -1, dtype=np.int64)
    captured = np.zeros(rows.shape[0])
    if len(inverse) == 0:
        return labels, captured
    if isinstance(rows, np.ndarray):
        for some in slices(len(rows), PRODUCTS_PER_BLOCK // len(inverse)):
            products = (rows[some] @ directions.T) * inverse
            labels[some] = best = products.argmax(axis=1)
            captured[some] = products[np.arange(len(best)), best]
    else:
        products = (csr_array(rows) @ directions.T).tocsr()
        products.sort_indices()
        scores = products.data * inverse[products.indices]
        met, positions = first_largest(products.indptr, scores)
        labels[met], captured[met] = products.indices[positions], scores[positions]
    labels[captured <= 0.0] = -1
    scales = np.where(labels >= 0, captured * np.r_[inverse, 0.0][labels], 0.0)
    return labels, scales
