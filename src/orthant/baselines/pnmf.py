"""Projective NMF: M ~ M W^T W, so that W alone is sought."""

from orthant.baselines.interface import Baseline, Matrix, repeated
from orthant.baselines.multiplicative import (
    floored,
    of_unit_spectral_norm,
    positive,
    projective_start,
)
from orthant.numerics.arrays import Array


def update(M: Matrix, A: Array, W: Array) -> tuple[Array, Array]:
    """Multiply W by the two halves of the gradient and bring it back to spectral norm one.

    A is M W^T on entry and on exit. With K = M^T M the rule is W <- W * 2WK / (WKW^T W + WW^T WK);
    K is never formed, since W K = A^T M. Without the normalization the rule oscillates.
    """
    products = A.T @ M
    divisor = (A.T @ A) @ W
    divisor += (W @ W.T) @ products
    products = products * W
    products *= 2.0
    products /= positive(divisor)
    W = of_unit_spectral_norm(floored(products))
    return M @ W.T, W


PNMF = Baseline(
    name="pnmf",
    label="PNMF",
    orthogonal="samples",
    exact=False,
    sources=(
        "Z. Yuan, E. Oja. Projective nonnegative matrix factorization for image compression and "
        "feature extraction. 2005.",
    ),
    iterates=repeated(update, projective_start),
    max_iter=5000,
    tol=1e-4,
    period=5,
)
