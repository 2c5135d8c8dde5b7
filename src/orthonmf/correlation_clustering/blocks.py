"""Disjoint blocks of a 0/1 matrix: the form of every answer to correlation clustering."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array

from orthonmf.typing import Array


@dataclass(frozen=True, slots=True)
class Blocks:
    """The block of every row and of every column, -1 for none; no two blocks overlap."""

    rows: Array  # (n,)
    columns: Array  # (m,)

    @property
    def transposed(self) -> Blocks:
        """The same blocks of the transposed matrix."""
        return Blocks(self.columns, self.rows)

    @property
    def n_blocks(self) -> int:
        """One more than the largest label."""
        return int(max(self.rows.max(initial=-1), self.columns.max(initial=-1))) + 1

    @property
    def heights(self) -> Array:
        """How many rows every block has, (n_blocks,)."""
        return count_labels(self.rows, self.n_blocks)

    @property
    def widths(self) -> Array:
        """How many columns every block has, (n_blocks,)."""
        return count_labels(self.columns, self.n_blocks)


def count_labels(labels: Array, n_labels: int) -> Array:
    """How often each label below ``n_labels`` occurs; -1 is no label."""
    return np.bincount(labels[labels >= 0], minlength=n_labels)


def transpose(matrix: csr_array) -> csr_array:
    """The transposed matrix, again CSR with sorted indices."""
    result = matrix.T.tocsr()
    result.sort_indices()
    return result


def entry_rows(matrix: csr_array) -> Array:
    """The row of every stored entry, (nnz,); ``matrix.indices`` has the columns."""
    return np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr))


def find_inside(matrix: csr_array, blocks: Blocks) -> Array:
    """Whether every stored entry lies in a block, (nnz,)."""
    labels = blocks.rows[entry_rows(matrix)]
    return (labels >= 0) & (labels == blocks.columns[matrix.indices])


def restrict_to_blocks(matrix: csr_array, blocks: Blocks) -> csr_array:
    """The entries of a 0/1 matrix that lie in a block; all others are dropped."""
    inside = find_inside(matrix, blocks)
    kept = np.bincount(entry_rows(matrix)[inside], minlength=matrix.shape[0])
    indptr = np.r_[0, np.cumsum(kept)]
    return csr_array((matrix.data[inside], matrix.indices[inside], indptr), shape=matrix.shape)


def count_disagreements(matrix: csr_array, blocks: Blocks) -> int:
    """Ones outside the blocks plus zeros inside: the squared error of the 0/1 factorization."""
    ones_inside = np.count_nonzero(find_inside(matrix, blocks))
    return int(matrix.nnz - 2 * ones_inside + np.sum(blocks.heights * blocks.widths))


def choose_cheapest(matrix: csr_array, candidates: Iterable[Blocks]) -> Blocks:
    """The blocks with the fewest disagreements, the first of equals."""
    return min(candidates, key=lambda blocks: count_disagreements(matrix, blocks))


def renumber(blocks: Blocks) -> Blocks:
    """Number the blocks that have both rows and columns 0, 1, ... in order, and drop all others."""
    kept = np.flatnonzero(blocks.heights * blocks.widths)
    numbers = np.full(blocks.n_blocks + 1, -1, dtype=np.int64)
    numbers[kept] = np.arange(len(kept))
    return Blocks(numbers[blocks.rows], numbers[blocks.columns])
