"""Moves that lower the disagreements of a correlation clustering and never raise them."""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_array

from orthant.correlation_clustering.blocks import Blocks, count_disagreements, indicator, renumber
from orthant.correlation_clustering.pivot import pivot_bicluster
from orthant.numerics.arrays import Array
from orthant.numerics.segments import first_largest

MAX_ROUNDS = 1000


def improve_biclusters(
    matrix: csr_array, transposed: csr_array, blocks: Blocks, rng: np.random.Generator
) -> Blocks:
    """Reassign both sides, merge blocks and open new ones until nothing helps.

    The result has at most as many disagreements as ``blocks``, so every guarantee is kept.
    """
    cost = count_disagreements(matrix, blocks)
    for _ in range(MAX_ROUNDS):
        candidate = reassign_until_stable(matrix, transposed, blocks)
        candidate = merge_blocks(matrix, open_blocks(matrix, candidate, rng))
        candidate_cost = count_disagreements(matrix, candidate)
        if candidate_cost >= cost:
            break
        blocks, cost = candidate, candidate_cost
    return blocks


def reassign_until_stable(matrix: csr_array, transposed: csr_array, blocks: Blocks) -> Blocks:
    """Alternate the best labels of all rows and of all columns while the cost falls."""
    cost = count_disagreements(matrix, blocks)
    for _ in range(MAX_ROUNDS):
        rows = best_labels(matrix, blocks.columns)
        candidate = Blocks(rows, best_labels(transposed, rows))
        candidate_cost = count_disagreements(matrix, candidate)
        if candidate_cost >= cost:
            break
        blocks, cost = candidate, candidate_cost
    return blocks


def best_labels(matrix: csr_array, column_labels: Array) -> Array:
    """The best label (n,) of every row when the columns keep theirs.

    Each row on its own takes the block c with the largest ``2 |N and V_c| - |V_c|`` or, when none
    is positive, no block. The rows do not influence each other, so this is the exact minimum.
    """
    n_labels = int(column_labels.max(initial=-1)) + 1
    sizes = np.bincount(column_labels[column_labels >= 0], minlength=n_labels)
    shared = (matrix.astype(np.int32) @ indicator(column_labels, n_labels)).tocsr()
    shared.sort_indices()
    gains = 2 * shared.data.astype(np.int64) - sizes[shared.indices]
    met, positions = first_largest(shared.indptr, gains)
    labels = np.full(matrix.shape[0], -1, dtype=np.int64)
    helped = gains[positions] > 0
    labels[met[helped]] = shared.indices[positions[helped]]
    return labels


def merge_blocks(matrix: csr_array, blocks: Blocks) -> Blocks:
    """Merge pairs of blocks, the most profitable first, while that lowers the cost."""
    while True:
        blocks = renumber(blocks)
        n_blocks = int(blocks.rows.max(initial=-1)) + 1
        rows, columns = indicator(blocks.rows, n_blocks), indicator(blocks.columns, n_blocks)
        heights, widths = np.bincount(blocks.rows + 1)[1:], np.bincount(blocks.columns + 1)[1:]
        between = (rows.T @ matrix.astype(np.int32) @ columns).tocsr()
        between = (between + between.T).tocoo()
        first, second = between.row, between.col
        change = heights[first] * widths[second] + heights[second] * widths[first]
        change = change - 2 * between.data.astype(np.int64)
        useful = np.flatnonzero((first < second) & (change < 0))
        if len(useful) == 0:
            return blocks
        target = np.arange(n_blocks + 1)
        target[-1] = -1
        merged = np.zeros(n_blocks, dtype=bool)
        # Pairs that share no block do not influence each other's profit.
        for pair in useful[np.argsort(change[useful], kind="stable")]:
            a, b = first[pair], second[pair]
            if not (merged[a] or merged[b]):
                merged[a] = merged[b] = True
                target[b] = a
        blocks = Blocks(target[blocks.rows], target[blocks.columns])


def open_blocks(matrix: csr_array, blocks: Blocks, rng: np.random.Generator) -> Blocks:
    """Cluster the rows and columns that are in no block among themselves, where that helps."""
    blocks = renumber(blocks)
    lone_rows, lone_columns = np.flatnonzero(blocks.rows < 0), np.flatnonzero(blocks.columns < 0)
    rest = matrix[lone_rows][:, lone_columns]
    if rest.nnz == 0:
        return blocks
    opened = pivot_bicluster(rest, rng)
    offset = int(blocks.rows.max(initial=-1)) + 1
    rows, columns = blocks.rows.copy(), blocks.columns.copy()
    rows[lone_rows] = np.where(opened.rows >= 0, opened.rows + offset, -1)
    columns[lone_columns] = np.where(opened.columns >= 0, opened.columns + offset, -1)
    candidate = Blocks(rows, columns)
    helps = count_disagreements(matrix, candidate) < count_disagreements(matrix, blocks)
    return candidate if helps else blocks


def free_vertices(blocks: Blocks, rng: np.random.Generator) -> Blocks:
    """Take a random share of the rows and columns out of their blocks: a way out of a local best.

    This alone may raise the cost; what local search makes of it is kept only where that is lower.
    """
    share = rng.uniform(0.1, 0.6)
    return Blocks(
        np.where(rng.random(len(blocks.rows)) < share, -1, blocks.rows),
        np.where(rng.random(len(blocks.columns)) < share, -1, blocks.columns),
    )
