"""Non-negative matrix factorization by multiplicative updates, without orthogonality."""

from orthonmf.baselines.interface import Baseline, Matrix, repeat
from orthonmf.baselines.multiplicative import draw_uniform, fit_A, multiply
from orthonmf.typing import Array


def update(M: Matrix, A: Array, W: Array) -> tuple[Array, Array]:
    """Improve W, then A; neither step can raise the error (Lee & Seung, 2001, Theorem 1)."""
    W = multiply(W, A.T @ M, (A.T @ A) @ W)
    return fit_A(M, A, W), W


NMF = Baseline(
    name="nmf",
    label="NMF",
    orthogonal="none",
    sources=("D. D. Lee, H. S. Seung. Algorithms for non-negative matrix factorization. 2001.",),
    iterates=repeat(update, draw_uniform),
    max_iter=5000,
    tol=1e-5,
    period=50,
)
