"""Which of several directions with disjoint supports captures most of a row."""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_array

from orthonmf.engine.segments import first_largest
from orthonmf.typing import Array
from orthonmf.vectors import divide

ENTRIES_PER_BLOCK = 1 << 22


def capture_rows(rows: Array | csr_array, directions: Array | csr_array) -> tuple[Array, Array]:
    """Give every row to the direction that captures most of it, with the best scale.

    Row x goes to the direction a with the largest ``<x, a> / |a|`` (the lowest of equals) and gets
    the scale ``<x, a> / |a|^2``. No other choice of label and scale leaves a smaller error.

    Parameters
    ----------
    rows
        (n, m) non-negative, dense or CSR.
    directions
        (k, m) non-negative, dense or CSR, no two with a common coordinate; may have zero rows.

    Returns
    -------
    labels, scales
        (n,) each; label -1 and scale 0 where no direction meets the row.
    """
    directions = csr_array(directions)
    squares = np.asarray(directions.multiply(directions).sum(axis=1), dtype=np.float64)
    inverse = divide(np.ones_like(squares), np.sqrt(squares))
    labels = np.full(rows.shape[0], -1, dtype=np.int64)
    captured = np.zeros(rows.shape[0])
    if isinstance(rows, np.ndarray):
        step = max(1, ENTRIES_PER_BLOCK // max(1, directions.shape[0])) if len(squares) else 0
        for start in range(0, len(rows) if step else 0, step or 1):
            products = (rows[start : start + step] @ directions.T) * inverse
            best = products.argmax(axis=1)
            captured[start : start + step] = products[np.arange(len(best)), best]
            labels[start : start + step] = best
    else:
        products = (csr_array(rows) @ directions.T).tocsr()
        products.sort_indices()
        scores = products.data * inverse[products.indices]
        met, positions = first_largest(products.indptr, scores)
        labels[met], captured[met] = products.indices[positions], scores[positions]
    labels[captured <= 0.0] = -1
    scales = np.where(labels >= 0, captured * np.r_[inverse, 0.0][labels], 0.0)
    return labels, scales
