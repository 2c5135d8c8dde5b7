"""The fewest disagreements of a bipartite graph, in two ways, and all its bad squares."""

from collections.abc import Iterable
from itertools import combinations, permutations, product

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


def bad_squares(M: np.ndarray) -> set[frozenset[int]]:
    """The sets of keys of all 2 x 2 submatrices with exactly three ones."""
    n, m = M.shape
    pairs = [(r, c) for r in combinations(range(n), 2) for c in combinations(range(m), 2)]
    squares = ((np.ix_(r, c), frozenset(i * m + h for i in r for h in c)) for r, c in pairs)
    return {keys for place, keys in squares if M[place].sum() == 3}


def largest_packing(squares: Iterable[frozenset[int]]) -> int:
    """The most squares that share no entry, by trying every choice."""
    squares = sorted(squares, key=sorted)
    if not squares:
        return 0
    first, others = squares[0], squares[1:]
    with_it = 1 + largest_packing([one for one in others if not one & first])
    return max(with_it, largest_packing(others))
