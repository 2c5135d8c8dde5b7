"""Correlation clustering: proofs on small planted graphs, time and memory on a large one."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from scipy.sparse import csr_array

from benchmarks.memory import system_bytes
from benchmarks.rows import Row, clock, guard, measure
from orthonmf import BipartiteCorrelationClustering

LARGE, TINY = (20_000, 5_000, 200_000), (200, 50, 1000)  # rows, columns, edges


def graphs(tiny: bool) -> Iterator[Row]:
    """Graphs of 40 x 40 with four clusters and 5 % of the entries flipped; a large random one."""
    for seed in range(1 if tiny else 10):
        rng = np.random.default_rng(1000 + seed)
        same = rng.integers(4, size=40)[:, None] == rng.integers(4, size=40)
        flipped = rng.random((40, 40)) < 0.05
        case = f"planted 40 x 40, seed {seed}"
        row = guard(case, measure, cluster, (same ^ flipped).astype(int), seed)
        yield row | {"planted": int(flipped.sum())}
    n, m, edges = TINY if tiny else LARGE
    rng = np.random.default_rng(0)
    places = rng.integers(n, size=edges), rng.integers(m, size=edges)
    graph = csr_array((np.ones(edges, dtype=int), places), shape=(n, m))
    graph.sum_duplicates()
    graph.data[:] = 1
    case = f"{n:,} x {m:,}, {graph.nnz:,} edges"
    yield guard(case, measure, cluster, graph, 0)


def cluster(graph: np.ndarray | csr_array, seed: int) -> Row:
    """Disagreements and what is proven of them."""
    unfitted = BipartiteCorrelationClustering(random_state=seed)
    model, seconds = clock(lambda: unfitted.fit(graph))
    return {
        "disagreements": model.disagreements_,
        "lower_bound": model.certificate_.lower_bound,
        "optimal": model.certificate_.optimal,
        "seconds": seconds,
        "peak_mb": system_bytes("VmHWM") / 1e6,
    }
