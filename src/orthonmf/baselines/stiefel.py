"""Matrices U with orthonormal columns, and what drives their negative entries to zero."""

import numpy as np
from scipy import sparse
from scipy.sparse.linalg import svds

from orthonmf.baselines.interface import Iterate, Matrix
from orthonmf.baselines.rank_one import squared_column_norms
from orthonmf.errors import InvalidInputError
from orthonmf.typing import Array

# A dense decomposition is taken below this many entries, and where all singular vectors are asked.
SMALL = 1 << 16


def nearest_orthonormal(U: Array) -> Array:
    """Return the orthonormal polar factor of U (n x k), by the k x k eigenproblem of U^T U."""
    values, vectors = np.linalg.eigh(U.T @ U)
    if values[0] <= 1e-14 * values[-1]:
        left, _, right = np.linalg.svd(U, full_matrices=False)
        return left @ right
    return U @ (vectors / np.sqrt(values)) @ vectors.T


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


def fit_clipped(M: Matrix, U: Array) -> Iterate:
    """A = max(M U, 0), which is exact for orthonormal U = W^T, and U with negatives cut off."""
    return Iterate(np.maximum(M @ U, 0.0), np.ascontiguousarray(np.maximum(U, 0.0).T))


def penalize(U: Array, linear: Array, penalty: float) -> float:
    """Return -<linear, U> + penalty/2 |min(U, 0)|^2; |A U^T| does not depend on U."""
    negative = np.minimum(U, 0.0)
    return 0.5 * penalty * float(np.vdot(negative, negative)) - float(np.vdot(linear, U))


def negativity(U: Array) -> float:
    """Return the share of the length of U that lies in negative entries."""
    return float(np.linalg.norm(np.minimum(U, 0.0)) / np.linalg.norm(U))
