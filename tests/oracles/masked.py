"""The best masked single-factor error, by trying every partition and many rank-one fits."""

import numpy as np

from tests.oracles.partitions import partitions


def rank_one_error(block: np.ndarray, rng: np.random.Generator, starts: int = 8) -> float:
    """The least squared error over observed entries of a rank-one fit, by many alternations."""
    observed = ~np.isnan(block)
    filled = np.where(observed, block, 0.0)
    best = float(np.sum(filled**2))
    for _ in range(starts):
        right = rng.exponential(size=block.shape[1])
        for _ in range(150):
            left = _ratio(filled @ right, observed @ right**2)
            right = _ratio(left @ filled, left**2 @ observed)
        fitted = np.where(observed, np.outer(left, right), 0.0)
        best = min(best, float(np.sum((filled - fitted) ** 2)))
    return best


def _ratio(numerator: np.ndarray, denominator: np.ndarray) -> np.ndarray:
    return np.divide(numerator, denominator, out=np.zeros_like(numerator), where=denominator > 0)


def best_masked_error(X: np.ndarray, k: int, rng: np.random.Generator) -> float:
    """The least squared error over all ways to give every row of X to one of k components."""
    cache: dict[tuple[int, ...], float] = {}

    def cost(members: tuple[int, ...]) -> float:
        if members not in cache:
            cache[members] = rank_one_error(X[list(members)], rng)
        return cache[members]

    return min(
        sum(cost(tuple(np.flatnonzero(labels == group))) for group in np.unique(labels))
        for labels in partitions(len(X), k)
    )
