"""What a factorization says of every cell of the picture, and what it leaves.

With one loading in every row, or one component for every column, no two terms of an approximated
entry meet. So its square, and its product with the entry, are sums over groups of rows (or of
columns) of one cell and one label: a few hundred vectors, never a matrix of the size of the data.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array

from orthonmf.engine.matrix import Matrix
from orthonmf.factorization import Factorization
from orthonmf.numerics.arrays import Array
from orthonmf.numerics.vectors import divide

# So many numbers of sums or products are held at once.
MOST_NUMBERS = 2**23


@dataclass(frozen=True, slots=True, eq=False)
class Cells:
    """Rows and columns in groups: (n,) and (m,) the cell of each, and how many cells there are."""

    rows: Array
    columns: Array
    shape: tuple[int, int]


def approximate_cells(matrix: Matrix, result: Factorization, cells: Cells) -> Array:
    """Sums of the squared entries of ``loadings @ components`` over cells, in matrix units."""
    weights = np.square(np.asarray(result.components, dtype=np.float64))
    loadings = _loadings(matrix, result)
    squares = loadings.multiply(loadings) if hasattr(loadings, "multiply") else loadings**2
    down = indicator(cells.rows, cells.shape[0]).T @ squares
    across = indicator(cells.columns, cells.shape[1]).T @ weights.T
    down = down.toarray() if hasattr(down, "toarray") else np.asarray(down)
    return down @ np.asarray(across).T


def subtract_cells(
    matrix: Matrix, result: Factorization, cells: Cells, energies: Array, approximated: Array
) -> Array:
    """Sums of the squares of what is left of X over cells, from those of X and of its answer."""
    products = _products_by_rows if result.labels is not None else _products_by_columns
    left = energies - 2 * products(matrix, result, cells) + approximated
    # Where nearly everything is captured the difference is rounding of either sign.
    return np.where(left > 1e-12 * energies, left, 0.0)


def in_one_unit(matrix: Matrix) -> bool:
    """Whether no row and no column has a power of two of its own; else answers are not drawn."""
    return matrix.units.rows is None and matrix.units.columns is None


def _products_by_rows(matrix: Matrix, result: Factorization, cells: Cells) -> Array:
    """Sums over cells of entry times approximated entry, with one loading in every row."""
    assert result.labels is not None
    assert result.scales is not None
    scales = np.ldexp(np.asarray(result.scales, dtype=np.float64), -matrix.exponent)
    found = np.zeros(cells.shape)
    across = indicator(cells.columns, cells.shape[1])
    k, used = len(result.components), result.labels >= 0
    # Groups of rows of one cell and one component; their numbers follow the order of both.
    groups, numbers = np.unique(cells.rows[used] * k + result.labels[used], return_inverse=True)
    of_rows = np.full(len(used), -1)
    of_rows[used] = numbers
    for part in _batches(len(groups), matrix.shape[1]):
        inside = (of_rows >= part.start) & (of_rows < part.stop)
        labels = np.where(inside, of_rows - part.start, -1)
        sums = matrix.row_sums(labels, scales, part.stop - part.start)
        terms = sums * _unweigh(matrix, result.components[groups[part] % k])
        np.add.at(found, groups[part] // k, terms @ across)
    return found


def _products_by_columns(matrix: Matrix, result: Factorization, cells: Cells) -> Array:
    """The same with one component for every column."""
    assert result.feature_labels is not None
    loadings = _loadings(matrix, result)
    found = np.zeros(cells.shape)
    down = indicator(cells.rows, cells.shape[0])
    k, labels = len(result.components), result.feature_labels
    used = np.flatnonzero(labels >= 0)
    groups, numbers = np.unique(cells.columns[used] * k + labels[used], return_inverse=True)
    weights = _unweigh(matrix, result.components)[labels[used], used]
    for part in _batches(len(groups), max(matrix.shape)):
        inside = (numbers >= part.start) & (numbers < part.stop)
        directions = np.zeros((part.stop - part.start, matrix.shape[1]))
        directions[numbers[inside] - part.start, used[inside]] = weights[inside]
        products = matrix.products(directions) * loadings[:, groups[part] % k]
        np.add.at(found.T, groups[part] // k, (down.T @ products).T)
    return found


def _loadings(matrix: Matrix, result: Factorization) -> csr_array | Array:
    """Loadings (n, k) in float64 and matrix units."""
    loadings = result.loadings
    if isinstance(loadings, np.ndarray):
        return np.ldexp(loadings.astype(np.float64), -matrix.exponent)
    scaled = csr_array(loadings, dtype=np.float64, copy=True)
    scaled.data = np.ldexp(scaled.data, -matrix.exponent)
    return scaled


def _unweigh(matrix: Matrix, vectors: Array) -> Array:
    """Vectors (c, m) for products with rows that have column factors, which are taken out."""
    vectors = np.asarray(vectors, dtype=np.float64)
    return vectors if matrix.column_factors is None else divide(vectors, matrix.column_factors)


def indicator(groups: Array, count: int) -> csr_array:
    """(size, count) which group everyone is in."""
    size = len(groups)
    return csr_array((np.ones(size), groups, np.arange(size + 1)), shape=(size, count))


def _batches(n_groups: int, length: int) -> list[slice]:
    """Slices of groups whose vectors of this length fit into memory."""
    size = max(1, MOST_NUMBERS // max(1, length))
    return [slice(at, min(at + size, n_groups)) for at in range(0, n_groups, size)]
