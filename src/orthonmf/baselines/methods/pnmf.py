"""Projective NMF: M ~ M W^T W, so that W alone is sought."""

from orthonmf.baselines.interface import Baseline, Matrix, repeat
from orthonmf.baselines.multiplicative import draw_projective, multiply, scale_to_unit_norm
from orthonmf.typing import Array


def update(M: Matrix, A: Array, W: Array) -> tuple[Array, Array]:
    """Multiply W by the two halves of the gradient and bring it back to spectral norm one.

    A is M W^T on entry and on exit. With K = M^T M the rule is W <- W * 2WK / (WKW^T W + WW^T WK);
    K is never formed, since W K = A^T M. Without the normalization the rule oscillates.
    """
    products = A.T @ M
    divisor = (A.T @ A) @ W
    divisor += (W @ W.T) @ products
    products *= 2.0
    W = scale_to_unit_norm(multiply(W, products, divisor))
    return M @ W.T, W


PNMF = Baseline(
    name="pnmf",
    label="PNMF",
    sources=(
        "Z. Yuan, E. Oja. Projective nonnegative matrix factorization for image compression and "
        "feature extraction. 2005.",
    ),
    iterates=repeat(update, draw_projective),
    max_iter=5000,
    tol=1e-4,
    period=5,
)
