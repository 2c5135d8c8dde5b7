"""Bad squares drawn at random through given entries of a 0/1 matrix."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array

from orthonmf.correlation_clustering.blocks import entry_rows, transpose
from orthonmf.numerics.arrays import Array


@dataclass(frozen=True, slots=True)
class Squares:
    """2 x 2 submatrices: rows i, j and columns h, g, each (p,)."""

    i: Array
    j: Array
    h: Array
    g: Array

    def __getitem__(self, chosen: Array) -> Squares:
        return Squares(self.i[chosen], self.j[chosen], self.h[chosen], self.g[chosen])

    def keys(self, n_columns: int) -> Array:
        """The keys of the four entries, (p, 4), that of (i, h) first."""
        rows = np.stack((self.i, self.i, self.j, self.j), axis=1).astype(np.int64)
        columns = np.stack((self.h, self.g, self.h, self.g), axis=1)
        return rows * n_columns + columns


def number_entries(matrix: csr_array) -> Array:
    """The keys of the ones of a 0/1 matrix, (nnz,), sorted where its indices are."""
    return entry_rows(matrix).astype(np.int64) * matrix.shape[1] + matrix.indices


class BinaryEntries:
    """The ones of a 0/1 matrix, for looking up entries and walking along them."""

    def __init__(self, matrix: csr_array) -> None:
        self.shape = matrix.shape
        self.by_row = matrix
        self.by_column = transpose(matrix)
        self.keys = number_entries(matrix)

    def are_ones(self, keys: Array) -> Array:
        """Whether each entry is a one."""
        return contains(self.keys, keys)

    def draw_squares(self, keys: Array, rng: np.random.Generator) -> Squares:
        """Draw one square through each entry, with three ones for certain but for the last.

        The ones of a bad square are a path of three edges. Through a one, the path is drawn with
        the entry at its middle or at an end; through a zero, a one of its row and one of its
        column are drawn. The fourth entry is left to chance: `are_bad` says which squares came
        out right.
        """
        i, h = np.divmod(keys, self.shape[1])
        # Shape 0 continues the path at both ends of the entry, 1 and 2 at one end twice.
        shape = np.where(self.are_ones(keys), rng.integers(3, size=len(keys)), 0)
        j, g = _draw_ones(self.by_column, h, rng), _draw_ones(self.by_row, i, rng)
        further_g = _draw_ones(self.by_row, j, rng)
        further_j = _draw_ones(self.by_column, g, rng)
        return Squares(i, np.where(shape == 2, further_j, j), h, np.where(shape == 1, further_g, g))

    def are_bad(self, squares: Squares) -> Array:
        """Which squares have two rows, two columns and exactly three ones."""
        proper = (squares.j >= 0) & (squares.g >= 0)
        proper &= (squares.i != squares.j) & (squares.h != squares.g)
        where = np.flatnonzero(proper)
        ones = self.are_ones(squares[where].keys(self.shape[1]).ravel()).reshape(-1, 4)
        proper[where[ones.sum(axis=1) != 3]] = False
        return proper


def contains(sorted_keys: Array, keys: Array) -> Array:
    """Whether each key is among ``sorted_keys``."""
    if len(sorted_keys) == 0:
        return np.zeros(keys.shape, dtype=bool)
    positions = np.searchsorted(sorted_keys, keys)
    return sorted_keys[np.minimum(positions, len(sorted_keys) - 1)] == keys


def _draw_ones(matrix: csr_array, rows: Array, rng: np.random.Generator) -> Array:
    """A random one of every row; -1 where the row is -1 or empty."""
    starts = matrix.indptr[rows].astype(np.int64)
    degrees = np.where(rows >= 0, matrix.indptr[rows + 1] - starts, 0)
    picks = starts + (rng.random(len(rows)) * degrees).astype(np.int64)
    found = np.full(len(rows), -1, dtype=np.int64)
    present = degrees > 0
    found[present] = matrix.indices[picks[present]]
    return found
