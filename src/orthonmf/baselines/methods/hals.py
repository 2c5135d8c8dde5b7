"""HALS with a penalty on overlaps: approximately orthogonal, one row and one column at a time."""

import numpy as np

from orthonmf.baselines.interface import Baseline, Iterate, Matrix, Steps
from orthonmf.baselines.methods.multiplicative import draw_in_scale
from orthonmf.baselines.rank_one import columns_of, squared_column_norms, unit_rows
from orthonmf.typing import Array

# A component whose energy is below this share of the largest counts as lost.
LOST = 1e-30


def update(M: Matrix, A: Array, W: Array, penalty: float, inner_sweeps: int) -> tuple[Array, Array]:
    """Minimize 1/2 |M - AW|^2 + lambda/2 sum_{s != t} <w_s, w_t> over A, then over W, by rows.

    lambda is `penalty` times the mean squared column of A, since it has the units of one. Rows
    of W leave with length one and the columns of A take up their lengths. No step on A or W
    raises the penalized error for the lambda that it uses.
    """
    A = descend((M @ W.T).T, W @ W.T, A.T, inner_sweeps).T
    gram = A.T @ A
    # The penalty's gradient at w_s is lambda times the sum of the other rows: as if every two
    # columns of A had that much more in common.
    overlap = penalty * float(np.trace(gram)) / len(gram)
    coupled = gram + overlap * (1.0 - np.eye(len(gram)))
    W = descend(A.T @ M, coupled, W, inner_sweeps)
    return balance(A, W)


def descend(products: Array, gram: Array, rows: Array, inner_sweeps: int) -> Array:
    """Minimize 1/2 <rows, gram rows> - <products, rows> over non-negative rows, one by one."""
    rows = rows.copy()
    curvatures = np.diagonal(gram)
    kept = np.flatnonzero(curvatures > LOST * curvatures.max())
    # The minimizer over row s is max(targets[s] - others[s] @ rows, 0); others has no diagonal.
    safe = np.where(curvatures > 0, curvatures, 1.0)[:, None]
    targets, others = products / safe, gram / safe
    np.fill_diagonal(others, 0.0)
    best = np.empty(rows.shape[1])
    steps = [(targets[s], others[s], rows[s]) for s in kept]
    for _ in range(inner_sweeps):
        for target, other, row in steps:
            np.matmul(other, rows, out=best)
            np.subtract(target, best, out=best)
            np.maximum(best, 0.0, out=row)
    return rows


def balance(A: Array, W: Array) -> tuple[Array, Array]:
    """Scale rows of W to length one and columns of A by those lengths; A W stays the same."""
    W, lengths = unit_rows(W)
    return A * lengths, W


def revive(M: Matrix, squared_norms: Array, A: Array, W: Array) -> tuple[Array, Array]:
    """Give every lost component the column that is represented worst."""
    energies = np.einsum("ij,ij->j", A, A) * np.einsum("ij,ij->i", W, W)
    for s in np.flatnonzero(energies <= LOST * max(float(energies.max()), LOST)):
        explained = 2 * (A.T @ M) - (A.T @ A) @ W
        residuals = squared_norms - np.einsum("ij,ij->j", W, explained)
        worst = int(residuals.argmax())
        if residuals[worst] <= 1e-12 * squared_norms.max():
            break
        A, W = A.copy(), W.copy()
        A[:, s] = columns_of(M, [worst])[:, 0]
        W[:, worst] = 0.0
        W[s] = 0.0
        W[s, worst] = 1.0
    return A, W


def iterates(
    M: Matrix, k: int, *, rng: np.random.Generator, penalty: float = 0.003, inner_sweeps: int = 5
) -> Steps:
    """Repeat the update from a uniform start, reviving components that died."""
    squared_norms = squared_column_norms(M)
    A, W = balance(*draw_in_scale(M, k, rng))
    while True:
        yield Iterate(A, W)
        A, W = update(M, A, W, penalty, inner_sweeps)
        A, W = revive(M, squared_norms, A, W)


HALS = Baseline(
    name="hals",
    label="HALS",
    sources=(
        "B. Li, G. Zhou, A. Cichocki. Two efficient algorithms for approximately orthogonal "
        "nonnegative matrix factorization. 2014.",
    ),
    iterates=iterates,
    max_iter=1000,
    tol=1e-4,
    period=5,
    our_reading=(
        "Abstract and public re-implementations only: five inner sweeps for each factor, the "
        "penalty relative to the mean squared column of A (the authors' schedule is not known "
        "to us), lengths of rows of W carried over to A, lost components restarted."
    ),
)
