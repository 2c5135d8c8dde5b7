"""Disjoint blocks of a 0/1 matrix: the form of every answer to correlation clustering."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array

from orthant.numerics.arrays import Array


@dataclass(frozen=True, slots=True)
class Blocks:
    """The block of every row and of every column, -1 for none; no two blocks overlap."""

    rows: Array  # (n,)
    columns: Array  # (m,)

    @property
    def transposed(self) -> Blocks:
        """The same blocks of the transposed matrix."""
        return Blocks(self.columns, self.rows)


def entry_rows(matrix: csr_array) -> Array:
    """The row of every stored entry, beside ``matrix.indices``."""
    return np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr))


def restrict_to_blocks(matrix: csr_array, blocks: Blocks) -> csr_array:
    """The entries of a 0/1 matrix that lie in a block; all others are dropped."""
    rows = entry_rows(matrix)
    inside = (blocks.rows[rows] >= 0) & (blocks.rows[rows] == blocks.columns[matrix.indices])
    indptr = np.r_[0, np.cumsum(np.bincount(rows[inside], minlength=matrix.shape[0]))]
    return csr_array((matrix.data[inside], matrix.indices[inside], indptr), shape=matrix.shape)


def count_disagreements(matrix: csr_array, blocks: Blocks) -> int:
    """Ones outside the blocks plus zeros inside: the squared error of the 0/1 factorization."""
    block_of_row = blocks.rows[entry_rows(matrix)]
    ones_inside = np.count_nonzero(
        (block_of_row >= 0) & (block_of_row == blocks.columns[matrix.indices])
    )
    n_blocks = int(max(blocks.rows.max(initial=-1), blocks.columns.max(initial=-1))) + 1
    heights = np.bincount(blocks.rows[blocks.rows >= 0], minlength=n_blocks)
    widths = np.bincount(blocks.columns[blocks.columns >= 0], minlength=n_blocks)
    return int(matrix.nnz - 2 * ones_inside + np.sum(heights * widths))


def indicator(labels: Array, n_labels: int) -> csr_array:
    """The 0/1 matrix (len(labels) x n_labels) with a one at every label that is not -1."""
    labeled = np.flatnonzero(labels >= 0)
    ones = np.ones(len(labeled), dtype=np.int32)
    return csr_array((ones, (labeled, labels[labeled])), shape=(len(labels), n_labels))


def renumber(blocks: Blocks) -> Blocks:
    """Number the blocks that have both rows and columns 0, 1, ... in order, and drop all others."""
    kept = np.intersect1d(blocks.rows[blocks.rows >= 0], blocks.columns[blocks.columns >= 0])
    largest = int(max(blocks.rows.max(initial=-1), blocks.columns.max(initial=-1)))
    numbers = np.full(largest + 2, -1, dtype=np.int64)
    numbers[kept] = np.arange(len(kept))
    return Blocks(numbers[blocks.rows], numbers[blocks.columns])
