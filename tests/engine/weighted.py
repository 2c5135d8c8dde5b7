"""Matrices at every scale with weights of every size, and what each is worth in plain numbers."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from orthonmf.engine.matrix import Matrix
from orthonmf.inputs.data import as_matrix

STORES = {"dense": np.asarray, "sparse": csr_array}


@dataclass(frozen=True)
class Case:
    """How rows, columns and their weights are scaled: Y is the same up to one power of two.

    The spread goes to entries of single rows (or columns), and its inverse to their weights.
    """

    power: int = 0  # of two, of all entries
    weighted_rows: bool = False
    weighted_columns: bool = False
    spread_rows: int = 0
    spread_columns: int = 0
    dtype: type = np.float64


CASES = {
    "plain": Case(),
    "weighted": Case(weighted_rows=True, weighted_columns=True),
    "tiny": Case(-900),
    "huge, weighted": Case(900, weighted_rows=True, weighted_columns=True),
    "rows of every size": Case(0, True, False, spread_rows=90),
    "columns of every size": Case(0, False, True, spread_columns=90),
    "both of every size": Case(300, True, True, 90, 90),
    "float32": Case(-100, weighted_rows=True, dtype=np.float32),
    "float32, rows of every size": Case(0, True, True, spread_rows=95, dtype=np.float32),
}


@dataclass(frozen=True)
class Example:
    """A matrix of the engine, and the same in plain numbers."""

    matrix: Matrix
    X: Any  # (n, m) as it was stored
    base: np.ndarray  # (n, m) entries at scale 1, float64
    rows: np.ndarray  # (n,) weights at scale 1
    columns: np.ndarray  # (m,)
    powers: tuple[np.ndarray, np.ndarray]  # X is base * 2**(powers[0] + powers[1])
    power: int  # of two, that Y in units of the matrix is to be multiplied with

    @property
    def Y(self) -> np.ndarray:
        """The weighted matrix at scale 1."""
        return np.sqrt(self.rows)[:, None] * self.base * np.sqrt(self.columns)

    @property
    def Y_in_units(self) -> np.ndarray:
        """The weighted matrix in the units of the matrix."""
        return np.ldexp(self.Y, -self.power)

    @property
    def row_roots(self) -> np.ndarray:
        """(n,) what an unweighted row of Y is to be multiplied with."""
        weights = self.matrix.row_weights
        return np.ones(len(self.base)) if weights is None else np.sqrt(weights)


def some_numbers(n: int = 23, m: int = 7, seed: int = 0) -> np.ndarray:
    """Non-negative numbers with empty rows and an empty column; exact in float32."""
    rng = np.random.default_rng(seed)
    X = rng.exponential(size=(n, m)) * (rng.random((n, m)) < 0.6)
    X[[3, n - 1]] = 0.0
    X[:, 2] = 0.0
    return X.astype(np.float32).astype(np.float64)


def spread(size: int, most: int, seed: int) -> np.ndarray:
    """Powers of two from -most to most."""
    return np.random.default_rng(seed).integers(-most, most + 1, size=size)


def make(case: Case, store: Any = np.asarray, base: Any = None, **options: Any) -> Example:
    """The example of a case; one row and one column in use have weight 0 where there are any."""
    base = some_numbers() if base is None else base
    n, m = base.shape
    rng = np.random.default_rng(1)
    rows = rng.integers(1, 9, size=n) / 8 if case.weighted_rows else np.ones(n)
    columns = rng.integers(1, 9, size=m) / 8 if case.weighted_columns else np.ones(m)
    if case.weighted_rows and n > 5:
        rows[5] = 0.0
    if case.weighted_columns and m > 4:
        columns[4] = 0.0
    down, across = spread(n, case.spread_rows, 2), spread(m, case.spread_columns, 3)
    X = np.ldexp(base, case.power + down[:, None] + across).astype(case.dtype)
    matrix = as_matrix(
        store(X),
        sample_weight=np.ldexp(rows, -2 * down) if case.weighted_rows else None,
        feature_weight=np.ldexp(columns, -2 * across) if case.weighted_columns else None,
        **options,
    )
    # A length of 1 in units of the matrix is this one in those of X.
    power = int(np.frexp(matrix.in_units_of_x(1.0))[1]) - 1 - case.power
    return Example(matrix, X, base, rows, columns, (case.power + down, across), power)
