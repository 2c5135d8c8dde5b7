"""Shuffled copies of a matrix: the same numbers without the structure between columns."""

from __future__ import annotations

import numpy as np
from scipy.sparse import csc_array, csr_array

from orthonmf.typing import Array


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
