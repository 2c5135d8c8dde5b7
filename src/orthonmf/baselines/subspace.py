"""Singular vectors of the data as a start: orthonormal, and turned to be mostly positive."""

import numpy as np
from scipy import sparse
from scipy.sparse.linalg import svds

from orthonmf.baselines.interface import Matrix
from orthonmf.baselines.rank_one import squared_column_norms
from orthonmf.errors import InvalidInputError
from orthonmf.typing import Array

# A dense decomposition is taken below this many entries, and where all singular vectors are asked.
SMALL = 1 << 16


def leading_subspace(M: Matrix, k: int, rng: np.random.Generator) -> tuple[Array, Array]:
    """Return the top k right singular vectors of M (n x k) and their singular values.

    Where M has fewer, random directions orthogonal to them fill up, with the value 0.
    """
    m, n = M.shape
    if k > n:
        raise InvalidInputError(
            f"n_components={k} orthonormal rows of W need at least as many samples, X has {n}."
        )
    if k >= min(m, n) or m * n <= SMALL:
        dense = M.toarray() if sparse.issparse(M) else M
        _, values, rows = np.linalg.svd(dense, full_matrices=False)
        V, values = rows[:k].T, values[:k]
    else:
        _, values, rows = svds(M, k=k, v0=rng.standard_normal(min(m, n)))
        order = np.argsort(values)[::-1]
        V, values = rows[order].T, values[order]
    sound = values > 1e-12 * values[0]
    filled = rng.standard_normal((n, k))
    filled[:, : len(values)][:, sound] = V[:, sound]
    basis, triangle = np.linalg.qr(filled)
    # QR may turn the sign of a column; the singular vectors keep theirs.
    basis *= np.where(np.diagonal(triangle) < 0, -1.0, 1.0)
    return basis, np.concatenate([np.where(sound, values, 0.0), np.zeros(k - len(values))])


def mostly_positive_subspace(M: Matrix, k: int, rng: np.random.Generator) -> tuple[Array, Array]:
    """The same, where a vector whose negative entries are the longer side has its sign turned."""
    U, values = leading_subspace(M, k, rng)
    positive = squared_column_norms(np.maximum(U, 0))
    negative = squared_column_norms(np.minimum(U, 0))
    return U * np.where(negative > positive, -1.0, 1.0), values
