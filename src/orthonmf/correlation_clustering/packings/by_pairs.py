"""Bad squares packed greedily, one pair of rows after the other."""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_array

from orthonmf.correlation_clustering.blocks import transpose
from orthonmf.engine.pairs import shared_ones
from orthonmf.numerics.arrays import Array

# Looking for similar pairs is left out on a side where more than this many pairs share a column.
WEDGES = 1 << 24
# Pairs of rows that one packing looks at: the ones that come first in its order.
PAIRS = 20_000


def pack_over_rows(matrix: csr_array, _: Array, rng: np.random.Generator) -> Array:
    """Squares of pairs of similar rows."""
    column_sizes = np.bincount(matrix.indices, minlength=matrix.shape[1]).astype(np.int64)
    if np.sum(column_sizes**2) > WEDGES:
        return np.zeros((0, 4), dtype=np.int64)
    pairs = rank_pairs(matrix)
    return max(pack_by_pairs(matrix, pairs), pack_by_pairs(matrix, rng.permutation(pairs)), key=len)


def pack_over_columns(matrix: csr_array, _: Array, rng: np.random.Generator) -> Array:
    """Squares of pairs of similar columns."""
    n, m = matrix.shape
    columns, rows = np.divmod(pack_over_rows(transpose(matrix), _, rng), n)
    return rows * m + columns


def rank_pairs(matrix: csr_array) -> Array:
    """Pairs of rows (p, 2) that share a column, the largest Jaccard similarity first."""
    sizes = np.diff(matrix.indptr).astype(np.int64)
    kept = np.zeros((0, 2), dtype=np.int64)
    scores = np.zeros(0)
    for pairs in shared_ones(matrix):
        union = sizes[pairs.first] + sizes[pairs.second] - pairs.values
        # Equal rows hold no bad square.
        different = union > pairs.values
        kept = np.concatenate((kept, pairs.where(different)))
        scores = np.concatenate((scores, (pairs.values / union)[different]))
        order = np.argsort(-scores, kind="stable")[:PAIRS]
        kept, scores = kept[order], scores[order]
    return kept


def pack_by_pairs(matrix: csr_array, pairs: Array) -> Array:
    """Bad squares (p, 4) that share no entry, from pairs of rows in the order given.

    A column with two ones in the pair and a column with a single one make a bad square, so every
    pair of rows yields as many as the rarer kind has columns left.
    """
    m = matrix.shape[1]
    bounds = matrix.indptr.tolist()
    ones = {
        int(i): set(matrix.indices[bounds[i] : bounds[i + 1]].tolist()) for i in np.unique(pairs)
    }
    taken: set[int] = set()
    squares: list[tuple[int, int, int, int]] = []
    for i, j in pairs.tolist():
        at_i, at_j = i * m, j * m
        twice = [h for h in ones[i] & ones[j] if at_i + h not in taken and at_j + h not in taken]
        if twice:
            once = [h for h in ones[i] ^ ones[j] if at_i + h not in taken and at_j + h not in taken]
            for h, g in zip(twice, once, strict=False):
                square = (at_i + h, at_i + g, at_j + h, at_j + g)
                squares.append(square)
                taken.update(square)
    return np.array(squares, dtype=np.int64).reshape(-1, 4)
