"""The best double-factor error, by trying every partition of the rows and every column map."""

from functools import cache
from itertools import product

import numpy as np

from tests.oracles.partitions import Group, group_sets


def best_double_factor_error(X: np.ndarray, k: int) -> float:
    """The least squared error of X (n, m) with both factors orthogonal and at most k components.

    Every row is in a group and every column goes to one of the groups; the best fit of a block is
    its top singular pair. A column in a block where it does not belong cannot lower that.
    """

    @cache  # the same rows are part of many solutions
    def captured(rows: Group) -> np.ndarray:
        """What a block of these rows and of every set of columns captures, (2**m,)."""
        blocks = X[list(rows)] * _column_sets(X.shape[1])[:, None, :]
        return np.linalg.norm(blocks, 2, axis=(1, 2)) ** 2

    most = 0.0
    for groups in group_sets(len(X), k):
        sets = _column_maps(X.shape[1], len(groups))
        most = max(most, sum(map(np.take, map(captured, groups), sets)).max())
    return float(max(np.sum(X**2) - most, 0.0))


@cache
def _column_sets(m: int) -> np.ndarray:
    """Which of m columns are in the set of that number, (2**m, m)."""
    return np.arange(2**m)[:, None] >> np.arange(m) & 1


@cache
def _column_maps(m: int, groups: int) -> np.ndarray:
    """The number of the column set of every group, for every map of m columns, (groups, maps)."""
    owners = np.array(list(product(range(groups), repeat=m)))
    return np.array([(owners == s) @ (1 << np.arange(m)) for s in range(groups)])
