"""EP4Orth+: an exact penalty over non-negative rows of length one, and a rounding."""

from collections import deque

import numpy as np

from orthonmf.baselines.interface import Baseline, Iterate, Matrix, Steps
from orthonmf.baselines.rank_one import scatter, squared_column_norms
from orthonmf.baselines.subspace import mostly_positive_subspace
from orthonmf.typing import Array

FIRST_PENALTY, PENALTY_GROWTH, LARGEST_PENALTY = 1e-3, 1.05, 1e5
FIRST_TOLERANCE, TOLERANCE_DECAY, SMALLEST_TOLERANCE = 1e-1, 0.98, 1e-7
MEMORY = 5
MOST_HALVINGS = 20


def project(W: Array) -> Array:
    """Return the nearest matrix with non-negative rows of length one."""
    clipped = np.maximum(W, 0.0)
    lengths = np.sqrt(np.einsum("ij,ij->i", clipped, clipped))
    for s in np.flatnonzero(lengths == 0):
        clipped[s, W[s].argmax()] = lengths[s] = 1.0
    clipped /= lengths[:, None]
    return clipped


def violation(W: Array) -> float:
    """Return |1^T W|^2 / k - 1 for rows of length one: the sum of the cosines between them / k."""
    sums = W.sum(axis=0)
    return float(sums @ sums) / len(W) - 1.0


def coefficients(M: Matrix, W: Array) -> Array:
    """Return max(0, least squares A) for M ~ A W."""
    return np.maximum(np.linalg.lstsq(W @ W.T, (M @ W.T).T, rcond=None)[0].T, 0.0)


def evaluate(W: Array, coupled: Array, linear: Array) -> tuple[float, Array]:
    """Return <W, coupled W> - 2 <linear, W> and half its gradient.

    With coupled = A^T A + penalty/k and linear = A^T M this is |M - AW|^2 plus the penalty times
    `violation`, up to a constant.
    """
    moved = coupled @ W
    fit = float(np.vdot(moved, W)) - 2.0 * float(np.vdot(linear, W))
    moved -= linear
    return fit, moved


def descend(W: Array, coupled: Array, linear: Array, tol: float, n_steps: int) -> Array:
    """Make projected gradient steps with Barzilai-Borwein lengths for a fixed A."""
    value, slope = evaluate(W, coupled, linear)
    values = deque([value], maxlen=MEMORY)
    step = 1.0 / float(np.linalg.norm(coupled))
    for _ in range(n_steps):
        for _ in range(MOST_HALVINGS):
            moved = project(W - step * slope)
            displacement = moved - W
            squared = float(np.vdot(displacement, displacement))
            value, new_slope = evaluate(moved, coupled, linear)
            if value <= max(values) - 1e-4 / step * squared:
                break
            step /= 2
        else:
            break
        values.append(value)
        curvature = abs(float(np.vdot(displacement, new_slope) - np.vdot(displacement, slope)))
        W, slope = moved, new_slope
        if np.sqrt(squared) <= tol * np.sqrt(len(W)):
            break
        if curvature > 0:
            step = squared / curvature
    return W


def iterates(
    M: Matrix, k: int, *, rng: np.random.Generator, tol: float, inner_steps: int = 20
) -> Steps:
    """Alternate A and W while the penalty grows; round W once its overlaps are below tol.

    The start is the top singular vectors, turned to their longer side and clipped.
    """
    W = project(np.ascontiguousarray(mostly_positive_subspace(M, k, rng)[0].T))
    squared_norm = float(squared_column_norms(M).sum())
    penalty, tolerance = FIRST_PENALTY, FIRST_TOLERANCE
    while True:
        A = coefficients(M, W)
        yield Iterate(A, W)
        if violation(W) <= tol:
            break
        coupled = A.T @ A / squared_norm + penalty / k
        W = descend(W, coupled, (A.T @ M) / squared_norm, tolerance, inner_steps)
        penalty = min(LARGEST_PENALTY, penalty * PENALTY_GROWTH)
        tolerance = max(SMALLEST_TOLERANCE, tolerance * TOLERANCE_DECAY)
    labels = W.argmax(axis=0)
    W = project(scatter(labels, W[labels, np.arange(W.shape[1])], k))
    yield Iterate(M @ W.T, W)
    return "orthogonal up to the tolerance, and rounded"


EP4ORTH = Baseline(
    name="ep4orth",
    label="EP4Orth+",
    sources=(
        "B. Jiang, X. Meng, Z. Wen, X. Chen. An exact penalty approach for optimization with "
        "nonnegative orthogonality constraints. 2022.",
    ),
    iterates=iterates,
    max_iter=300,
    tol=1e-8,
    period=5,
    our_reading=(
        "Abstract and the authors' program for this problem: penalty, schedule, start and "
        "rounding are theirs; their inner solver is of second order, ours makes projected "
        "gradient steps."
    ),
)
