"""A lower bound on the disagreements of every correlation clustering of a bipartite graph.

A 2 x 2 submatrix with exactly three ones costs every clustering at least one disagreement: if the
three edges are kept, all four vertices are together, and the missing edge is wrong. Squares
that share no entry add up. Everything is counted in integers, so nothing is rounded.
"""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_array

from orthant.correlation_clustering.blocks import Blocks
from orthant.correlation_clustering.guided_packing import (
    disagreement_keys,
    exchange_squares,
    pack_around,
)
from orthant.correlation_clustering.pairwise_packing import pack_by_pairs, pairs_by_similarity
from orthant.numerics.arrays import Array

# Looking for similar pairs is left out on a side where more than this many pairs share a column.
WEDGES = 1 << 24


def bad_square_bound(matrix: csr_array, blocks: Blocks, rng: np.random.Generator) -> int:
    """No clustering has fewer disagreements than this; equal to those of ``blocks`` at best.

    The most squares found by packing greedily over pairs of similar rows and of similar columns
    and around the disagreements of ``blocks``, then by exchanges; ends as soon as ``blocks`` is
    proven optimal. The work is limited by counts, so the result depends on nothing but the seed.

    Parameters
    ----------
    matrix
        (n, m) 0/1, CSR with sorted indices.
    blocks
        A clustering, the better the stronger the bound; any gives a valid one.
    """
    disagreements = disagreement_keys(matrix, blocks)
    best = np.zeros((0, 4), dtype=np.int64)
    for pack in (_over_rows, _over_columns, pack_around):
        if len(best) < len(disagreements):
            best = max(best, pack(matrix, disagreements, rng), key=len)
    if len(best) < len(disagreements):
        best = exchange_squares(matrix, best, disagreements, rng)
    return len(best)


def _over_rows(matrix: csr_array, _: Array, rng: np.random.Generator) -> Array:
    """Squares of pairs of similar rows."""
    column_sizes = np.bincount(matrix.indices, minlength=matrix.shape[1]).astype(np.int64)
    if np.sum(column_sizes**2) > WEDGES:
        return np.zeros((0, 4), dtype=np.int64)
    pairs = pairs_by_similarity(matrix)
    return max(pack_by_pairs(matrix, pairs), pack_by_pairs(matrix, rng.permutation(pairs)), key=len)


def _over_columns(matrix: csr_array, _: Array, rng: np.random.Generator) -> Array:
    """Squares of pairs of similar columns."""
    n, m = matrix.shape
    columns, rows = np.divmod(_over_rows(matrix.T.tocsr(), _, rng), n)
    return rows * m + columns
