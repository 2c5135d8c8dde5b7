"""Lemma 1: round the blocks of a factorization of a 0/1 matrix to 0/1.

Points are rows, as everywhere in this library: the paper's column m_i is row i of a block, its
vector a lives on the block's columns and w on its rows. All blocks are rounded at once, which is
possible because no row and no column lies in two of them.
"""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_array

from orthonmf.correlation_clustering.blocks import Blocks, entry_rows
from orthonmf.engine.pairs import shared_ones
from orthonmf.engine.segments import first_largest
from orthonmf.typing import Array


def choose_nearest_patterns(
    inside: csr_array, blocks: Blocks, direction: Array, scales: Array
) -> Array:
    """The row i* of every block with the least ``|m_i / w_i - a|``, as Lemma 1 takes it.

    ``inside`` (n, m) is the 0/1 matrix restricted to the blocks. Every block has a row, and every
    row in a block has a positive scale. ``direction`` (m,) holds the vectors a of all blocks, each
    on its own columns, ``scales`` (n,) the vectors w.
    """
    rows = np.flatnonzero(blocks.rows >= 0)
    own = np.flatnonzero(blocks.columns >= 0)
    squares = np.bincount(blocks.columns[own], direction[own] ** 2, blocks.n_blocks)
    rows_of_ones = entry_rows(inside)
    at_entries = direction[inside.indices]
    # Over the ones of m_i the difference is 1/w_i - a_h, elsewhere it is a_h.
    change = (1.0 / scales[rows_of_ones] - at_entries) ** 2 - at_entries**2
    distances = np.r_[squares, 0.0][blocks.rows] + np.bincount(
        rows_of_ones, change, inside.shape[0]
    )
    return _choose_rows(rows, blocks.rows[rows], -distances[rows])


def choose_best_patterns(inside: csr_array, blocks: Blocks) -> Array:
    """The row of every block that makes the best pattern: every one of them is tried.

    With pattern S and the best choice of rows, the disagreements in a block are its ones less
    ``sum_j max(0, 2 |m_j and S| - |S|)``. The row of Lemma 1 is among those tried, so its factor 8
    holds; and the result is within 2 of the best 0/1 fit of the block.
    """
    sizes = np.diff(inside.indptr).astype(np.int64)
    saved = sizes.astype(np.float64)  # by the row itself, which is all of its pattern
    for pairs in shared_ones(inside):
        for i in (pairs.first, pairs.second):
            saved += np.bincount(i, np.maximum(0, 2 * pairs.values - sizes[i]), len(sizes))
    rows = np.flatnonzero(blocks.rows >= 0)
    return _choose_rows(rows, blocks.rows[rows], saved[rows])


def round_to_patterns(inside: csr_array, blocks: Blocks, pattern_rows: Array) -> Blocks:
    """The 0/1 blocks whose columns are the ones of a pattern row, with the rows that agree.

    A row stays in its block when it contains at least half of the pattern S, which is the best
    choice for that S; an empty pattern leaves no block.
    """
    in_pattern = np.zeros(inside.shape[1], dtype=bool)
    pattern_sizes = np.diff(inside.indptr)[pattern_rows]
    is_pattern = np.zeros(inside.shape[0], dtype=bool)
    is_pattern[pattern_rows] = True
    rows_of_ones = entry_rows(inside)
    in_pattern[inside.indices[is_pattern[rows_of_ones]]] = True
    contained = np.bincount(rows_of_ones[in_pattern[inside.indices]], minlength=inside.shape[0])
    sizes = np.r_[pattern_sizes, 0][blocks.rows]
    stays = (blocks.rows >= 0) & (sizes > 0) & (2 * contained >= sizes)
    return Blocks(np.where(stays, blocks.rows, -1), np.where(in_pattern, blocks.columns, -1))


def _choose_rows(rows: Array, block_of_row: Array, scores: Array) -> Array:
    """The row of every block with the largest score, the first of equals."""
    order = np.argsort(block_of_row, kind="stable")
    indptr = np.r_[0, np.cumsum(np.bincount(block_of_row))]
    _, positions = first_largest(indptr, scores[order])
    return rows[order[positions]]
