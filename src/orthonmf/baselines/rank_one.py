"""The best rank-one fit of the columns that share a component: directions, labels and scales.

For a fixed partition of the columns of M the best A has the top left singular vector of every
block, which is non-negative (Perron-Frobenius), and the best W the projections on it.
"""

from typing import Any

import numpy as np
from scipy import sparse

from orthonmf.baselines.interface import Matrix
from orthonmf.typing import Array

POWER_TOLERANCE = 1e-9
MOST_POWER_STEPS = 200


def squared_column_norms(M: Matrix) -> Array:
    """Return the n squared lengths of the columns of M."""
    if sparse.issparse(M):
        return np.asarray(M.multiply(M).sum(axis=0)).ravel()
    return np.einsum("ij,ij->j", M, M)


def columns_of(M: Matrix, chosen: Any) -> Array:
    """Return some columns of M as a dense m x c array."""
    columns = M.T[chosen]
    return (columns.toarray() if sparse.issparse(M) else columns).T


def unit_rows(rows: Array) -> tuple[Array, Array]:
    """Return the rows scaled to length one, zero rows as they are, and their lengths."""
    lengths = np.linalg.norm(rows, axis=1)
    return rows / np.where(lengths > 0, lengths, 1.0)[:, None], lengths


def top_direction(block: Matrix, start: Array) -> Array:
    """Return the top left singular vector of an m x c block as a non-negative unit vector.

    Power steps from `start` (which may be zero), to which a little of the sum of the columns is
    added: that sum meets every part of the block, so no better direction is out of reach. Zero
    for a zero block.
    """
    total = block @ np.ones(block.shape[1])
    length = np.linalg.norm(total)
    if length == 0:
        return np.zeros(block.shape[0])
    total /= length
    direction = start + 1e-3 * total
    direction /= np.linalg.norm(direction)
    for _ in range(MOST_POWER_STEPS):
        following = block @ (block.T @ direction)
        following /= np.linalg.norm(following)
        change = np.linalg.norm(following - direction)
        direction = following
        if change <= POWER_TOLERANCE:
            break
    return direction


def top_directions(M: Matrix, labels: Array, k: int) -> Array:
    """Return the m x k directions of the blocks of M given by labels; -1 belongs to none."""
    return move_directions(M, np.zeros((M.shape[0], k)), np.full(len(labels), -1), labels)


def move_directions(M: Matrix, A: Array, before: Array, after: Array) -> Array:
    """Return the directions after some columns have moved; other blocks keep theirs.

    Power steps start from the old direction, which is close when few columns moved.
    """
    A = A.copy()
    moved = before != after
    for s in np.union1d(before[moved], after[moved]):
        if s < 0:
            continue
        members = np.flatnonzero(after == s)
        if len(members):
            A[:, s] = top_direction(M.T[members].T, A[:, s])
        else:
            A[:, s] = 0.0
    return A


def scatter(labels: Array, scales: Array, k: int) -> Array:
    """Return the k x n matrix with scales[i] at (labels[i], i) and exact zeros elsewhere."""
    W = np.zeros((k, len(labels)))
    kept = np.flatnonzero(labels >= 0)
    W[labels[kept], kept] = scales[kept]
    return W


def winners(products: Array, labels: Array) -> tuple[Array, Array]:
    """Return for every column of a k x n array its best row and the entry there.

    A column changes its label only for a gain beyond rounding, so that ties cannot cycle; one
    without a label (-1) takes its largest entry.
    """
    scales = products[labels, np.arange(len(labels))]
    peaks = products.max(axis=0)
    movers = np.flatnonzero((peaks > scales * (1 + 1e-12)) | (labels < 0))
    labels = labels.copy()
    labels[movers] = products[:, movers].argmax(axis=0)
    scales[movers] = peaks[movers]
    return labels, scales
