"""Orthogonal NMF with three factors, M ~ A S W, both A and W near orthogonal."""

from dataclasses import replace
from typing import Any

import numpy as np
from scipy import sparse

from orthonmf.baselines.interface import Baseline, Matrix, Steps, repeat
from orthonmf.baselines.methods.multiplicative import DING, draw_uniform, multiply_by_root
from orthonmf.errors import TooLargeError
from orthonmf.typing import Array

# Noise fills a sparse matrix; beyond this many entries it is refused.
LARGEST_FILLED = 1 << 28


def update(M: Matrix, A: Array, W: Array, S: Array) -> tuple[Array, Array, Array]:
    """Improve A, W and S in turn; fixed points satisfy the conditions of the constrained problem.

    The error need not fall. S is not diagonal, so A S W is not itself a factorization with two
    orthogonal factors.
    """
    half = (M @ W.T) @ S.T  # m x k
    A = multiply_by_root(A, half, A @ (A.T @ half))
    products = A.T @ M  # k x n
    half = S.T @ products
    W = multiply_by_root(W, half, (half @ W.T) @ W)
    S = multiply_by_root(S, products @ W.T, (A.T @ A) @ S @ (W @ W.T))
    return A, W, S


def start(M: Matrix, k: int, rng: np.random.Generator) -> tuple[Array, Array, Array]:
    """Draw all three factors uniformly, S in the scale of the data."""
    A, W = draw_uniform(M, k, rng)
    S = rng.uniform(0.01, 1.0, size=(k, k))
    # The scale t that minimizes |M - t A S W|: <M, ASW> / |ASW|^2.
    captured = float(np.sum((A.T @ M) @ W.T * S))
    return A, W, S * (captured / float(np.sum((A.T @ A) @ S @ (W @ W.T) * S)))


iterates = repeat(update, start)


def noisy_iterates(
    M: Matrix, k: int, *, rng: np.random.Generator, relative_noise: float = 0.01
) -> Steps:
    """Add iid exponential noise to the data first, which frees the method from early zeros."""
    return iterates(add_noise(M, relative_noise, rng), k, rng=rng)


def add_noise(M: Matrix, relative_noise: float, rng: np.random.Generator) -> Array:
    """Return M plus iid exponential noise whose mean is a share of M's root mean square entry."""
    m, n = M.shape
    if sparse.issparse(M) and m * n > LARGEST_FILLED:
        raise TooLargeError(
            f"Noise fills the {m} x {n} matrix, which needs {8 * m * n / 2**30:.1f} GiB; "
            "use onmf-ding-double, which keeps it sparse."
        )
    dense: Any = M.toarray() if sparse.issparse(M) else M
    size = relative_noise * np.linalg.norm(dense) / np.sqrt(m * n)
    # Drawn for X = M.T, whose order does not depend on how M is stored.
    return dense + rng.exponential(size, size=(n, m)).T


ONMF_DING_DOUBLE = Baseline(
    name="onmf-ding-double",
    label="ONMF-Ding-double",
    orthogonal="both",
    sources=(DING,),
    iterates=iterates,
    max_iter=10_000,
    tol=1e-5,
    period=100,
)

ONMF_DING_DOUBLE_NOISY = replace(
    ONMF_DING_DOUBLE,
    name="onmf-ding-double-noisy",
    label="ONMF-Ding-double-noisy",
    sources=(
        DING,
        "M. Charikar, L. Hu. Approximation algorithms for orthogonal non-negative matrix "
        "factorization. 2021. Appendix, double-factor experiments.",
    ),
    iterates=noisy_iterates,
    our_reading=(
        "The paper adds noise of mean 0.01 to data whose non-zero entries have mean 1. For scale "
        "invariance the mean is 0.01 times the root mean square entry (0.0089 on that data)."
    ),
)
