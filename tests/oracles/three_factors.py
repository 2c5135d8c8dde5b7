"""The best three-factor error, by trying every pair of partitions and several scales of each."""

from itertools import product

import numpy as np

from tests.oracles.partitions import partitions

ROUNDS = 300


def best_three_factor_error(X: np.ndarray, k: int, l: int, n_starts: int = 4) -> float:  # noqa: E741
    """The least squared error of X (n, m) ~ F S G^T with k groups of rows and l of columns.

    For every pair of partitions the scales of one side given the other are top singular vectors;
    taking turns ends in a local optimum, so there are several positive starts.
    """
    energies = [
        captured_by_partition(X, rows, columns, n_starts)
        for rows, columns in product(
            _one_hot(partitions(len(X), k), k), _one_hot(partitions(X.shape[1], l), l)
        )
    ]
    return float(max(np.sum(X**2) - max(energies), 0.0))


def _one_hot(labels, count: int):
    return [np.eye(count)[one] for one in labels]


def captured_by_partition(
    X: np.ndarray, rows: np.ndarray, columns: np.ndarray, n_starts: int = 4
) -> float:
    """What scales for these groups, (n, k) and (m, l) of zeros and ones, capture at the most."""
    rng = np.random.default_rng(0)
    starts = [np.ones(X.shape[1]), *rng.exponential(size=(n_starts - 1, X.shape[1])) ** 3]
    G = _unit(columns * np.array(starts)[:, :, None])  # (starts, m, l)
    energy = np.zeros(len(starts))
    for _ in range(ROUNDS):
        F, _ = _best_scales(X @ G, rows)
        G, found = _best_scales(X.T @ F, columns)
        if (found <= energy * (1 + 1e-15)).all():
            break
        energy = found
    return float(energy.max())


def _best_scales(Y: np.ndarray, groups: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The top left singular vector of the rows of every group, and the energy of all groups."""
    grams = np.einsum("tnl,nk,tnh->tklh", Y, groups, Y)
    values, vectors = np.linalg.eigh(grams)
    tops = np.abs(vectors[..., -1])  # (starts, k, l)
    return _unit(np.einsum("tnl,tkl->tnk", Y, tops) * groups), values[..., -1].sum(axis=1)


def _unit(vectors: np.ndarray) -> np.ndarray:
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    return np.divide(vectors, lengths, out=np.zeros_like(vectors), where=lengths > 0)
