"""The best three-factor error, by trying every pair of partitions and several scales of each."""

import numpy as np

from tests.oracles.partitions import partitions

ROUNDS = 1000


def best_three_factor_error(X: np.ndarray, k: int, l: int, n_starts: int = 4) -> float:  # noqa: E741
    """The least squared error of X (n, m) ~ F S G^T with k groups of rows and l of columns.

    For every pair of partitions the scales of one side given the other are top singular vectors;
    taking turns ends in a local optimum, so there are several positive starts. All pairs and all
    starts take their turns together.
    """
    rows = _all_groups(len(X), k)[:, None]  # (p, 1, n, k)
    columns = _all_groups(X.shape[1], l)[None, :]  # (1, q, m, l)
    captured = max(captured_by_groups(X, rows, columns, start) for start in _starts(X, n_starts))
    return float(max(np.sum(X**2) - captured, 0.0))


def captured_by_groups(
    X: np.ndarray, rows: np.ndarray, columns: np.ndarray, start: np.ndarray
) -> float:
    """What the best of many pairs of groups captures, from scales (m,) of the columns.

    Groups are arrays (..., n, k) and (..., m, l) of zeros and ones.
    """
    G = _unit(columns * start[:, None])
    energy = np.zeros(np.broadcast_shapes(rows.shape[:-2], columns.shape[:-2]))
    for _ in range(ROUNDS):
        F, _ = _best_scales(X @ G, rows)
        G, found = _best_scales(X.T @ F, columns)
        if (found <= energy * (1 + 1e-14)).all():
            break
        energy = found
    return float(energy.max())


def _all_groups(n: int, k: int) -> np.ndarray:
    return np.array([np.eye(k)[labels] for labels in partitions(n, k)])


def _starts(X: np.ndarray, n_starts: int) -> list[np.ndarray]:
    rng = np.random.default_rng(0)
    return [np.ones(X.shape[1]), *rng.exponential(size=(n_starts - 1, X.shape[1])) ** 3]


def _best_scales(Y: np.ndarray, groups: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The top left singular vector of the rows of every group, and the energy of all groups."""
    own = Y[..., :, None, :] * groups[..., None]  # (..., n, k, l): a row stands in its group alone
    grams = np.einsum("...nkl,...nkh->...klh", own, own)
    values, vectors = np.linalg.eigh(grams)
    tops = np.abs(vectors[..., -1])  # (..., k, l)
    return _unit(np.einsum("...nkl,...kl->...nk", own, tops)), values[..., -1].sum(axis=-1)


def _unit(vectors: np.ndarray) -> np.ndarray:
    lengths = np.linalg.norm(vectors, axis=-2, keepdims=True)
    return np.divide(vectors, lengths, out=np.zeros_like(vectors), where=lengths > 0)
