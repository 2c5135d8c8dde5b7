"""Counts of words that a few topics use, each its own."""

import numpy as np


def topics(n=60, m=40, k=4, seed=0):
    """Counts (n, m) as floats, and the topic of every row."""
    rng = np.random.default_rng(seed)
    profiles = rng.dirichlet(np.full(m, 0.1), k)
    return rng.poisson(30 * profiles[np.arange(n) % k]).astype(float), np.arange(n) % k
