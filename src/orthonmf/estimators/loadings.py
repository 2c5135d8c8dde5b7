"""Loadings as they are handed out, and the error of the rows they stand for."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import csr_matrix, sparray, spmatrix

from orthonmf.engine.loadings import Projection
from orthonmf.engine.masked import MaskedMatrix
from orthonmf.engine.matrix import Matrix
from orthonmf.inputs.data import is_of_dask
from orthonmf.numerics.arrays import Array


def shape_like(X: Any, loadings: Any) -> Any:
    """Loadings as sparse as X is, in its kind of sparse container; dense ones stay dense.

    Of a Dask array, which may have more rows than memory would hold, they stay sparse.
    """
    if isinstance(loadings, np.ndarray) or isinstance(X, sparray) or is_of_dask(X):
        return loadings
    return csr_matrix(loadings) if isinstance(X, spmatrix) else loadings.toarray()


def relative_squared_error(matrix: Matrix, components: Array, projection: Projection) -> float:
    """The relative squared error of rows expressed by components."""
    if not matrix.total > 0:
        return 0.0
    if isinstance(matrix, MaskedMatrix):
        return matrix.residual(projection.loadings, components) / matrix.total
    energies = matrix.energies_of(components, projection)
    return matrix.squared_error(components, projection, energies)[0] / matrix.total
