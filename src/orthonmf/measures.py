"""How good a factorization M ~ A W is: its errors, and how far its rows are from orthogonal.

Everything here is in the paper's orientation: M is m x n, A is m x k, W is k x n. None of these
functions forms a dense m x n array from sparse input, and none loses a small error to
cancellation.

>>> import orthonmf
>>> orthonmf.measures.non_orthogonality([[1.0, 1.0], [1.0, 1.0]]).__round__(3)
1.414
"""

from typing import Any

import numpy as np
from scipy import sparse

from orthonmf.engine.segments import slices
from orthonmf.inputs.sparse import as_checked_csr
from orthonmf.typing import Array
from orthonmf.vectors import divide

# |M - AW|^2 = |M|^2 - 2<M, AW> + |AW|^2 is computed with an error of a few roundings of |M|^2.
# Below this share of |M|^2 the residual itself is formed, block by block, and its squares summed.
CANCELLATION = 1e-8

# Entries of a residual block that are held at once: 16 MiB of float64.
BLOCK_ENTRIES = 1 << 21

# Within these powers of two the squares of entries, and sums of many of them, stay in range.
SAFE_EXPONENT = 300


def recovery_error(M_truth: Any, A: Any, W: Any) -> float:
    """Return the Frobenius norm of M_truth - A W, the distance to the planted matrix (m x n).

    Examples
    --------
    >>> import orthonmf
    >>> planted = orthonmf.datasets.make_planted(8, 5, 2, noise=0.0, random_state=0)
    >>> orthonmf.measures.recovery_error(planted.M_truth, planted.A_truth, planted.W_truth) < 1e-12
    True
    """
    return reconstruction_error(M_truth, A, W)


def reconstruction_error(M: Any, A: Any, W: Any) -> float:
    """Return the Frobenius norm of M - A W.

    M (m x n), A (m x k) and W (k x n) may each be dense or sparse.

    Examples
    --------
    >>> import numpy as np
    >>> import orthonmf
    >>> orthonmf.measures.reconstruction_error(np.eye(2), [[1.0], [0.0]], [[1.0, 0.0]])
    1.0
    """
    M, A, W, exponent = _scale(M, A, W)
    return float(np.ldexp(np.sqrt(_squared_residual(M, A, W)), exponent))


def relative_squared_error(M: Any, A: Any, W: Any) -> float:
    """Return ``|M - A W|_F^2 / |M|_F^2``, and 0 when both M and A W are zero.

    M (m x n), A (m x k) and W (k x n) may each be dense or sparse. For a zero M and a
    non-zero product the ratio is infinite.

    Examples
    --------
    >>> import numpy as np
    >>> import orthonmf
    >>> orthonmf.measures.relative_squared_error(np.eye(2), [[1.0], [0.0]], [[1.0, 0.0]])
    0.5
    """
    M, A, W, _ = _scale(M, A, W)
    squared_norm, squared_residual = _squared_norm(M), _squared_residual(M, A, W)
    if squared_norm > 0:
        return float(squared_residual / squared_norm)
    return 0.0 if squared_residual == 0 else float("inf")


def non_orthogonality(W: Any) -> float:
    """Return ``|W' W'^T - I|_F``, where W' holds the non-zero rows of W with length one.

    W is k x n, dense or sparse. Rows of disjoint supports give exactly 0.0: a row of length one
    has an inner product of exactly 1 with itself, so the diagonal is taken as such.

    Examples
    --------
    >>> import orthonmf
    >>> orthonmf.measures.non_orthogonality([[1.0, 2.0, 0.0], [0.0, 0.0, 3.0]])
    0.0
    """
    W = _as_matrix(W)
    if 0 in W.shape:
        return 0.0
    # Dividing by the largest entry first keeps the squares of tiny and huge rows in range.
    rows = _divide_rows(W, _dense(abs(W).max(axis=1)).ravel())
    squares = rows.multiply(rows) if sparse.issparse(rows) else np.square(rows)
    rows = _divide_rows(rows, np.sqrt(np.asarray(squares.sum(axis=1)).ravel()))
    gram = _dense(rows @ rows.T)
    np.fill_diagonal(gram, 0.0)
    return float(np.linalg.norm(gram))


def _scale(M: Any, A: Any, W: Any) -> tuple[Any, Array, Array, int]:
    """Bring M and A into the range where squares are safe, by an exact power of two.

    The exponent is returned so that a norm can be scaled back. A and W, which become dense, are
    balanced against each other first, since only their product has a scale of its own. In the
    ordinary range M is not copied.
    """
    M, A, W = _as_matrix(M), _dense(_as_matrix(A)), _dense(_as_matrix(W))
    if M.shape != (A.shape[0], W.shape[1]) or A.shape[1] != W.shape[0]:
        raise ValueError(
            f"Shapes do not fit: M is {M.shape}, A is {A.shape} and W is {W.shape}; "
            "needed are m x n, m x k and k x n."
        )
    w_exponent = _exponent(W)
    if abs(w_exponent) > SAFE_EXPONENT:
        W, A = np.ldexp(W, -w_exponent), np.ldexp(A, w_exponent)
    exponent = max(_exponent(_entries(M)), _exponent(A))
    if abs(exponent) <= SAFE_EXPONENT:
        return M, A, W, 0
    scaled = np.ldexp(_entries(M), -exponent)
    if sparse.issparse(M):
        scaled = sparse.csr_array((scaled, M.indices, M.indptr), shape=M.shape)
    return scaled, np.ldexp(A, -exponent), W, exponent


def _as_matrix(values: Any) -> Any:
    if sparse.issparse(values):
        return as_checked_csr(values).astype(np.float64, copy=False)
    array = np.asarray(values, dtype=np.float64)
    if array.ndim != 2:
        raise ValueError(f"A matrix with 2 dimensions is needed, this has {array.ndim}.")
    return array


def _divide_rows(rows: Any, divisors: Array) -> Any:
    """Rows divided by one number each; those that are zero stay so."""
    if not sparse.issparse(rows):
        return divide(rows, divisors[:, None])
    entries = divide(rows.data, np.repeat(divisors, np.diff(rows.indptr)))
    return sparse.csr_array((entries, rows.indices, rows.indptr), shape=rows.shape)


def _entries(matrix: Any) -> Array:
    return matrix.data if sparse.issparse(matrix) else matrix


def _exponent(entries: Array) -> int:
    """Return the power of two just above the largest entry; a zero matrix counts as tiny."""
    largest = max(-float(entries.min()), float(entries.max())) if entries.size else 0.0
    return int(np.frexp(largest)[1]) if largest else -SAFE_EXPONENT


def _squared_norm(matrix: Any) -> float:
    entries = _entries(matrix).ravel(order="K")
    return float(entries @ entries)


def _dense(matrix: Any) -> Array:
    return matrix.toarray() if sparse.issparse(matrix) else matrix


def _squared_residual(M: Any, A: Array, W: Array) -> float:
    if sparse.issparse(M):
        squared_norm = _squared_norm(M)
        products = np.vdot(A.T @ M, W)  # the only product that touches every entry of M
        expanded = float(squared_norm - 2 * products + np.vdot(A.T @ A, W @ W.T))
        if expanded > CANCELLATION * squared_norm:
            return expanded
    blocks = slices(M.shape[0], BLOCK_ENTRIES // max(1, M.shape[1]))
    return sum(_squared_norm(_dense(M[rows]) - A[rows] @ W) for rows in blocks)
