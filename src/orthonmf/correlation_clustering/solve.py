"""Bipartite correlation clustering with a proven ratio: Theorem 9 and Lemma 1."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import numpy as np
from scipy.sparse import csr_array

from orthonmf.certificate import Certificate, Promise, round_ratio_up, state_promise
from orthonmf.correlation_clustering.blocks import (
    Blocks,
    choose_cheapest,
    count_disagreements,
    renumber,
    restrict_to_blocks,
    transpose,
)
from orthonmf.correlation_clustering.local_search import free_vertices, improve_blocks, open_blocks
from orthonmf.correlation_clustering.packing import (
    bound_disagreements,
    find_disagreements,
    pack_around,
)
from orthonmf.correlation_clustering.pivot import cluster_by_pivots
from orthonmf.correlation_clustering.rounding import (
    choose_best_patterns,
    choose_nearest_patterns,
    round_to_patterns,
)
from orthonmf.onmf.heaviest_classes import factorize_heaviest
from orthonmf.steps.weight_reduction import BAND_RATIO
from orthonmf.typing import Array

# Lemma 1 loses a factor of 8 on top of Theorem 9: 119.43.
CORRELATION_CLUSTERING_RATIO = 8.0 * BAND_RATIO
# What one start by pivots costs on average (docs/theory/graphs.md): the fewest of all cost no more.
PIVOT_RATIO = 4.0
DEFAULT_N_INIT = 4
# How often, per random start, the best clustering is disturbed and improved again, and how many
# edges are looked at in doing so: the second limits the first on large graphs.
KICKS, KICKED_EDGES = 8, 1 << 19
# Up to so many edges it is first seen whether that can help at all; beyond, a proof takes too long.
PROVEN_EDGES = 1 << 14


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


def cluster_graph(
    edges: csr_array,
    algorithm: str = "best",
    *,
    n_init: int = DEFAULT_N_INIT,
    rng: np.random.Generator,
) -> CorrelationClustering:
    """Cluster the vertices of a bipartite graph with few disagreements, and prove how few.

    ``edges`` (n, m) is a 0/1 matrix, CSR with sorted indices and no stored zeros. The number of
    disagreements is at most 8 / sin^2(15 degrees) = 119.43 times the smallest possible, whatever
    the graph; the certificate usually proves a far smaller ratio. "paper" is Theorem 9 and Lemma 1
    as published; "best" also makes other roundings and ``n_init`` random starts from each side,
    improves all by local search and keeps the fewest disagreements, so that the guarantee of the
    paper holds for it, and with a random start also that of its pivots: 4 times on average.
    """
    # Theorem 9 compares all pairs of one side: let it be the smaller.
    flipped = edges.shape[0] > edges.shape[1]
    matrix = transpose(edges) if flipped else edges
    blocks = ALGORITHMS[algorithm](matrix, n_init, rng)
    disagreements = count_disagreements(matrix, blocks)
    # The smaller of what is known before the graph is seen; that of the paper always holds.
    promise = Promise(CORRELATION_CLUSTERING_RATIO, "always")
    if algorithm == "best" and n_init > 0:
        promise = Promise(PIVOT_RATIO, "expected")
    certificate = _certify(matrix, blocks, disagreements, promise, rng)
    rows, columns, n_clusters = _number_clusters(blocks.transposed if flipped else blocks)
    return CorrelationClustering(rows, columns, n_clusters, disagreements, certificate)


def cluster_as_published(matrix: csr_array, n_init: int, rng: np.random.Generator) -> Blocks:
    """The one clustering of the paper."""
    return next(_round_factorization(matrix))


def cluster_best(matrix: csr_array, n_init: int, rng: np.random.Generator) -> Blocks:
    """The best of the paper's clustering, others, and what local search makes of them."""
    transposed = transpose(matrix)
    candidates = []
    for start in _starts(matrix, transposed, n_init, rng):
        candidates += [start, improve_blocks(matrix, transposed, start, rng)]
    best = choose_cheapest(matrix, candidates)
    if matrix.nnz <= PROVEN_EDGES:
        disagreements = find_disagreements(matrix, best)
        if len(pack_around(matrix, disagreements, rng)) == len(disagreements):
            return best
    for _ in range(n_init * min(KICKS, KICKED_EDGES // max(1, matrix.nnz))):
        kicked = open_blocks(matrix, free_vertices(best, rng), rng)
        kicked = improve_blocks(matrix, transposed, kicked, rng)
        # The first of equals: moving to another clustering of the same cost is a way on.
        best = choose_cheapest(matrix, (kicked, best))
    return best


ALGORITHMS: dict[str, Callable[[csr_array, int, np.random.Generator], Blocks]] = {
    "best": cluster_best,
    "paper": cluster_as_published,
}


def _starts(
    matrix: csr_array, transposed: csr_array, n_init: int, rng: np.random.Generator
) -> Iterator[Blocks]:
    """Both roundings of the factorization, then random pivots from either side."""
    yield from _round_factorization(matrix)
    for _ in range(n_init):
        yield cluster_by_pivots(matrix, rng)
        yield cluster_by_pivots(transposed, rng).transposed


def _round_factorization(matrix: csr_array) -> Iterator[Blocks]:
    """The blocks of Theorem 9, rounded as Lemma 1 does it and by the best pattern of each."""
    factors = factorize_heaviest(matrix.astype(np.float64))
    # The vectors a on the columns; those on the rows, w, are the scales.
    by_column = factors.directions.tocsc()
    owned = np.flatnonzero(np.diff(by_column.indptr))
    column_blocks, direction = np.full(matrix.shape[1], -1), np.zeros(matrix.shape[1])
    column_blocks[owned], direction[owned] = by_column.indices, by_column.data
    blocks = renumber(Blocks(factors.labels, column_blocks))
    inside = restrict_to_blocks(matrix, blocks)
    pattern_rows = choose_nearest_patterns(inside, blocks, direction, factors.scales)
    yield round_to_patterns(inside, blocks, pattern_rows)
    yield round_to_patterns(inside, blocks, choose_best_patterns(inside, blocks))


def _certify(
    matrix: csr_array,
    blocks: Blocks,
    disagreements: int,
    promise: Promise,
    rng: np.random.Generator,
) -> Certificate:
    """What a packing of bad squares proves about a clustering."""
    started = time.perf_counter()
    bound = bound_disagreements(matrix, blocks, rng)
    # A graph without disagreements would have been clustered without: 119.43 times 0 is 0.
    bound = max(bound, min(1, disagreements))
    optimal = bound == disagreements
    return replace(
        state_promise(promise),
        lower_bound=bound,
        ratio=1.0 if optimal else round_ratio_up(disagreements, bound),
        method="a packing of 2 x 2 submatrices with three ones",
        quantity="number of disagreements",
        seconds=time.perf_counter() - started,
    )


def _number_clusters(blocks: Blocks) -> tuple[Array, Array, int]:
    """Labels of all vertices and the number of clusters that have both sides."""
    blocks = renumber(blocks)
    n_clusters = blocks.n_blocks
    ranks = np.full(n_clusters + 1, -1, dtype=np.int64)
    ranks[np.argsort(-(blocks.heights + blocks.widths), kind="stable")] = np.arange(n_clusters)
    rows, columns = ranks[blocks.rows], ranks[blocks.columns]
    lone_rows, lone_columns = np.flatnonzero(rows < 0), np.flatnonzero(columns < 0)
    rows[lone_rows] = n_clusters + np.arange(len(lone_rows))
    columns[lone_columns] = n_clusters + len(lone_rows) + np.arange(len(lone_columns))
    return rows, columns, n_clusters
