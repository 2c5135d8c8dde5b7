"""The best single-factor error, by trying every partition."""

from functools import cache

import numpy as np

from tests.oracles.partitions import Group, group_sets, groups_of


def squared_error_of_partition(X: np.ndarray, labels: np.ndarray) -> float:
    """The least squared error when the rows of X are grouped by ``labels``."""
    return float(sum(_squared_error_of_group(X, group) for group in groups_of(labels)))


def best_single_factor_error(X: np.ndarray, k: int) -> float:
    """The least squared error over all ways to give every row of X to one of k components."""

    @cache  # the same group is part of many partitions
    def error(group: Group) -> float:
        return _squared_error_of_group(X, group)

    return float(min(sum(map(error, groups)) for groups in group_sets(len(X), k)))


def _squared_error_of_group(X: np.ndarray, group: Group) -> float:
    """The best fit is the top singular pair, which leaves the other singular values."""
    return np.sum(np.linalg.svd(X[list(group)], compute_uv=False)[1:] ** 2)
