"""Small graphs, and what every packing of bad squares must be."""

import numpy as np

from tests.oracles.correlation_clustering import bad_squares

NONE = np.zeros(0, dtype=np.int64)
EMPTY = np.zeros((0, 4), dtype=np.int64)


def random_graph(seed, n=5, m=6):
    rng = np.random.default_rng(seed)
    return (rng.random((n, m)) < rng.uniform(0.3, 0.7)).astype(np.uint8), rng


def check_packing(packing, M):
    found = {frozenset(keys) for keys in packing.tolist()}
    assert found <= bad_squares(M)
    assert len(np.unique(packing)) == packing.size


def sorted_squares(packing):
    """The squares of a packing, each with sorted keys."""
    return sorted(sorted(square) for square in packing.tolist())
