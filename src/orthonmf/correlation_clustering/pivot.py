"""PivotBiCluster of Ailon, Avigdor-Elgrabli, Liberty and van Zuylen (SIAM J. Comput. 2012)."""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_array

from orthonmf.correlation_clustering.blocks import Blocks, transpose
from orthonmf.engine.segments import spread


def cluster_by_pivots(matrix: csr_array, rng: np.random.Generator) -> Blocks:
    """Cluster a 0/1 matrix by random pivots among its rows.

    A random row still in play opens a cluster with all its columns still in play. Every other row
    decides at random, by the columns it shares with the pivot (s), has beyond them (b) and lacks
    (a): with probability ``min(1, s / b)`` it joins if ``s >= a`` and else becomes a cluster of its
    own; otherwise it stays in play. Rows that share nothing with the pivot always stay. On average
    that costs at most 4 times the fewest disagreements (proved in the publication).
    """
    n, m = matrix.shape
    by_column = transpose(matrix)
    row_labels, column_labels = np.full(n, -1, dtype=np.int64), np.full(m, -1, dtype=np.int64)
    row_in_play, column_in_play = np.ones(n, dtype=bool), np.ones(m, dtype=bool)
    degrees = np.diff(matrix.indptr).astype(np.int64)
    n_clusters = 0
    for pivot in rng.permutation(n):
        if not row_in_play[pivot]:
            continue
        columns = matrix.indices[matrix.indptr[pivot] : matrix.indptr[pivot + 1]]
        columns = columns[column_in_play[columns]]
        row_in_play[pivot] = False
        if len(columns) == 0:
            continue
        # The rows with a one in some of the columns, and in how many.
        starts, ends = by_column.indptr[columns], by_column.indptr[columns + 1]
        met = by_column.indices[spread(starts, ends - starts)]
        rows, shared = np.unique(met, return_counts=True)
        # The columns leave with the cluster: what a row shared is no longer among its own.
        degrees[rows] -= shared
        others = row_in_play[rows]
        rows, shared = rows[others], shared[others]
        decides = rng.random(len(rows)) * degrees[rows] < shared
        joins = decides & (2 * shared >= len(columns))
        row_in_play[rows[decides]] = False
        column_in_play[columns] = False
        row_labels[pivot] = row_labels[rows[joins]] = column_labels[columns] = n_clusters
        n_clusters += 1
    return Blocks(row_labels, column_labels)
