"""Moves that lower the disagreements of a correlation clustering and never raise them."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.sparse import csr_array

from orthonmf.correlation_clustering.blocks import (
    Blocks,
    choose_cheapest,
    count_disagreements,
    count_labels,
    entry_rows,
    renumber,
)
from orthonmf.correlation_clustering.pivot import cluster_by_pivots
from orthonmf.engine.loadings import one_per_row
from orthonmf.engine.segments import first_largest
from orthonmf.typing import Array

MAX_ROUNDS = 1000


def improve_blocks(
    matrix: csr_array, transposed: csr_array, blocks: Blocks, rng: np.random.Generator
) -> Blocks:
    """Reassign both sides, merge blocks and open new ones until nothing helps.

    The result has at most as many disagreements as ``blocks``, so every guarantee is kept.
    """

    def reassign(before: Blocks) -> Blocks:
        rows = assign_rows(matrix, before.columns)
        return Blocks(rows, assign_rows(transposed, rows))

    def move(before: Blocks) -> Blocks:
        reassigned = _repeat_while_cheaper(reassign, matrix, before)
        return merge_blocks(matrix, open_blocks(matrix, reassigned, rng))

    return _repeat_while_cheaper(move, matrix, blocks)


def _repeat_while_cheaper(
    move: Callable[[Blocks], Blocks], matrix: csr_array, blocks: Blocks
) -> Blocks:
    cost = count_disagreements(matrix, blocks)
    for _ in range(MAX_ROUNDS):
        candidate = move(blocks)
        candidate_cost = count_disagreements(matrix, candidate)
        if candidate_cost >= cost:
            break
        blocks, cost = candidate, candidate_cost
    return blocks


def assign_rows(matrix: csr_array, column_labels: Array) -> Array:
    """The best label (n,) of every row when the columns keep theirs.

    Each row on its own takes the block c with the largest ``2 |N and V_c| - |V_c|`` or, when none
    is positive, no block. The rows do not influence each other, so this is the exact minimum.
    """
    n_labels = int(column_labels.max(initial=-1)) + 1
    sizes = count_labels(column_labels, n_labels)
    ones = np.ones(len(column_labels), dtype=np.int32)
    shared = matrix @ one_per_row(column_labels, ones, n_labels)
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
        n_blocks, heights, widths = blocks.n_blocks, blocks.heights, blocks.widths
        first, second, edges_between = _count_between(matrix, blocks)
        change = heights[first] * widths[second] + heights[second] * widths[first]
        change = change - 2 * edges_between
        useful = np.flatnonzero(change < 0)
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


def _count_between(matrix: csr_array, blocks: Blocks) -> tuple[Array, Array, Array]:
    """The pairs of blocks, the smaller number first, that edges join, and how many they are."""
    of_rows, of_columns = blocks.rows[entry_rows(matrix)], blocks.columns[matrix.indices]
    between = (of_rows >= 0) & (of_columns >= 0) & (of_rows != of_columns)
    ends = np.sort(np.stack([of_rows[between], of_columns[between]]), axis=0)
    pairs, counts = np.unique(ends[0] * blocks.n_blocks + ends[1], return_counts=True)
    return *np.divmod(pairs, max(1, blocks.n_blocks)), counts


def open_blocks(matrix: csr_array, blocks: Blocks, rng: np.random.Generator) -> Blocks:
    """Cluster the rows and columns that are in no block among themselves, where that helps."""
    blocks = renumber(blocks)
    lone_rows, lone_columns = np.flatnonzero(blocks.rows < 0), np.flatnonzero(blocks.columns < 0)
    rest = matrix[lone_rows][:, lone_columns]
    if rest.nnz == 0:
        return blocks
    opened = cluster_by_pivots(rest, rng)
    rows, columns = blocks.rows.copy(), blocks.columns.copy()
    rows[lone_rows] = np.where(opened.rows >= 0, opened.rows + blocks.n_blocks, -1)
    columns[lone_columns] = np.where(opened.columns >= 0, opened.columns + blocks.n_blocks, -1)
    return choose_cheapest(matrix, (blocks, Blocks(rows, columns)))


def free_vertices(blocks: Blocks, rng: np.random.Generator) -> Blocks:
    """Take a random share of the rows and columns out of their blocks: a way out of a local best.

    This alone may raise the cost; what local search makes of it is kept only where that is lower.
    """
    share = rng.uniform(0.1, 0.6)
    return Blocks(
        np.where(rng.random(len(blocks.rows)) < share, -1, blocks.rows),
        np.where(rng.random(len(blocks.columns)) < share, -1, blocks.columns),
    )
