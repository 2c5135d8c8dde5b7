"""NRCG-ONMF: Riemannian conjugate gradients on the Stiefel manifold."""

from collections import deque

import numpy as np

from orthonmf.baselines.interface import Baseline, Matrix, Steps
from orthonmf.baselines.stiefel import (
    fit_clipped,
    mostly_positive_subspace,
    nearest_orthonormal,
    negativity,
    penalize,
    tangent,
)
from orthonmf.typing import Array

ARMIJO = 1e-4
MEMORY = 5  # a step may rise above the last value, not above the largest of so many
FIRST_PENALTY = 1e-3  # times the mean squared singular value
MOST_HALVINGS = 30


def riemannian_gradient(U: Array, linear: Array, penalty: float) -> Array:
    """Return the gradient of -<linear, U> + penalty/2 |min(U, 0)|^2 along the manifold."""
    return tangent(U, penalty * np.minimum(U, 0.0) - linear)


def conjugate_steps(
    U: Array, linear: Array, penalty: float, step: float, n_steps: int
) -> tuple[Array, float]:
    """Make some conjugate gradient steps with Barzilai-Borwein lengths; A stays fixed.

    Polak-Ribiere with restarts; directions are carried along by projection.
    """
    gradient = riemannian_gradient(U, linear, penalty)
    direction = -gradient
    values = deque([penalize(U, linear, penalty)], maxlen=MEMORY)
    for _ in range(n_steps):
        slope = float(np.vdot(gradient, direction))
        if slope >= 0:
            direction, slope = -gradient, -float(np.vdot(gradient, gradient))
        if slope == 0:
            break
        length, reference = step, max(values)
        for _ in range(MOST_HALVINGS):
            moved = nearest_orthonormal(U + length * direction)
            value = penalize(moved, linear, penalty)
            if value <= reference + ARMIJO * length * slope:
                break
            length /= 2
        else:
            break
        values.append(value)
        new_gradient = riemannian_gradient(moved, linear, penalty)
        turned = new_gradient - gradient
        squared = float(np.vdot(gradient, gradient))
        beta = max(0.0, float(np.vdot(new_gradient, turned)) / squared)
        displacement = moved - U
        curvature = abs(float(np.vdot(displacement, turned)))
        if curvature > 0:
            step = float(np.vdot(displacement, displacement)) / curvature
        direction = beta * tangent(moved, direction) - new_gradient
        U, gradient = moved, new_gradient
    return U, step


def iterates(
    M: Matrix,
    k: int,
    *,
    rng: np.random.Generator,
    tol: float,
    inner_steps: int = 3,
    growth: float = 1.05,
) -> Steps:
    """Alternate A = max(M U, 0), exact for orthonormal U = W^T, and steps of U on the manifold."""
    U, values = mostly_positive_subspace(M, k, rng)
    penalty = FIRST_PENALTY * float(np.mean(values**2))
    step = 1.0 / float(values[0] ** 2)
    while True:
        iterate = fit_clipped(M, U)
        yield iterate
        if negativity(U) <= tol:
            return "no negative entries beyond the tolerance"
        U, step = conjugate_steps(U, M.T @ iterate.A, penalty, step, inner_steps)
        penalty *= growth


NRCG_ONMF = Baseline(
    name="nrcg-onmf",
    label="NRCG-ONMF",
    sources=(
        "W. E. Zhang, M. Tan, Q. Z. Sheng, L. Yao, Q. Shi. Efficient orthogonal non-negative "
        "matrix factorization over Stiefel manifold. 2016.",
    ),
    iterates=iterates,
    max_iter=1000,
    tol=1e-3,
    period=5,
    our_reading=(
        "Abstract only: U = W^T by conjugate gradients with Barzilai-Borwein steps, A in closed "
        "form. How U is kept non-negative is not said there; we add a growing penalty on its "
        "negative entries and report it with those cut off."
    ),
)
