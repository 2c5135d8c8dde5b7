"""ONMF-A: multiplicative updates from the gradient on the Stiefel manifold."""

from orthant.baselines.interface import Baseline, Matrix, repeated
from orthant.baselines.multiplicative import (
    fit_A,
    floored,
    of_unit_spectral_norm,
    positive,
    uniform_start,
)
from orthant.numerics.arrays import Array


def update(M: Matrix, A: Array, W: Array) -> tuple[Array, Array]:
    """Make W <- W * A^T M / (W M^T A W), bring it to spectral norm one, then fit A.

    W M^T A is taken first: it is k x k. Normalizing each row instead of the whole of W ends at
    much larger errors.
    """
    products = A.T @ M
    divisor = positive((W @ products.T) @ W)
    products = products * W
    products /= divisor
    W = of_unit_spectral_norm(floored(products))
    return fit_A(M, A, W), W


ONMF_A = Baseline(
    name="onmf-a",
    label="ONMF-A",
    orthogonal="samples",
    exact=False,
    sources=("S. Choi. Algorithms for orthogonal nonnegative matrix factorization. 2008.",),
    iterates=repeated(update, uniform_start),
    max_iter=1000,
    tol=1.5e-3,
    period=5,
)
