"""ONP-MF: orthonormal at every iteration, non-negative only in the limit."""

import numpy as np

from orthonmf.baselines.interface import Baseline, Matrix, Steps
from orthonmf.baselines.methods.em_onmf import EM_ONMF
from orthonmf.baselines.rank_one import squared_column_norms
from orthonmf.baselines.stiefel import (
    fit_clipped,
    mostly_positive_subspace,
    nearest_orthonormal,
    negativity,
    penalize,
)
from orthonmf.typing import Array

# The authors' constants are for data with a squared norm of about this; ours follow the data.
REFERENCE_SQUARED_NORM = 1e6
FIRST_PENALTY = 1e-2
FIRST_MULTIPLIER_STEP = 1e2
PENALTY_GROWTH = 1.01
STEP_FACTOR = 1.1
SMALLEST_STEP = 1e-15  # relative to the first
MOST_STUCK = 5


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
        iterate = fit_clipped(M, U)
        yield iterate
        if iteration and negativity(U) <= tol:
            return "no negative entries beyond the tolerance"
        iteration += 1
        penalty *= PENALTY_GROWTH
        linear = M.T @ iterate.A
        fit = linear - U @ (iterate.A.T @ iterate.A)
        linear += multipliers
        direction = fit + multipliers - penalty * np.minimum(U, 0.0)
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
