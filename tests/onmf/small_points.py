"""Small points of many kinds, and what tests of a search ask of them."""

from itertools import pairwise

import numpy as np
from hypothesis import strategies as st
from scipy.sparse import csr_array

from orthonmf.engine.points import Samples
from orthonmf.inputs.data import as_matrix
from orthonmf.onmf.options import Options


def some_points(seed, shape=(25, 10), sparse=False, weighted=False, side=Samples):
    rng = np.random.default_rng(seed)
    X = rng.exponential(size=shape) ** rng.choice([1, 2, 4]) * (rng.random(shape) < 0.8)
    X[:, 0] += 0.01
    weights = rng.exponential(size=shape[0]) if weighted else None
    return X, side(as_matrix(csr_array(X) if sparse else X, sample_weight=weights))


def drawn(points, k, seed):
    rng = np.random.default_rng(seed)
    return points.at(rng.choice(np.flatnonzero(points.weights > 0), size=k, replace=False))


CASES = {
    "seed": st.integers(0, 10_000),
    "k": st.integers(1, 5),
    "sparse": st.booleans(),
    "weighted": st.booleans(),
}


def never_rises(history):
    return all(after <= before + 1e-12 for before, after in pairwise(history))


def some_options(k, **more):
    """Options of a fit over samples, but for those given."""
    given = {
        "asked": k,
        "n_components": k,
        "orthogonal": "samples",
        "n_init": 1,
        "max_iter": 50,
        "tol": 1e-6,
        "rng": np.random.default_rng(0),
    }
    return Options(**{**given, **more})
