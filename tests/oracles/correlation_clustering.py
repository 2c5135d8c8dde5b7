"""The fewest disagreements of a bipartite graph, and the average of random pivots."""

from functools import cache
from itertools import product

import numpy as np

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


def disagreements(M: np.ndarray, row_labels: np.ndarray, column_labels: np.ndarray) -> int:
    """Count the entries that differ from the block matrix of the labels."""
    return int(np.sum(np.asarray(M, dtype=int) != (row_labels[:, None] == column_labels[None, :])))


def expected_pivot_disagreements(M: np.ndarray) -> float:
    """The average cost of PivotBiCluster with pivots among the rows, over all its random choices.

    As published: a random row opens a cluster with its columns. Every other row, with s of these, b
    further columns and a of the pivot's missing, decides with the chance min(1, s / b): it joins if
    s >= a, else it is alone. Otherwise it stays in play.
    """
    M = np.asarray(M, dtype=bool)

    @cache
    def average(rows: frozenset[int], columns: frozenset[int]) -> float:
        if not rows:
            return 0.0
        return sum(after(rows, columns, pivot) for pivot in rows) / len(rows)

    def after(rows: frozenset[int], columns: frozenset[int], pivot: int) -> float:
        taken = frozenset(h for h in columns if M[pivot, h])
        left, others = columns - taken, sorted(rows - {pivot})
        shared = {i: sum(M[i, h] for h in taken) for i in others}
        beyond = {i: sum(M[i, h] for h in left) for i in others}
        chances = {i: min(1.0, shared[i] / beyond[i]) if beyond[i] else 1.0 for i in others}
        chances = {i: chances[i] if shared[i] else 0.0 for i in others}
        total = 0.0
        for decides in product([True, False], repeat=len(others)):
            chance, cost, staying = 1.0, 0, set()
            for i, decided in zip(others, decides, strict=True):
                chance *= chances[i] if decided else 1.0 - chances[i]
                missing = len(taken) - shared[i]
                if not decided:
                    staying.add(i)
                    cost += shared[i]
                elif shared[i] >= missing:
                    cost += missing + beyond[i]
                else:
                    cost += shared[i] + beyond[i]
            if chance:
                total += chance * (cost + average(frozenset(staying), left))
        return total

    return average(frozenset(range(len(M))), frozenset(range(M.shape[1])))
