"""Copies of X in memory that are fitted again: scaled, shuffled, or split in two.

A plain fit of a scaled copy costs less than a fit with weights of columns, which every pass would
fold into its products. A shuffled copy holds the same numbers without the structure between
columns. Halves of Poisson counts are independent ones with half the mean.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import csc_array, csr_array, issparse

from orthonmf.engine.matrix import Matrix
from orthonmf.engine.sources import MOST_BYTES_TO_COPY, stack
from orthonmf.typing import Array

# Whole numbers above are not all float64.
LARGEST = 2.0**53


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
    n, m = matrix.shape
    columns = {"column_scales": np.ones(m) if column_factors is None else column_factors}
    rows = {"row_scales": np.ones(n) if row_factors is None else row_factors}
    blocks: list[Any] = []

    def absorb(part: slice, block: Any) -> None:
        blocks.append(block.astype(matrix.pass_dtype, copy=False))

    matrix.fold("multiply", columns, rows, absorb=absorb, gaps=True)
    return stack(blocks)


def permute_columns(rows: Array | csr_array, rng: np.random.Generator) -> Array | csr_array:
    """A copy in which the entries of every column are in random order, each column by itself."""
    if isinstance(rows, np.ndarray):
        return rng.permuted(rows, axis=0)
    columns = csc_array(rows)
    n = rows.shape[0]
    places = [
        rng.choice(n, size=int(count), replace=False, shuffle=False)
        for count in np.diff(columns.indptr)
    ]
    indices = np.concatenate(places) if places else columns.indices
    values = columns.data.copy()
    for start, stop in zip(columns.indptr[:-1], columns.indptr[1:], strict=True):
        rng.shuffle(values[start:stop])
    return csr_array(csc_array((values, indices, columns.indptr), shape=rows.shape))


def can_split(data: Any) -> bool:
    """Whether all entries are whole numbers, which can be counted out into two halves."""
    values = data.data if issparse(data) else data
    return bool((values == np.floor(values)).all() and values.max(initial=0) <= LARGEST)


def split_counts(data: Any, rng: np.random.Generator) -> tuple[Any, Any]:
    """Two halves that add up to the data, an array or CSR array of whole numbers.

    Every single count goes to either half by the toss of a coin (Poisson thinning).
    """
    values = data.data if issparse(data) else data
    first = rng.binomial(values.astype(np.int64), 0.5).astype(values.dtype)
    if not issparse(data):
        return first, data - first
    halves = tuple(
        csr_array((half, data.indices, data.indptr), shape=data.shape, copy=True)
        for half in (first, values - first)
    )
    for half in halves:
        half.eliminate_zeros()
    return halves
