"""Factorization: what every algorithm returns."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy.sparse import csc_array, csr_array

from orthant import views
from orthant.certificate import CERTIFICATE_SECONDS, NOTHING_PROMISED, Certificate, Promise
from orthant.certification.evidence import Data, Evidence
from orthant.errors import InvalidInputError
from orthant.numerics.arrays import Array
from orthant.preparation import Preparation
from orthant.validation.data import as_matrix
from orthant.validation.parameters import as_certificate

# Below this share of the squared norm the difference "norm minus captured" has lost its digits.
CANCELLATION = {np.dtype(np.float64): 1e-8, np.dtype(np.float32): 1e-2}


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
    seconds
        Time of the fit; the certificate has its own.
    feature_weight
        (m,) the weights of the features, the metric in which rows are expressed and errors are
        taken; None where all are 1.
    promise
        The ratio that the algorithm promises whatever the data, or why there is none.
    evidence
        What ``certificate`` is computed from: the data that were fitted, until it is looked at.
        Copies and ``dataclasses.replace`` share it; pickles, deep copies and files hold no data.
    sample_names, feature_names
        One text per row and per column where the input had names, else None.
    preparation
        What ``orthant fit`` did to the matrix before, which ``transform`` repeats; None where the
        matrix was taken as it came.
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
    seconds: float = 0.0
    feature_weight: Array | None = None
    promise: Promise = NOTHING_PROMISED
    evidence: Evidence = field(default_factory=Evidence)
    sample_names: tuple[str, ...] | None = None
    feature_names: tuple[str, ...] | None = None
    preparation: Preparation | None = None

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

    @property
    def certificate(self) -> Certificate:
        """What is proven about the error: computed when it is first looked at, and kept.

        The data that were fitted are read again, and let go once it is computed.

        Raises
        ------
        SourceChangedError
            When they changed since the fit, or can no longer be read.
        TooLargeError
            When computing it would take more memory than there is.
        """
        return self.evidence.look(self)

    def certify(
        self,
        X: Any,
        method: str = "svd",
        *,
        seconds: float = CERTIFICATE_SECONDS,
        sample_weight: Any = None,
        missing_values: Any = None,
        n_jobs: int | None = None,
        max_memory: int | str | None = None,
    ) -> Certificate:
        """Compute a certificate from the data that were fitted; ``certificate`` is it from then on.

        Parameters
        ----------
        X, sample_weight, missing_values
            As they were given to the fit. The feature weights are known.
        method
            "svd" or "tight", as for :func:`orthant.factorize`.
        seconds
            What the search of "tight" may take; interrupting it gives what it has found.
        n_jobs, max_memory
            As for :func:`orthant.factorize`.

        Raises
        ------
        SourceChangedError
            When the error of this result on X is not what it was in the fit.
        """
        name, limit = as_certificate(method, seconds, "method")
        given = Data(X, sample_weight, self.feature_weight, missing_values, n_jobs, max_memory)
        return self.evidence.compute(self, given, str(name), limit)

    def transform(self, X: Any, *, missing_values: Any = None, n_jobs: int | None = None) -> Any:
        """Loadings of new rows on these components, in closed form.

        For samples and both every row is given to the component that captures most of it (CSR,
        one entry per row); for features it is the product with the components (dense). Feature
        weights of the fit are the metric here as well. With ``missing_values=numpy.nan`` all is
        taken over the observed entries of a row. A preparation that the model records is done
        first.
        """
        if self.preparation is not None:
            X = self.preparation.apply(X)
        matrix = as_matrix(
            X, feature_weight=self.feature_weight, missing_values=missing_values, n_jobs=n_jobs
        )
        return project(matrix, self.components, self.orthogonal).loadings

    def top_features(self, n: int = 10, by: str = "weight") -> list[list[Any]]:
        """For every component the names of its n heaviest features, numbers where there are none.

        ``by="distinctive"`` leaves out what components have in common: a weight counts by how
        much larger the component's share of the feature is than its share of everything. Where
        components share no features it is the same as "weight".
        """
        return views.top_features(self, n, by)

    def top_samples(self, n: int = 10) -> list[list[Any]]:
        """For every component the names of the n samples with the largest loadings on it."""
        return views.top_samples(self, n)

    def to_frame(self, of: str = "samples") -> Any:
        """A pandas DataFrame with one row per sample, or per feature with ``of="features"``.

        Samples have their component and scale, over features the loadings on all components;
        features their weights in all components, and their component where they have one.
        """
        return views.make_frame(self, of)

    def reconstruct(self) -> Array:
        """The approximation ``loadings @ components``, (n, m), dense."""
        return np.asarray(self.loadings @ self.components)

    def plot(self, X: Any = None) -> Any:
        """A matplotlib Figure: the matrix with rows and columns ordered, and the components.

        Without X the approximation is drawn in its place; of large ones some rows and columns.
        """
        return views.draw(self, X)

    def _repr_html_(self) -> str:
        return views.in_html(self)

    def __repr__(self) -> str:
        return views.in_lines(self)


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


def energies_of(matrix: Any, components: Array, projection: Projection) -> Array:
    """(k,) the energy that every component captures, in the units of Y."""
    labels, scales = projection.labels, projection.scales
    found: Array = (
        matrix.energies_of_loadings(projection.loadings, components)
        if labels is None or scales is None
        else matrix.energies_of_scales(labels, scales, components)
    )
    return found


def squared_error(matrix: Any, unit: Array, projection: Projection, energies: Array) -> float:
    """Squared error in the units of Y, without cancellation."""
    total = matrix.total
    squared = total - float(energies.sum())
    # The short formula needs the products of the error's own geometry, and every entry.
    weighted = matrix.column_factors is not None or not matrix.complete
    scales = projection.loadings if projection.scales is None else projection.scales
    accurate = scales_are_accurate(scales)
    if weighted or not accurate or squared < CANCELLATION[matrix.dtype] * total:
        return matrix.residual(projection.loadings, unit)
    return squared


def scales_are_accurate(values: Array) -> bool:
    """Whether no scale (n,) or loading (n, k) is so small that it has lost digits to underflow."""
    limits = np.finfo(values.dtype)
    smallest = np.min(values, initial=np.inf, where=values > 0)
    return bool(smallest > limits.tiny / limits.eps)
