"""A matrix seen through groups of its columns or rows: few numbers for every point.

Groups that share no point make the product with the whole matrix cost O(entries) whatever their
number, and what comes out is a matrix of its own, in memory, with few columns.
"""

from __future__ import annotations

import numpy as np

from orthonmf.engine.first_look import Scan
from orthonmf.engine.matrix import Matrix
from orthonmf.engine.placement import on_host
from orthonmf.engine.points import Samples
from orthonmf.engine.sources import in_memory
from orthonmf.typing import Array
from orthonmf.vectors import divide, square_lengths


def compress_columns(matrix: Matrix, groups: Array) -> Samples:
    """The rows of Y seen through groups of columns (l, m) that share none, in one read.

    Row i has the coordinates ``<y_i, group>``, (n, l), and the weight that it has in the matrix.
    """
    rows = on_host(matrix.products(groups))
    return as_points(matrix, rows, matrix.row_weights)


def compress_rows(matrix: Matrix, sums: Array, energies: Array) -> Samples:
    """The columns of Y seen through groups of rows, without a read.

    The rows of a group have scales: ``sums`` (k, m) are those of scale times row, ``energies`` (k,)
    the weighted ones of the squared scales. Column j has the coordinates ``<y_j, unit group>``.
    """
    seen = divide(sums, np.sqrt(np.maximum(energies, 0.0))[:, None])
    return as_points(matrix, seen.T)


def as_points(matrix: Matrix, rows: Array, row_weights: Array | None = None) -> Samples:
    """Rows (N, c), computed from a matrix, as points for the same executor."""
    rows = np.ascontiguousarray(rows)
    scanned = Scan(square_lengths(rows), row_weights=row_weights)
    return Samples(Matrix(in_memory(rows), matrix.executor, scanned))
