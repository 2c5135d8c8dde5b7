"""Weights that put counts into the geometry of correspondence analysis."""

from __future__ import annotations

from typing import Any

import numpy as np

from orthonmf.errors import InvalidInputError
from orthonmf.inputs.data import as_matrix
from orthonmf.typing import Array
from orthonmf.vectors import divide


def chi_square_weights(X: Any, *, n_jobs: int | None = None) -> tuple[Array, Array]:
    """Weights of samples and features that are one over their sums, for tables of counts.

    With them the squared error is measured as the chi-square distance does: a long document and
    a frequent word count no more than others for being long or frequent. That is the geometry of
    correspondence analysis and of spectral co-clustering. Scales absorb the weights, so the model
    is the same. On counts groups often agree far better with what is known about them; on images,
    where a dark corner is rare but means nothing, worse.

    Parameters
    ----------
    X, n_jobs
        (n, m) non-negative matrix, and threads, as for :func:`orthonmf.factorize`.

    Returns
    -------
    sample_weight, feature_weight
        (n,) and (m,), as :func:`orthonmf.factorize` takes them; 0 where a sum is 0.

    Examples
    --------
    >>> import numpy as np, orthonmf
    >>> X = np.array([[4.0, 0.0], [1.0, 3.0], [0.0, 0.0]])
    >>> sample_weight, feature_weight = orthonmf.chi_square_weights(X)
    >>> sample_weight.tolist(), feature_weight.tolist()
    ([0.25, 0.25, 0.0], [0.2, 0.3333333333333333])
    """
    matrix = as_matrix(X, n_jobs=n_jobs)
    n, m = matrix.shape
    if not matrix.total > 0:
        raise InvalidInputError("X is zero everywhere; there are no sums to weigh by")
    rows = matrix.products(np.ones((1, m)))[:, 0]
    columns = matrix.row_sums(np.zeros(n, dtype=np.int32), np.ones(n), 1)[0]
    with np.errstate(over="ignore", under="ignore"):
        weights = [np.ldexp(divide(np.ones_like(s), s), -matrix.exponent) for s in (rows, columns)]
    for inverses, sums, side in zip(weights, (rows, columns), ("row", "column"), strict=True):
        lost = (sums > 0) & ~(np.isfinite(inverses) & (inverses > 0))
        if lost.any():
            place = int(lost.argmax())
            raise InvalidInputError(
                f"one over the sum of {side} {place} does not fit a float64; multiply X by a power "
                "of two"
            )
    return weights[0], weights[1]
