"""ONP-MF: orthonormal at every iteration, non-negative only in the limit."""

import numpy as np

from orthonmf.baselines.interface import Baseline, Iterate, Matrix, Steps
from orthonmf.baselines.methods.em_onmf import EM_ONMF
from orthonmf.baselines.rank_one import squared_column_norms
from orthonmf.baselines.subspace import mostly_positive_subspace
from orthonmf.typing import Array

# The authors' constants are for data with a squared norm of about this; ours follow the data.
REFERENCE_SQUARED_NORM = 1e6
FIRST_PENALTY = 1e-2
FIRST_MULTIPLIER_STEP = 1e2
PENALTY_GROWTH = 1.01
STEP_FACTOR = 1.1
SMALLEST_STEP = 1e-15  # relative to the first
MOST_STUCK = 5


def nearest_orthonormal(U: Array) -> Array:
    """Return the orthonormal polar factor of U (n x k), by the k x k eigenproblem of U^T U."""
    values, vectors = np.linalg.eigh(U.T @ U)
    if values[0] <= 1e-14 * values[-1]:
        left, _, right = np.linalg.svd(U, full_matrices=False)
        return left @ right
    return U @ (vectors / np.sqrt(values)) @ vectors.T


def penalize(U: Array, linear: Array, penalty: float) -> float:
    """Return -<linear, U> + penalty/2 |min(U, 0)|^2; |A U^T| does not depend on U."""
    negative = np.minimum(U, 0.0)
    return 0.5 * penalty * float(np.vdot(negative, negative)) - float(np.vdot(linear, U))


def search(
    U: Array, direction: Array, linear: Array, penalty: float, step: float, smallest: float
) -> tuple[Array, float]:
    """Move along the direction and back to the manifold, with a step that lowers the Lagrangian.

    The step grows by a tenth while that helps, and shrinks by a tenth until it does.
    """

    def move(length: float) -> tuple[Array, float]:
        moved = nearest_orthonormal(U + length * direction)
        return moved, penalize(moved, linear, penalty)

    before = penalize(U, linear, penalty)
    candidate, value = move(step)
    while value >= before:
        step /= STEP_FACTOR
        if step <= smallest:
            return U, step
        candidate, value = move(step)
    while True:
        further, further_value = move(step * STEP_FACTOR)
        if further_value >= value:
            return candidate, step
        step, candidate, value = step * STEP_FACTOR, further, further_value


def iterates(M: Matrix, k: int, *, rng: np.random.Generator, tol: float) -> Steps:
    """Alternate A = max(M U, 0), exact for orthonormal U = W^T, and a step of U.

    U starts at the top right singular vectors; a growing penalty and multipliers drive its
    negative entries to zero. It ends when their share of U is at most tol.
    """
    U, values = mostly_positive_subspace(M, k, rng)
    unit = float(squared_column_norms(M).sum()) / REFERENCE_SQUARED_NORM
    penalty, multipliers = FIRST_PENALTY * unit, np.zeros_like(U)
    step = 1.0 / float(values[0] ** 2)
    smallest, stuck, iteration = SMALLEST_STEP * step, 0, 0
    while True:
        A, negative = np.maximum(M @ U, 0.0), np.minimum(U, 0.0)
        yield Iterate(A, np.ascontiguousarray(np.maximum(U, 0.0).T))
        if iteration and np.linalg.norm(negative) / np.linalg.norm(U) <= tol:
            return "no negative entries beyond the tolerance"
        iteration += 1
        penalty *= PENALTY_GROWTH
        linear = M.T @ A
        fit = linear - U @ (A.T @ A)
        linear += multipliers
        direction = fit + multipliers - penalty * negative
        U, step = search(U, direction, linear, penalty, step, smallest)
        multipliers = np.maximum(multipliers - FIRST_MULTIPLIER_STEP * unit / iteration * U, 0.0)
        stuck = stuck + 1 if step <= smallest else 0
        if stuck >= MOST_STUCK:
            return "no step lowers the Lagrangian"


ONP_MF = Baseline(
    name="onp-mf",
    label="ONP-MF",
    sources=EM_ONMF.sources,
    iterates=iterates,
    max_iter=3000,
    tol=1e-3,
    period=10,
    our_reading=(
        "Abstract and parts of the authors' program: penalty and multiplier steps are theirs for "
        "data of squared norm 10^6 and scale with the data; signs of the singular vectors are "
        "turned to the longer side; W is reported with its negative entries cut off."
    ),
)
