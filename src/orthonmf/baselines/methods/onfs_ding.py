"""Orthogonal NMF with one orthogonal factor, after Ding and others."""

from orthonmf.baselines.interface import Baseline, Matrix, repeat
from orthonmf.baselines.methods.ding_double import SOURCES
from orthonmf.baselines.multiplicative import draw_uniform, fit_A, multiply_by_root
from orthonmf.typing import Array


def update(M: Matrix, A: Array, W: Array) -> tuple[Array, Array]:
    """Move W towards W W^T = I, then fit A.

    The multiplier of the constraint is replaced by its diagonal approximation, so the first step
    may raise the error and orthogonality stays approximate. The second step only lowers it.
    """
    products = A.T @ M
    W = multiply_by_root(W, products, (products @ W.T) @ W)
    return fit_A(M, A, W), W


ONFS_DING = Baseline(
    name="onfs-ding",
    label="ONFS-Ding",
    sources=SOURCES,
    iterates=repeat(update, draw_uniform),
    max_iter=5000,
    tol=5e-5,
    period=10,
)
