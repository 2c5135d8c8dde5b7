"""Copies of X with rows and columns multiplied: how data in memory are fitted under other weights.

A plain fit of such a copy costs less than a fit with weights of columns, which every pass would
fold into its products.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import csr_array

from orthonmf.engine.kernels.sparse import with_values
from orthonmf.engine.matrix import Matrix
from orthonmf.engine.sources import MOST_BYTES_TO_COPY, stack
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
    source, blocks = matrix.source_as_given, []
    for index in range(len(source.boundaries) - 1):
        span = slice(int(source.boundaries[index]), int(source.boundaries[index + 1]))
        rows = source.kernel.scale(source.block(index), matrix.exponent)
        factors = None if row_factors is None else row_factors[span]
        blocks.append(_multiply(rows, factors, column_factors))
    return stack(blocks)


def _multiply(rows: Any, row_factors: Array | None, column_factors: Array | None) -> Any:
    """A block (b, m) with its rows and columns multiplied, in its dtype."""
    if isinstance(rows, csr_array):
        values = rows.data
        if row_factors is not None:
            values = values * np.repeat(row_factors, np.diff(rows.indptr))
        if column_factors is not None:
            values = values * column_factors[rows.indices]
        return with_values(rows, values.astype(rows.dtype, copy=False))
    scaled = rows
    if row_factors is not None:
        scaled = scaled * row_factors[:, None]
    if column_factors is not None:
        scaled = scaled * column_factors
    return scaled.astype(rows.dtype, copy=False)
