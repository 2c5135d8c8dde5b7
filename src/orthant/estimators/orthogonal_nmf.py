"""Orthogonal non-negative matrix factorization as a scikit-learn transformer."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.sparse import csr_matrix, sparray, spmatrix
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_array, check_is_fitted, validate_data

from orthant.algorithms.publish import squared_error
from orthant.arrays import Array
from orthant.engine.masked import MaskedMatrix
from orthant.engine.matrix import Matrix
from orthant.errors import InvalidInputError
from orthant.estimators.callbacks import CallbackSupport, FitTasks, with_callbacks
from orthant.factorization import Factorization, Projection, project
from orthant.fitting import factorize
from orthant.progress import listening
from orthant.validation import as_matrix, may_be_missing


def _assigns_samples(model: OrthogonalNMF) -> bool:
    if model.orthogonal == "features":
        raise AttributeError(
            "predict needs orthogonal='samples' or 'both': over features a sample belongs to "
            "every component"
        )
    return True


class OrthogonalNMF(
    CallbackSupport, ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator
):
    """Split a non-negative matrix into parts that do not overlap.

    ``X ~ transform(X) @ components_``, where every sample (or every feature, or both) belongs to
    one component. Orthogonality is exact: a fact of how the answer is stored. All parameters are
    those of :func:`orthant.factorize`; ``fit(X).transform(X)`` equals ``fit_transform(X)`` bit for
    bit.

    Parameters
    ----------
    n_components : int, default=8
        How many parts.
    orthogonal : {"samples", "features", "both"}, default="samples"
        What the parts share none of.
    algorithm : {"best", "paper"}, default="best"
        "paper": the published algorithm, step by step.
    seeding : str or array, default="auto"
        How the first directions of "best" are chosen.
    kmeans : str, callable or None, default=None
        The k-means subroutine of "paper".
    n_init : int
        Independent starts; the best is kept.
    max_iter, tol : int, float
        At most this many sweeps per start; stop when one lowers the cost by less than this share.
    certificate : {"svd", "dual"} or None, default="svd"
        Which lower bound on the error is proven.
    missing_values : numpy.nan or None, default=None
        With numpy.nan missing entries are left out of the error (samples and features).
    random_state : int, Generator, RandomState or None, default=None
        The same seed gives the same bits for any ``n_jobs``.
    n_jobs : int or None, default=None
        Threads; None for all cores this process may use.
    verbose : int, default=0
        1 shows a progress line; scikit-learn's callbacks (>= 1.9) work independently of it.

    Attributes
    ----------
    components_ : ndarray of shape (n_components_, n_features)
        Unit rows, ordered by the energy they capture. Disjoint supports over features and both.
    labels_ : ndarray of shape (n_samples,) or None
        The component of every sample, -1 for a zero one; None over features.
    feature_labels_ : ndarray of shape (n_features,) or None
        The component of every feature, -1 for an unused one; None over samples.
    reconstruction_err_ : float
        Frobenius norm of the error, weighted if the fit was.
    relative_squared_error_ : float
        Its square divided by the squared norm of X.
    certificate_ : Certificate
        What is proven about the error.
    n_components_ : int
        How many components are in use.
    n_iter_ : int
        How often the data were read to assign all points.
    n_features_in_ : int
        Number of features seen in fit.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, when X has names.
    """

    def __init__(
        self,
        n_components: int = 8,
        *,
        orthogonal: str = "samples",
        algorithm: str = "best",
        seeding: str | Array = "auto",
        kmeans: str | Callable[..., Any] | None = None,
        n_init: int = 1,
        max_iter: int = 300,
        tol: float = 1e-6,
        certificate: str | None = "svd",
        missing_values: Any = None,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.n_components = n_components
        self.orthogonal = orthogonal
        self.algorithm = algorithm
        self.seeding = seeding
        self.kmeans = kmeans
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.certificate = certificate
        self.missing_values = missing_values
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def fit(
        self, X: Any, y: Any = None, sample_weight: Any = None, feature_weight: Any = None
    ) -> OrthogonalNMF:
        """Learn components.

        Parameters
        ----------
        X : array-like, frame or sparse matrix of shape (n_samples, n_features)
            Non-negative.
        y : ignored
        sample_weight, feature_weight : array-like of shape (n_samples,) and (n_features,)
            Weights of the squared errors. They enter the error, never the output of
            ``transform``.
        """
        self._fit(X, sample_weight, feature_weight)
        return self

    def fit_transform(
        self, X: Any, y: Any = None, sample_weight: Any = None, feature_weight: Any = None
    ) -> Any:
        """Learn components and return the loadings of X, the same bits as ``transform(X)``."""
        return _in_the_form_of(X, self._fit(X, sample_weight, feature_weight).loadings)

    @with_callbacks
    def _fit(self, X: Any, sample_weight: Any, feature_weight: Any) -> Factorization:
        """Everything is published at the end: an interrupted fit leaves the old one intact."""
        weights = {"sample_weight": sample_weight, "feature_weight": feature_weight}
        tasks = FitTasks(self, X, weights)
        with listening(tasks.step):
            result = factorize(X, **self.get_params(deep=False), **weights)
        validate_data(self, X, skip_check_array=True)
        self.components_ = result.components
        self.labels_, self.feature_labels_ = result.labels, result.feature_labels
        self.reconstruction_err_ = result.error
        self.relative_squared_error_ = result.relative_squared_error
        self.certificate_ = result.certificate
        self.n_components_ = result.n_components_found
        self.n_iter_ = result.n_sweeps
        tasks.end()
        return result

    def transform(self, X: Any) -> Any:
        """Loadings of X on the components, in closed form.

        Over samples and both every row is given to the component that captures most of it, so a
        row has one entry: a CSR array (or matrix) for sparse X, an array else. Over features the
        loadings are dense.
        """
        return _in_the_form_of(X, self._projected(X)[1].loadings)

    @available_if(_assigns_samples)
    def predict(self, X: Any) -> Array:
        """The component of every sample, (n_samples,) int32; -1 for a zero one."""
        labels = self._projected(X)[1].labels
        if labels is None:
            raise InvalidInputError("the fit was over features; fit again to assign samples")
        return labels

    def inverse_transform(self, X: Any) -> Array:
        """The matrix (n_samples, n_features) that loadings X stand for."""
        check_is_fitted(self)
        loadings = check_array(
            X, accept_sparse="csr", dtype=[np.float64, np.float32], ensure_min_features=0
        )
        if loadings.shape[1] != self.n_components_:
            raise InvalidInputError(
                f"X has {loadings.shape[1]} columns, but this OrthogonalNMF has "
                f"{self.n_components_} components"
            )
        return loadings @ self.components_

    def score(self, X: Any, y: Any = None) -> float:
        """1 minus the relative squared error of X expressed by the components, at most 1."""
        matrix, projection = self._projected(X)
        return 1.0 - _relative_squared_error(matrix, self.components_, projection)

    def _projected(self, X: Any) -> tuple[Matrix, Projection]:
        check_is_fitted(self)
        matrix = as_matrix(X, missing_values=self.missing_values, n_jobs=self.n_jobs)
        validate_data(self, X, reset=False, skip_check_array=True)
        over_features = self.labels_ is None
        setting = "features" if over_features else "samples"  # both project like samples
        return matrix, project(matrix, self.components_, setting)

    @property
    def _n_features_out(self) -> int:
        return self.n_components_

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.positive_only = True
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = self.orthogonal != "both" and self._may_be_missing()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags

    def _may_be_missing(self) -> bool:
        try:
            return may_be_missing(self.missing_values)
        except InvalidInputError:  # reported by fit, not by a question about tags
            return False


def _in_the_form_of(X: Any, loadings: Any) -> Any:
    """Loadings as sparse as X is, in its kind of sparse container; dense ones stay dense."""
    if isinstance(loadings, np.ndarray) or isinstance(X, sparray):
        return loadings
    return csr_matrix(loadings) if isinstance(X, spmatrix) else loadings.toarray()


def _relative_squared_error(matrix: Matrix, components: Array, projection: Projection) -> float:
    if not matrix.total > 0:
        return 0.0
    if isinstance(matrix, MaskedMatrix):
        return matrix.residual(projection.loadings, components) / matrix.total
    energies = matrix.energies(projection.loadings, projection.labels, len(components))
    return squared_error(matrix, components, projection, energies) / matrix.total
