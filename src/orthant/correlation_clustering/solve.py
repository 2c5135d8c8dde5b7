"""Bipartite correlation clustering with a proven ratio: Theorem 9 and Lemma 1."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array

from orthant.certificate import Certificate, round_ratio_up
from orthant.correlation_clustering.bad_squares import bad_square_bound
from orthant.correlation_clustering.blocks import (
    Blocks,
    count_disagreements,
    renumber,
    restrict_to_blocks,
)
from orthant.correlation_clustering.local_search import (
    free_vertices,
    improve_biclusters,
    open_blocks,
)
from orthant.correlation_clustering.pivot import pivot_bicluster
from orthant.correlation_clustering.rounding import cheapest_rows, nearest_rows, round_to_patterns
from orthant.errors import InvalidInputError
from orthant.numerics.arrays import Array
from orthant.onmf.full_rank import BY_COUNT, FULL_RANK_RATIO, factorize_full_rank

# Lemma 1 loses a factor of 8 on top of Theorem 9: 119.43.
CORRELATION_CLUSTERING_RATIO = 8.0 * FULL_RANK_RATIO
DEFAULT_N_INIT = 4
# How often, per random start, the best clustering is disturbed and improved again, and how many
# edges are looked at in doing so: the second limits the first on large graphs.
KICKS, KICKED_EDGES = 8, 1 << 19


@dataclass(frozen=True, slots=True)
class CorrelationClustering:
    """Every vertex in one cluster; a disagreement is an edge that is cut or missing inside one.

    Clusters with vertices on both sides are numbered first, by decreasing number of vertices.
    Vertices on their own have labels of their own after those, rows before columns.
    """

    row_labels: Array  # (n,)
    column_labels: Array  # (m,)
    n_clusters: int  # how many clusters have both sides: labels below this
    disagreements: int
    certificate: Certificate


def correlation_clustering(
    edges: csr_array,
    method: str = "best",
    *,
    n_init: int = DEFAULT_N_INIT,
    rng: np.random.Generator,
) -> CorrelationClustering:
    """Cluster the vertices of a bipartite graph with few disagreements, and prove how few.

    The number of disagreements is at most 8 / sin^2(15 degrees) = 119.43 times the smallest
    possible, whatever the graph; the certificate usually proves a far smaller ratio.

    Parameters
    ----------
    edges
        (n, m) 0/1 matrix, CSR with sorted indices and no stored zeros.
    method
        "paper": Theorem 9 and Lemma 1 as published. "best": also other roundings and starts,
        improved by local search; the answer with the fewest disagreements is kept, so the
        guarantee of the paper holds for it.
    n_init
        How many random starts "best" makes from each side.
    """
    if method not in METHODS:
        raise InvalidInputError(f"method is {method!r}; choose one of {', '.join(METHODS)}.")
    # Theorem 9 compares all pairs of one side: let it be the smaller.
    flipped = edges.shape[0] > edges.shape[1]
    matrix = _transposed(edges) if flipped else edges
    blocks = min(
        METHODS[method](matrix, n_init, rng), key=lambda found: count_disagreements(matrix, found)
    )
    disagreements = count_disagreements(matrix, blocks)
    certificate = _certify(matrix, blocks, disagreements, rng)
    rows, columns, n_clusters = _number_clusters(blocks.transposed if flipped else blocks)
    return CorrelationClustering(rows, columns, n_clusters, disagreements, certificate)


def _paper_candidates(matrix: csr_array, n_init: int, rng: np.random.Generator) -> Iterator[Blocks]:
    """The one clustering of the paper."""
    blocks, direction, scales = _fractional_blocks(matrix)
    inside = restrict_to_blocks(matrix, blocks)
    yield round_to_patterns(inside, blocks, nearest_rows(inside, blocks, direction, scales))


def _best_candidates(matrix: csr_array, n_init: int, rng: np.random.Generator) -> Iterator[Blocks]:
    """The best of the paper's clustering, others, and what local search makes of them."""
    transposed = _transposed(matrix)
    found = []
    for start in _starts(matrix, transposed, n_init, rng):
        found += [start, improve_biclusters(matrix, transposed, start, rng)]
    best = min(found, key=lambda blocks: count_disagreements(matrix, blocks))
    for _ in range(n_init * min(KICKS, KICKED_EDGES // max(1, matrix.nnz))):
        kicked = open_blocks(matrix, free_vertices(best, rng), rng)
        kicked = improve_biclusters(matrix, transposed, kicked, rng)
        # The first of equals: moving to another clustering of the same cost is a way on.
        best = min(kicked, best, key=lambda blocks: count_disagreements(matrix, blocks))
    yield best


def _starts(
    matrix: csr_array, transposed: csr_array, n_init: int, rng: np.random.Generator
) -> Iterator[Blocks]:
    """Both roundings of the factorization, then random pivots from either side."""
    blocks, direction, scales = _fractional_blocks(matrix)
    inside = restrict_to_blocks(matrix, blocks)
    yield round_to_patterns(inside, blocks, nearest_rows(inside, blocks, direction, scales))
    yield round_to_patterns(inside, blocks, cheapest_rows(inside, blocks))
    for _ in range(n_init):
        yield pivot_bicluster(matrix, rng)
        yield pivot_bicluster(transposed, rng).transposed


METHODS: dict[str, Callable[[csr_array, int, np.random.Generator], Iterator[Blocks]]] = {
    "best": _best_candidates,
    "paper": _paper_candidates,
}


def _fractional_blocks(matrix: csr_array) -> tuple[Blocks, Array, Array]:
    """The blocks of Theorem 9, with the vectors a on the columns and w on the rows."""
    factors = factorize_full_rank(matrix.astype(np.float64), angles=BY_COUNT)
    by_column = csr_array(factors.directions).tocsc()
    owned = np.flatnonzero(np.diff(by_column.indptr))
    column_blocks, direction = np.full(matrix.shape[1], -1), np.zeros(matrix.shape[1])
    column_blocks[owned], direction[owned] = by_column.indices, by_column.data
    return renumber(Blocks(factors.labels, column_blocks)), direction, factors.scales


def _certify(
    matrix: csr_array, blocks: Blocks, disagreements: int, rng: np.random.Generator
) -> Certificate:
    """What a packing of bad squares proves about a clustering."""
    started = time.perf_counter()
    bound = bad_square_bound(matrix, blocks, rng)
    # A graph without disagreements would have been clustered without: 119.43 times 0 is 0.
    bound = max(bound, min(1, disagreements))
    optimal = bound == disagreements
    return Certificate(
        lower_bound=bound,
        ratio=1.0 if optimal else round_ratio_up(disagreements, bound),
        method="a packing of 2 x 2 submatrices with three ones",
        a_priori_ratio=CORRELATION_CLUSTERING_RATIO,
        a_priori_kind="always",
        quantity="number of disagreements",
        seconds=time.perf_counter() - started,
    )


def _number_clusters(blocks: Blocks) -> tuple[Array, Array, int]:
    """Labels of all vertices and the number of clusters that have both sides."""
    blocks = renumber(blocks)
    sizes = np.bincount(blocks.rows[blocks.rows >= 0])
    sizes = sizes + np.bincount(blocks.columns[blocks.columns >= 0], minlength=len(sizes))
    n_clusters = len(sizes)
    ranks = np.full(n_clusters + 1, -1, dtype=np.int64)
    ranks[np.argsort(-sizes, kind="stable")] = np.arange(n_clusters)
    rows, columns = ranks[blocks.rows], ranks[blocks.columns]
    lone_rows, lone_columns = np.flatnonzero(rows < 0), np.flatnonzero(columns < 0)
    rows[lone_rows] = n_clusters + np.arange(len(lone_rows))
    columns[lone_columns] = n_clusters + len(lone_rows) + np.arange(len(lone_columns))
    return rows, columns, n_clusters


def _transposed(matrix: csr_array) -> csr_array:
    """The transposed matrix, again CSR with sorted indices."""
    result = matrix.T.tocsr()
    result.sort_indices()
    return result
