"""Exactly orthogonal factors from nearly orthogonal ones, so that soft methods can be compared."""

import numpy as np
from scipy.optimize import linear_sum_assignment

from orthonmf.baselines.interface import Hardened, Iterate, Matrix, Orthogonal
from orthonmf.baselines.rank_one import (
    MOST_POWER_STEPS,
    POWER_TOLERANCE,
    move_directions,
    scatter,
    top_directions,
    unit_rows,
    winners,
)
from orthonmf.measures import reconstruction_error, relative_squared_error
from orthonmf.typing import Array

MOST_SWEEPS = 100


def harden(
    M: Matrix, factors: Iterate, orthogonal: Orthogonal, *, sweeps: int = MOST_SWEEPS
) -> Hardened:
    """Keep the largest entry of every column of W, and refit both factors to M.

    An entry counts by what it contributes, ``W[s, i] |a_s|``, whatever the scales of A and W. The
    refit gives every block its best rank-one factors and then every column its best block, for at
    most so many sweeps, none of which raises the error; with ``sweeps=0`` the supports stay as
    the method left them. For ``orthogonal="both"`` rows of M are treated as columns are.

    Examples
    --------
    >>> import numpy as np
    >>> from orthonmf.baselines import Iterate, harden
    >>> M = np.kron(np.eye(2), np.ones((2, 3)))
    >>> soft = Iterate(A=M[:, [0, 3]], W=np.array([[1.0] * 3 + [0.1] * 3, [0.1] * 3 + [1.0] * 3]))
    >>> bool(harden(M, soft, "samples").error < 1e-12)
    True
    """
    if orthogonal == "both":
        A, W, done = _harden_both(M, factors, sweeps)
    else:
        A, W, done = _harden_samples(M, factors, sweeps)
    return Hardened(A, W, reconstruction_error(M, A, W), relative_squared_error(M, A, W), done)


def largest_contribution(A: Array, W: Array) -> Array:
    """Return for every column of W the row that contributes most to A W, or -1 for none."""
    contributions = np.maximum(W, 0.0) * np.linalg.norm(A, axis=0)[:, None]
    labels = contributions.argmax(axis=0)
    return np.where(contributions.max(axis=0) > 0, labels, -1)


def _harden_samples(M: Matrix, factors: Iterate, sweeps: int) -> tuple[Array, Array, int]:
    k = factors.W.shape[0]
    labels = largest_contribution(factors.left, factors.W)
    A = top_directions(M, labels, k)
    done = 0
    while done < sweeps:
        done += 1
        moved, _ = winners(A.T @ M, labels)
        if np.array_equal(moved, labels):
            break
        A = move_directions(M, A, labels, moved)
        labels = moved
    products = A.T @ M
    return A, scatter(labels, products[labels, np.arange(len(labels))], k), done


def _harden_both(M: Matrix, factors: Iterate, sweeps: int) -> tuple[Array, Array, int]:
    """Alternate between columns and rows, each in its best component given the other side."""
    A, W = _pair(factors)
    k = W.shape[0]
    labels, row_labels = largest_contribution(A, W), largest_contribution(W.T, A.T)
    A = _unit_rows_at(row_labels, A[np.arange(len(A)), row_labels], k).T
    done = 0
    for done in range(1, MOST_POWER_STEPS + 1):
        free = done <= sweeps
        labels, scales = _assign(A.T @ M, labels, free)
        directions = _unit_rows_at(labels, scales, k)
        row_labels, row_scales = _assign((M @ directions.T).T, row_labels, free)
        following = _unit_rows_at(row_labels, row_scales, k).T
        change = np.linalg.norm(following - A)
        A = following
        if change <= POWER_TOLERANCE:
            break
    labels, scales = _assign(A.T @ M, labels, sweeps > 0)
    return A, scatter(labels, scales, k), done


def _assign(products: Array, labels: Array, free: bool) -> tuple[Array, Array]:
    if free:
        return winners(products, labels)
    return labels, products[labels, np.arange(len(labels))]


def _unit_rows_at(labels: Array, scales: Array, k: int) -> Array:
    return unit_rows(scatter(labels, scales, k))[0]


def _pair(factors: Iterate) -> tuple[Array, Array]:
    """Reorder the rows of W so that component s of A meets the one that S ties it to most."""
    A, W = factors.A, factors.W
    if factors.S is None:
        return A, W
    energy = (factors.S * np.linalg.norm(A, axis=0)[:, None] * np.linalg.norm(W, axis=1)) ** 2
    _, partner = linear_sum_assignment(energy, maximize=True)
    return A, W[partner]
