"""Orthogonal NMF with one orthogonal factor, after Ding and others."""

import numpy as np

from orthant.baselines.interface import Baseline, Matrix, repeated
from orthant.baselines.multiplicative import fit_A, floored, positive, uniform_start
from orthant.numerics.arrays import Array


def update(M: Matrix, A: Array, W: Array) -> tuple[Array, Array]:
    """Move W towards W W^T = I, then fit A.

    The multiplier of the constraint is replaced by its diagonal approximation, so the first step
    may raise the error and orthogonality stays approximate. The second step only lowers it.
    """
    products = A.T @ M
    divisor = positive((products @ W.T) @ W)
    ratio = np.divide(products, divisor, out=divisor)
    W = floored(W * np.sqrt(ratio, out=ratio))
    return fit_A(M, A, W), W


ONFS_DING = Baseline(
    name="onfs-ding",
    label="ONFS-Ding",
    orthogonal="samples",
    exact=False,
    sources=(
        "C. Ding, T. Li, W. Peng, H. Park. Orthogonal nonnegative matrix t-factorizations for "
        "clustering. 2006.",
    ),
    iterates=repeated(update, uniform_start),
    max_iter=5000,
    tol=5e-5,
    period=10,
)
