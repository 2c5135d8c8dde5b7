"""Factorization: what every algorithm returns."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy.sparse import csc_array, csr_array

from orthant.certificate import Certificate
from orthant.errors import InvalidInputError
from orthant.numerics.arrays import Array
from orthant.validation.data import as_matrix


@dataclass(frozen=True, slots=True, eq=False)
class Factorization:
    """``X ~ loadings @ components``, with parts that do not overlap.

    Held as directions, labels and scales, so that orthogonality is a fact of the storage: over
    samples row i of the approximation is ``scales[i] * components[labels[i]]``.

    Attributes
    ----------
    orthogonal
        "samples", "features" or "both": what the components share none of.
    n_components
        How many were asked for.
    components
        (k', m), unit rows, ordered by the energy they capture, largest first. k' is
        ``n_components_found``. Over features and both their supports are disjoint.
    loadings
        (n, k'); CSR with at most one entry per row for samples and both, dense for features.
    labels, scales
        (n,) for samples and both, else None; label -1 exactly where the scale is 0.
    feature_labels, feature_scales
        (m,) for features and both, else None; label -1 exactly where the scale is 0.
    error
        Frobenius norm of ``X - loadings @ components``, weighted if the fit was.
    relative_squared_error
        Its square divided by the squared norm of X; 0 for a zero matrix.
    history
        Relative squared error of what was accepted after each sweep of the start that was kept,
        never rising, the last that of the result; for the paper's algorithm the last but one is
        the error as published.
    n_sweeps
        Sweeps of all descents, the final assignment included; drawing the starts is not counted.
    steps_run
        Names of the steps the fit went through.
    shortage
        Why fewer components than asked for are in use; empty when all are.
    certificate
        What is proven about the error.
    seconds
        Time of the fit, without the certificate's.
    feature_weight
        (m,) the weights of the features, the metric in which rows are expressed and errors are
        taken; None where all are 1.
    """

    orthogonal: str
    n_components: int
    components: Array
    loadings: Any
    labels: Array | None
    scales: Array | None
    feature_labels: Array | None
    feature_scales: Array | None
    error: float
    relative_squared_error: float
    history: tuple[float, ...] = ()
    n_sweeps: int = 0
    steps_run: tuple[str, ...] = ()
    shortage: str = ""
    certificate: Certificate = field(default_factory=Certificate)
    seconds: float = 0.0
    feature_weight: Array | None = None

    @property
    def n_components_found(self) -> int:
        """How many components are in use."""
        return len(self.components)

    @property
    def A(self) -> Any:
        """The paper's left factor, (m, k'): sparse where its columns are orthogonal."""
        return self.components.T if self.feature_labels is None else csc_array(self.components.T)

    @property
    def W(self) -> Any:
        """The paper's right factor, (k', n): sparse where its rows are orthogonal."""
        return self.loadings.T

    def transform(self, X: Any, *, missing_values: Any = None, n_jobs: int | None = None) -> Any:
        """Loadings of new rows on these components, in closed form.

        For samples and both every row is given to the component that captures most of it (CSR,
        one entry per row); for features it is the product with the components (dense). Feature
        weights of the fit are the metric here as well. With ``missing_values=numpy.nan`` all is
        taken over the observed entries of a row.
        """
        matrix = as_matrix(
            X, feature_weight=self.feature_weight, missing_values=missing_values, n_jobs=n_jobs
        )
        return project(matrix, self.components, self.orthogonal).loadings

    def __repr__(self) -> str:
        n, m = self.loadings.shape[0], self.components.shape[1]
        return (
            f"Factorization({n} x {m}, orthogonal={self.orthogonal!r}, "
            f"components={self.n_components_found}, "
            f"relative_squared_error={self.relative_squared_error:.6g})"
        )


@dataclass(frozen=True, slots=True)
class Projection:
    """Rows expressed by given components."""

    loadings: Any
    labels: Array | None
    scales: Array | None


def project(matrix: Any, components: Array, orthogonal: str) -> Projection:
    """Express every row by the components: the one closed form, for the fit and for new data."""
    k, m = components.shape
    if matrix.shape[1] != m:
        raise InvalidInputError(
            f"X has {matrix.shape[1]} features, but the components have {m} features"
        )
    if orthogonal == "features":
        return Projection(matrix.loadings(components), None, None)
    labels, scales = winners(matrix, components)
    return Projection(one_per_row(labels, scales, k), labels, scales)


def winners(matrix: Any, components: Array) -> tuple[Array, Array]:
    """The component that captures most of every row, -1 for none, and the scale of the row."""
    if len(components) == 0:
        n = matrix.shape[0]
        return np.full(n, -1, dtype=np.int32), np.zeros(n, dtype=matrix.dtype)
    found: tuple[Array, Array] = matrix.project(components)
    return found


def one_per_row(labels: Array, scales: Array, k: int) -> csr_array:
    """CSR array with ``scales[i]`` in column ``labels[i]`` of row i; nothing where it is -1."""
    used = labels >= 0
    index = np.int32 if len(labels) < 2**31 else np.int64
    starts = np.zeros(len(labels) + 1, dtype=index)
    np.cumsum(used, out=starts[1:])
    if starts[-1] < len(labels):  # otherwise the arrays serve as they are
        labels, scales = labels[used], scales[used]
    return csr_array((scales, labels, starts), shape=(len(starts) - 1, k))
