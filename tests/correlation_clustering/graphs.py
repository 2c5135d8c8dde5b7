"""Small graphs, random and planted, and how they are clustered."""

import numpy as np
from scipy.sparse import csr_array

from orthonmf.correlation_clustering.solve import cluster_graph


def random_graph(seed, n=5, m=6):
    rng = np.random.default_rng(seed)
    return (rng.random((n, m)) < rng.uniform(0.2, 0.8)).astype(np.uint8)


def planted_graph(seed, n=40, m=40, n_clusters=4, flipped=0.05):
    rng = np.random.default_rng(seed)
    rows, columns = np.arange(n) * n_clusters // n, np.arange(m) * n_clusters // m
    rows, columns = rng.permutation(rows), rng.permutation(columns)
    flips = rng.random((n, m)) < flipped
    return ((rows[:, None] == columns) ^ flips).astype(np.uint8), int(flips.sum())


def cluster(M, algorithm="best", seed=0):
    return cluster_graph(csr_array(M), algorithm, rng=np.random.default_rng(seed))
