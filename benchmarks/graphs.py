"""Correlation clustering: proofs on small planted graphs, time and memory on a large one.

`python -m benchmarks graphs`
"""

import numpy as np
from scipy.sparse import csr_array

import orthonmf
from benchmarks.memory import system_bytes
from benchmarks.rows import clock


def cluster_planted_graphs(seeds=10):
    proven = 0
    for seed in range(seeds):
        rng = np.random.default_rng(1000 + seed)
        same = rng.integers(4, size=40)[:, None] == rng.integers(4, size=40)
        flipped = rng.random((40, 40)) < 0.05
        model = orthonmf.BipartiteCorrelationClustering(random_state=seed)
        model.fit((same ^ flipped).astype(int))
        proven += model.certificate_.optimal
        print(
            f"seed {seed}: {model.disagreements_} disagreements, planted {flipped.sum()}, "
            f"at least {model.certificate_.lower_bound}",
            flush=True,
        )
    print(f"proven optimal: {proven} of {seeds}")


def cluster_large_graph(n=20_000, m=5_000, edges=200_000):
    rng = np.random.default_rng(0)
    places = rng.integers(n, size=edges), rng.integers(m, size=edges)
    graph = csr_array((np.ones(edges, dtype=int), places), shape=(n, m))
    graph.sum_duplicates()
    graph.data[:] = 1
    unfitted = orthonmf.BipartiteCorrelationClustering(random_state=0)
    model, seconds = clock(lambda: unfitted.fit(graph))
    print(
        f"{n:,} x {m:,} with {graph.nnz:,} edges: {model.disagreements_:,} disagreements in "
        f"{seconds:.1f} s, peak {system_bytes('VmHWM') / 2**20:.0f} MB; {model.certificate_}"
    )


def main(arguments=None):
    print("planted 40 x 40, four clusters, 5 % flipped")
    cluster_planted_graphs()
    cluster_large_graph()
