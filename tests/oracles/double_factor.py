"""The best double-factor error, by trying every partition of the rows and every column map."""

from itertools import product

import numpy as np

from tests.oracles.partitions import partitions


def best_double_factor_error(X: np.ndarray, k: int) -> float:
    """The least squared error with both factors orthogonal and at most k components.

    Every row is in a group and every column goes to one of the groups; the best fit of a block is
    its top singular pair. A column in a block where it does not belong cannot lower that.
    """
    squares = np.sum(X**2)
    best = squares
    for labels in partitions(len(X), k):
        n_groups = labels.max() + 1
        for columns in product(range(n_groups), repeat=X.shape[1]):
            blocks = (X[np.ix_(labels == s, np.equal(columns, s))] for s in range(n_groups))
            captured = sum(np.linalg.norm(block, 2) ** 2 for block in blocks if block.size)
            best = min(best, squares - captured)
    return float(max(best, 0.0))
