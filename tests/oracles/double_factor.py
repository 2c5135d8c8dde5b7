"""The best double-factor error, by trying every partition of the rows and every column map."""

from functools import cache
from itertools import product

import numpy as np

from tests.oracles.partitions import partitions


def best_double_factor_error(X: np.ndarray, k: int) -> float:
    """The least squared error with both factors orthogonal and at most k components.

    Every row is in a group and every column goes to one of the groups; the best fit of a block is
    its top singular pair. A column in a block where it does not belong cannot lower that.
    """

    @cache  # the same block is part of many solutions
    def captured(rows: tuple[int, ...], columns: tuple[int, ...]) -> float:
        block = X[np.ix_(rows, columns)]
        return np.linalg.norm(block, 2) ** 2 if block.size else 0.0

    most = 0.0
    for labels in partitions(len(X), k):
        groups = range(labels.max() + 1)
        rows = [tuple(np.flatnonzero(labels == s)) for s in groups]
        for chosen in product(groups, repeat=X.shape[1]):
            columns = [tuple(j for j, group in enumerate(chosen) if group == s) for s in groups]
            most = max(most, sum(map(captured, rows, columns)))
    return float(max(np.sum(X**2) - most, 0.0))
