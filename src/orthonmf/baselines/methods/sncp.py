"""SNCP: a smooth non-convex penalty that is zero exactly when a column of W has one entry."""

import numpy as np

from orthonmf.baselines.interface import Baseline, Iterate, Matrix, Steps, relative_change
from orthonmf.baselines.methods.multiplicative import draw_in_scale
from orthonmf.typing import Array

FIRST_PENALTY = 1e-4  # times the mean squared column of A
# A proximal gradient step of length 1 / (0.51 L) still lowers an L-smooth function.
STEP_SHARE = 0.51


def step_W(M: Matrix, A: Array, W: Array, penalty: float) -> Array:
    """Make one proximal gradient step of W on the penalized error, which it cannot raise.

    That is 1/2 |M - AW|^2 + penalty/2 sum_j ((1'w_j)^2 - |w_j|^2) over the columns w_j of W.
    """
    hessian = A.T @ A + penalty * (1.0 - np.eye(A.shape[1]))
    gradient = hessian @ W
    gradient -= A.T @ M
    gradient /= -STEP_SHARE * np.linalg.eigvalsh(hessian)[-1]
    gradient += W
    return np.maximum(gradient, 0.0, out=gradient)


def step_A(M: Matrix, A: Array, W: Array) -> Array:
    """Make one proximal gradient step of A on 1/2 |M - AW|^2, which cannot raise it."""
    hessian = W @ W.T
    slope = STEP_SHARE * np.linalg.eigvalsh(hessian)[-1]
    return np.maximum(A - (A @ hessian - M @ W.T) / slope, 0.0)


def overlap(W: Array) -> float:
    """Return sum_j ((1'w_j)^2 - |w_j|^2) / |W|^2: zero exactly when no two rows share a column."""
    squares = float(np.vdot(W, W))
    sums = W.sum(axis=0)
    return max(0.0, float(sums @ sums) - squares) / squares if squares else 0.0


def balance(A: Array, W: Array) -> tuple[Array, Array]:
    """Scale the columns of A to length one and rows of W by those lengths; lost ones stay."""
    lengths = np.linalg.norm(A, axis=0)
    lengths = np.where(lengths > 0, lengths, 1.0)
    return A / lengths, W * lengths[:, None]


def iterates(
    M: Matrix,
    k: int,
    *,
    rng: np.random.Generator,
    tol: float,
    growth: float = 1.1,
    inner_tol: float = 3e-3,
    last_tol: float = 1e-5,
) -> Steps:
    """Alternate steps of W and A; raise the penalty whenever they have settled for the last one.

    Ends when the overlap is at most tol and the factors have settled.
    """
    A, W = balance(*draw_in_scale(M, k, rng))
    penalty = FIRST_PENALTY
    while True:
        yield Iterate(A, W)
        new_W = step_W(M, A, W, penalty)
        if not new_W.any():
            return "W vanished"
        new_A = step_A(M, A, new_W)
        change = relative_change(A, new_A) + relative_change(W, new_W)
        A, W = new_A, new_W
        if change > inner_tol:
            continue
        if overlap(W) <= tol:
            if change <= last_tol:
                yield Iterate(A, W)
                return "no overlap left"
            continue
        # Balanced factors give the penalty the same meaning in every round: without it W could
        # shrink, and A grow, instead of overlaps going away.
        A, W = balance(A, W)
        penalty *= growth


SNCP = Baseline(
    name="sncp",
    label="SNCP",
    sources=(
        "S. Wang, T.-H. Chang, Y. Cui, J.-S. Pang. Clustering by orthogonal NMF model and "
        "non-convex penalty optimization. 2021.",
    ),
    iterates=iterates,
    max_iter=5000,
    tol=1e-10,
    period=10,
    our_reading=(
        "Abstract and parts of the authors' program: rule, growth of the penalty and inner "
        "tolerance are theirs; the first penalty is relative to the columns of A, and the factors "
        "are balanced whenever the penalty grows."
    ),
)
