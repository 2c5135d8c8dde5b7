"""Non-negative Hebbian learning, the multiplicative form of Oja's subspace rule."""

from orthonmf.baselines.interface import Baseline, Matrix, repeat
from orthonmf.baselines.multiplicative import draw_projective, multiply, scale_to_unit_norm
from orthonmf.typing import Array


def update(M: Matrix, A: Array, W: Array) -> tuple[Array, Array]:
    """Make W <- W * WK / (WKW^T W) with K = M^T M, and bring it back to spectral norm one.

    A is M W^T on entry and on exit, so W K = A^T M and W K W^T = A^T A. At a fixed point that is
    positive W K = W K W^T W: the rows of W span what Oja's rule would find.
    """
    W = scale_to_unit_norm(multiply(W, A.T @ M, (A.T @ A) @ W))
    return M @ W.T, W


NHL = Baseline(
    name="nhl",
    label="NHL",
    sources=("Z. Yang, J. Laaksonen. Multiplicative updates for non-negative projections. 2007.",),
    iterates=repeat(update, draw_projective),
    max_iter=5000,
    tol=1e-4,
    period=5,
)
