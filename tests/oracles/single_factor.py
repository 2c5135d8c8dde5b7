"""The best single-factor error, by trying every partition."""

import numpy as np

from tests.oracles.partitions import partitions


def squared_error_of_partition(X: np.ndarray, labels: np.ndarray) -> float:
    """The least squared error when the rows of X are grouped by ``labels``.

    The best fit of a group is its top singular pair, which leaves the other singular values.
    """
    tails = (np.linalg.svd(X[labels == group], compute_uv=False)[1:] for group in np.unique(labels))
    return float(sum(np.sum(tail**2) for tail in tails))


def best_single_factor_error(X: np.ndarray, k: int) -> float:
    """The least squared error over all ways to give every row of X to one of k components."""
    return min(squared_error_of_partition(X, labels) for labels in partitions(len(X), k))
