"""The least Kullback-Leibler divergence of a small table, by trying every partition."""

import numpy as np

from tests.oracles.partitions import partitions


def least_divergence(X: np.ndarray, k: int) -> np.longdouble:
    """The least one over partitions of the rows into at most k groups, each with its profile."""
    X = np.asarray(X, dtype=np.longdouble)
    return min(_divergence(X, labels, np.arange(X.shape[1])) for labels in partitions(len(X), k))


def least_divergence_with_core(X: np.ndarray, n_rows: int, n_columns: int) -> np.longdouble:
    """The least one over partitions of the rows into so many groups, and of the columns."""
    X = np.asarray(X, dtype=np.longdouble)
    columns = list(partitions(X.shape[1], n_columns))
    return min(
        _divergence(X, rows, groups) for rows in partitions(len(X), n_rows) for groups in columns
    )


def _divergence(X: np.ndarray, rows: np.ndarray, columns: np.ndarray) -> np.longdouble:
    """``sum x ln(x / y)`` for y = r_i c_j N_ab / (R_a C_b), the best model of two partitions.

    Sums of rows and columns are those of X, so that ``sum y - x`` is 0.
    """
    of_rows = np.eye(rows.max() + 1, dtype=np.longdouble)[rows]
    of_columns = np.eye(columns.max() + 1, dtype=np.longdouble)[columns]
    pooled = of_rows.T @ X @ of_columns
    with np.errstate(divide="ignore", invalid="ignore"):
        core = pooled / pooled.sum(axis=1)[:, None] / pooled.sum(axis=0)
        model = X.sum(axis=1)[:, None] * X.sum(axis=0) * core[rows][:, columns]
        return np.where(X > 0, X * np.log(X / model), 0.0).sum()
