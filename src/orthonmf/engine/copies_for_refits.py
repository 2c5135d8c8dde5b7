"""Copies of X with rows and columns multiplied: how data in memory are fitted under other weights.

A plain fit of such a copy costs less than a fit with weights of columns, which every pass would
fold into its products.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from orthonmf.engine.matrix import Matrix
from orthonmf.engine.sources import MOST_BYTES_TO_COPY, block_rows, stack
from orthonmf.typing import Array


def can_be_scaled(matrix: Matrix) -> bool:
    """Whether X lies in the memory of the host, so that scaled copies of it can be made."""
    return matrix.source.in_memory and not matrix.source.kernel.on_device


def is_small(matrix: Matrix) -> bool:
    """Whether several scaled copies may be there at once; the data alone tell."""
    bytes_of_entry = matrix.dtype.itemsize + (8 if matrix.source.kernel.sparse else 0)
    return can_be_scaled(matrix) and matrix.n_entries * bytes_of_entry <= MOST_BYTES_TO_COPY


def scaled_copy(
    matrix: Matrix, row_factors: Array | None = None, column_factors: Array | None = None
) -> Any:
    """X / 2**exponent, rows times (n,) and columns times (m,) factors: an array or CSR array.

    In the dtype of the passes, without the weights of the matrix, missing entries missing.
    """
    source, (n, m) = matrix.source, matrix.shape
    by_row = np.ones(n) if row_factors is None else row_factors
    by_column = np.ones(m) if column_factors is None else column_factors
    blocks = []
    for index in range(len(source.boundaries) - 1):
        rows = source.kernel.scale(source.block(index), matrix.exponent)
        multiplied = source.kernel.multiply(rows, by_row[block_rows(source, index)], by_column)
        blocks.append(multiplied.astype(rows.dtype, copy=False))
    return stack(blocks)
