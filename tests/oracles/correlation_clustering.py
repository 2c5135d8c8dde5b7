"""The fewest disagreements of a bipartite correlation clustering, in two independent ways."""

from itertools import permutations, product

import numpy as np
from scipy.optimize import Bounds, LinearConstraint, milp

from tests.oracles.partitions import partitions


def fewest_disagreements(M: np.ndarray) -> int:
    """Try every partition of the rows; every column then picks its best group, or none."""
    M = np.asarray(M, dtype=int)
    best = int(M.sum())
    for labels in partitions(len(M), len(M)):
        groups = labels == np.arange(labels.max() + 1)[:, None]
        # Joining a group removes its ones from the cost and adds its zeros.
        change = groups.sum(axis=1)[:, None] - 2 * (groups @ M)
        best = min(best, int(M.sum() + np.minimum(change.min(axis=0), 0).sum()))
    return best


def fewest_disagreements_by_ilp(M: np.ndarray) -> int:
    """Solve the integer program: x_uv = 1 when u and v are together.

    Three of the four pairs of a square together put the fourth together; 0/1 solutions of these
    inequalities are exactly the unions of disjoint complete bipartite graphs.
    """
    M = np.asarray(M, dtype=int)
    n, m = M.shape
    inequalities = []
    for (u, w), (v, z) in product(permutations(range(n), 2), permutations(range(m), 2)):
        row = np.zeros((n, m))
        row[u, v] = row[u, z] = row[w, z] = 1.0
        row[w, v] = -1.0
        inequalities.append(row.ravel())
    constraints = LinearConstraint(np.array(inequalities), ub=2.0) if inequalities else None
    solution = milp(
        c=(1 - 2 * M).ravel(),
        integrality=np.ones(n * m),
        bounds=Bounds(0, 1),
        constraints=constraints,
    )
    return round(M.sum() + solution.fun)


def disagreements(M: np.ndarray, row_labels: np.ndarray, column_labels: np.ndarray) -> int:
    """Count the entries that differ from the block matrix of the labels."""
    return int(np.sum(np.asarray(M, dtype=int) != (row_labels[:, None] == column_labels[None, :])))
