"""ONMF-A: multiplicative updates from the gradient on the Stiefel manifold."""

from orthonmf.baselines.interface import Baseline, Matrix, repeat
from orthonmf.baselines.multiplicative import draw_uniform, fit_A, multiply, scale_to_unit_norm
from orthonmf.typing import Array


def update(M: Matrix, A: Array, W: Array) -> tuple[Array, Array]:
    """Make W <- W * A^T M / (W M^T A W), bring it to spectral norm one, then fit A.

    W M^T A is taken first: it is k x k. Normalizing each row instead of the whole of W ends at
    much larger errors.
    """
    products = A.T @ M
    W = scale_to_unit_norm(multiply(W, products, (W @ products.T) @ W))
    return fit_A(M, A, W), W


ONMF_A = Baseline(
    name="onmf-a",
    label="ONMF-A",
    sources=("S. Choi. Algorithms for orthogonal nonnegative matrix factorization. 2008.",),
    iterates=repeat(update, draw_uniform),
    max_iter=1000,
    tol=1.5e-3,
    period=5,
)
