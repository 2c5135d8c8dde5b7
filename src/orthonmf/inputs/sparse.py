"""Sparse matrices of any kind become CSR; SciPy checks that their indices lie within them."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import bsr_array, coo_array, csc_array, csr_array, dia_array

from orthonmf.errors import InvalidInputError
from orthonmf.inputs.arrays import check_dimensions, refuse_dtype

CONTAINERS = {"csc": csc_array, "bsr": bsr_array, "coo": coo_array, "dia": dia_array}


def as_csr(X: Any) -> csr_array:
    """A CSR array of a sparse matrix, sorted and without duplicates; the input is never modified.

    Structure comes before all else: a corrupt index would make every later step read foreign
    memory.
    """
    check_dimensions(X.shape)
    refuse_dtype(X.dtype)
    rows = as_checked_csr(X)
    if not rows.has_canonical_format:
        rows = rows.copy()
        rows.sum_duplicates()
    return rows


def as_checked_csr(X: Any) -> csr_array:
    """The (n, m) CSR array of a SciPy sparse matrix or array; X is never modified.

    Parts are shared where X is CSR. Entries stored twice are left as they are.
    """
    try:
        matrix = CONTAINERS.get(X.format, csr_array)(X)  # without indptr checked when it is made
        if hasattr(matrix, "indptr"):
            # SciPy's own check looks no further when the last entry of indptr is 0.
            if np.any(matrix.indptr[1:] < matrix.indptr[:-1]):
                raise ValueError("indptr must not decrease")
            matrix.check_format(full_check=True)
        return csr_array(matrix)
    except (ValueError, IndexError, TypeError, ArithmeticError, AttributeError) as error:
        raise InvalidInputError(f"the sparse structure of X is corrupt: {error}") from error
