"""Small non-negative matrices on which a careless lower bound goes wrong, and honest gauges."""

from collections.abc import Iterator

import numpy as np


def small_matrices(rng: np.random.Generator, n: int, m: int, count: int) -> Iterator[np.ndarray]:
    """Yield ``count`` matrices (n, m) of every kind in turn."""
    for number in range(count):
        yield KINDS[number % len(KINDS)](rng, n, m)


def tiny_matrix(seed: int, shape: tuple[int, int] = (6, 3)) -> np.ndarray:
    """A matrix of any skew with some zeros, small enough for all partitions."""
    rng = np.random.default_rng(seed)
    X = rng.exponential(size=shape) ** rng.choice([0.5, 1.0, 3.0])
    X[rng.random(shape) < rng.choice([0.0, 0.3, 0.6])] = 0.0
    X[0, 0] = 1.0
    return X


def factorizable(rng: np.random.Generator, n: int, m: int, k: int) -> np.ndarray:
    """An integer matrix that k components fit exactly, parts disjoint over the rows."""
    components = rng.integers(0, 30, (k, m)).astype(float)
    return rng.integers(1, 30, n)[:, None] * components[rng.integers(k, size=n)]


def block_diagonal(rng: np.random.Generator, n: int, m: int, k: int) -> np.ndarray:
    """An integer matrix that k blocks, disjoint in rows and columns, fit exactly."""
    product = np.outer(rng.integers(1, 30, n), rng.integers(1, 30, m)).astype(float)
    return product * (rng.integers(k, size=n)[:, None] == rng.integers(k, size=m))


def worst_computed_gram(X: np.ndarray, inner_length: int) -> np.ndarray:
    """The Gram matrix of the rows as the unluckiest sums of that length might compute it.

    Rounding up the diagonal and down the rest raises the trace and lowers the eigenvalues.
    """
    reach = 0.99 * inner_length * 2.0**-53
    gram = X @ X.T
    return gram * np.where(np.eye(len(gram)) > 0.0, 1.0 + reach, 1.0 - reach)


def at_most(bound: float, optimum: float, total: float) -> bool:
    """Whether ``bound <= optimum``, up to the rounding of an optimum made of singular values.

    A computed singular value is off by some units of rounding of the largest, so the optimum,
    a sum of their squares, is known to that accuracy in its square root.
    """
    return bound <= (np.sqrt(optimum) + 1e-14 * np.sqrt(total)) ** 2


def _random(rng, n, m):
    return rng.exponential(size=(n, m))


def _integers(rng, n, m):
    return rng.integers(0, 4, (n, m)).astype(float)


def _spread_columns(rng, n, m):
    return rng.random((n, m)) * 10.0 ** rng.uniform(-8, 8, m)


def _spread_rows(rng, n, m):
    return rng.random((n, m)) * 10.0 ** rng.uniform(-8, 8, n)[:, None]


def _float32(rng, n, m):
    return rng.random((n, m)).astype(np.float32).astype(float)


def _equal_singular_values(rng, n, m):
    ones = np.zeros((n, m))
    ones[np.arange(n), rng.permutation(max(n, m))[:n] % m] = 1.0
    return ones


def _zero_rows(rng, n, m):
    return rng.random((n, m)) * (rng.random(n) < 0.6)[:, None]


def _low_rank(rng, n, m):
    return rng.random((n, 2)) @ rng.random((2, m))


def _almost_factorizable(rng, n, m):
    return factorizable(rng, n, m, 2) * (1.0 + 1e-7 * rng.random((n, m)))


def _huge_or_tiny(rng, n, m):
    return rng.random((n, m)) * 2.0 ** int(rng.choice([-500, -200, 200, 500]))


KINDS = (
    _random,
    _integers,
    _spread_columns,
    _spread_rows,
    _float32,
    _equal_singular_values,
    _zero_rows,
    _low_rank,
    _almost_factorizable,
    _huge_or_tiny,
)
