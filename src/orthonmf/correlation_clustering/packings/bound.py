"""A lower bound on the disagreements of every clustering: the largest packing that is found."""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_array

from orthonmf.correlation_clustering.blocks import Blocks
from orthonmf.correlation_clustering.packings.by_pairs import pack_over_columns, pack_over_rows
from orthonmf.correlation_clustering.packings.exchanges import exchange_squares
from orthonmf.correlation_clustering.packings.guided import find_disagreements, pack_around
from orthonmf.numerics.arrays import Array


def bound_disagreements(matrix: csr_array, blocks: Blocks, rng: np.random.Generator) -> int:
    """No clustering has fewer disagreements than this; equal to those of ``blocks`` at best.

    The most squares found by packing greedily over pairs of similar rows and of similar columns
    and around the disagreements of ``blocks``, then by exchanges; ends as soon as ``blocks`` is
    proven optimal. The work is limited by counts, so the result depends on nothing but the seed.
    ``matrix`` (n, m) is 0/1, CSR with sorted indices; ``blocks`` is any clustering: the better,
    the stronger the bound.
    """
    disagreements = find_disagreements(matrix, blocks)
    best = pack_greedily(matrix, disagreements, rng)
    if len(best) < len(disagreements):
        best = exchange_squares(matrix, best, disagreements, rng)
    return len(best)


def pack_greedily(matrix: csr_array, disagreements: Array, rng: np.random.Generator) -> Array:
    """Disjoint bad squares (p, 4), the most of three ways to find some one after the other."""
    best = np.zeros((0, 4), dtype=np.int64)
    for pack in (pack_over_rows, pack_over_columns, pack_around):
        if len(best) < len(disagreements):
            best = max(best, pack(matrix, disagreements, rng), key=len)
    return best
