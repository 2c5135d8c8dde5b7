"""The best masked single-factor error, by trying every partition and many rank-one fits."""

from functools import cache

import numpy as np

from tests.oracles.partitions import Group, group_sets


def rank_one_error(block: np.ndarray, rng: np.random.Generator, starts: int = 8) -> float:
    """The least squared error over observed entries of a rank-one fit, by many alternations."""
    observed = ~np.isnan(block)
    filled = np.where(observed, block, 0.0)
    right = rng.exponential(size=(starts, block.shape[1]))
    for _ in range(150):
        left = _ratio(right @ filled.T, right**2 @ observed.T)
        right = _ratio(left @ filled, left**2 @ observed)
    fitted = left[:, :, None] * right[:, None, :] * observed
    errors = np.sum((filled - fitted) ** 2, axis=(1, 2))
    return float(min(np.sum(filled**2), errors.min()))


def _ratio(numerator: np.ndarray, denominator: np.ndarray) -> np.ndarray:
    return np.divide(numerator, denominator, out=np.zeros_like(numerator), where=denominator > 0)


def best_masked_error(X: np.ndarray, k: int, rng: np.random.Generator) -> float:
    """The least squared error over all ways to give every row of X to one of k components."""

    @cache  # the same group is part of many partitions
    def error(group: Group) -> float:
        return rank_one_error(X[list(group)], rng)

    return min(sum(map(error, groups)) for groups in group_sets(len(X), k))
