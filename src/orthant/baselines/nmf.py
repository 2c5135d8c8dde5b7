"""Non-negative matrix factorization by multiplicative updates, without orthogonality."""

from orthant.baselines.interface import Baseline, Matrix, repeated
from orthant.baselines.multiplicative import fit_A, floored, positive, uniform_start
from orthant.numerics.arrays import Array


def update(M: Matrix, A: Array, W: Array) -> tuple[Array, Array]:
    """Improve W, then A; neither step can raise the error (Lee & Seung, 2001, Theorem 1)."""
    factor = A.T @ M
    factor = factor * W
    factor /= positive((A.T @ A) @ W)
    W = floored(factor)
    return fit_A(M, A, W), W


NMF = Baseline(
    name="nmf",
    label="NMF",
    orthogonal="none",
    exact=False,
    sources=("D. D. Lee, H. S. Seung. Algorithms for non-negative matrix factorization. 2001.",),
    iterates=repeated(update, uniform_start),
    max_iter=5000,
    tol=1e-5,
    period=50,
)
