"""Orthogonal non-negative matrix factorization as a scikit-learn transformer."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.sparse import sparray, spmatrix
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_array, check_is_fitted, validate_data

from orthonmf.certificate import CERTIFICATE_SECONDS, Certificate
from orthonmf.engine.loadings import Projection
from orthonmf.engine.matrix import Matrix
from orthonmf.errors import InvalidInputError
from orthonmf.estimators.callbacks import CallbackSupport, FitTasks, with_callbacks
from orthonmf.estimators.certified import Certified
from orthonmf.estimators.documentation import document_parameters_of
from orthonmf.estimators.loadings import relative_squared_error, shape_like
from orthonmf.factorization import Factorization, scales_of_columns
from orthonmf.fitting import factorize
from orthonmf.inputs.data import as_matrix
from orthonmf.inputs.parameters import may_be_missing
from orthonmf.inputs.sparse_structure import as_checked_csr
from orthonmf.numerics.arrays import Array
from orthonmf.progress import listening


def _assigns_samples(model: OrthogonalNMF) -> bool:
    if model.orthogonal == "features":
        raise AttributeError(
            "predict needs orthogonal='samples' or 'both': over features a sample belongs to "
            "every component"
        )
    return True


@document_parameters_of(factorize)
class OrthogonalNMF(
    CallbackSupport, ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator, Certified
):
    """Split a non-negative matrix into parts that do not overlap.

    ``X ~ transform(X) @ components_``, where every sample (or every feature, or both) belongs to
    one component. Orthogonality is exact: a fact of how the answer is stored. The parameters are
    those of :func:`orthonmf.factorize`; ``fit(X).transform(X)`` equals
    ``fit_transform(X)`` bit for bit. scikit-learn's callbacks (>= 1.9) work as well.

    Attributes
    ----------
    components_ : ndarray of shape ``(n_components_, n_features)``
        Unit rows, ordered by the energy they capture. Disjoint supports over features, and over
        both unless ``n_components`` is a pair.
    labels_ : ndarray of shape (n_samples,) or None
        The component of every sample, -1 for a zero one; None over features.
    feature_labels_ : ndarray of shape (n_features,) or None
        The component of every feature, -1 for an unused one; None over samples. If
        ``n_components`` is a pair, its group: a column of ``core_``.
    core_ : ndarray of shape (n_components_, n_feature_groups) or None
        What groups of samples and groups of features have to do with each other, over both;
        diagonal unless ``n_components`` is a pair.
    reconstruction_err_ : float
        Frobenius norm of the error, weighted if the fit was.
    relative_squared_error_ : float
        Its square divided by the squared norm of X.
    promise_ : Promise
        The ratio that the algorithm promises whatever the data, or why there is none.
    certificate_ : Certificate
        What is proven about the error: computed when it is first looked at, from the X and the
        weights that were given to ``fit``, which the model holds until then, and then kept.
        Copies, pickles and saved models hold no data; ``certify`` computes one from them.
    feature_weight_ : ndarray of shape (n_features,) or None
        The weights of the features; ``transform``, ``predict`` and ``score`` use them.
    n_components_ : int
        How many components are in use.
    n_iter_ : int
        How often the data were read to assign all points.
    n_features_in_ : int
        Number of features seen in fit.
    feature_names_in_ : ndarray of shape ``(n_features_in_,)``
        Their names, when X has names.

    Examples
    --------
    >>> import numpy as np
    >>> from orthonmf import OrthogonalNMF
    >>> X = np.array([[4.0, 2.0, 0.0], [2.0, 1.0, 0.0], [0.0, 0.0, 3.0], [0.0, 0.0, 1.0]])
    >>> model = OrthogonalNMF(2, random_state=0).fit(X)
    >>> model.labels_
    array([0, 0, 1, 1], dtype=int32)
    >>> model.predict([[0.0, 0.1, 5.0]])
    array([1], dtype=int32)
    >>> np.allclose(model.inverse_transform(model.transform(X)), X)
    True
    >>> round(model.score(X), 6)
    1.0
    """

    _asked: int | tuple[int, int] | None = None  # by the last fit; None where that is not known

    def __init__(
        self,
        n_components: int | tuple[int, int] = 8,
        *,
        orthogonal: str = "samples",
        algorithm: str = "best",
        init: str | Array = "auto",
        kmeans: str | Callable[..., Any] | None = None,
        n_init: int | str = "auto",
        max_iter: int = 300,
        tol: float = 3e-5,
        certificate: str | None = "svd",
        certificate_seconds: float = CERTIFICATE_SECONDS,
        missing_values: Any = None,
        max_memory: int | str | None = None,
        checkpoint: Any = None,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.n_components = n_components
        self.orthogonal = orthogonal
        self.algorithm = algorithm
        self.init = init
        self.kmeans = kmeans
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.certificate = certificate
        self.certificate_seconds = certificate_seconds
        self.missing_values = missing_values
        self.max_memory = max_memory
        self.checkpoint = checkpoint
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
            Weights of the squared errors. Feature weights are the metric of the model: it keeps
            them, and ``transform``, ``predict`` and ``score`` use them. A feature of weight 0
            is as if it were not there.
        """
        self._fit(X, sample_weight, feature_weight)
        return self

    def fit_transform(
        self, X: Any, y: Any = None, sample_weight: Any = None, feature_weight: Any = None
    ) -> Any:
        """Learn components and return the loadings of X, the same bits as ``transform(X)``."""
        return shape_like(X, self._fit(X, sample_weight, feature_weight).loadings)

    @with_callbacks
    def _fit(self, X: Any, sample_weight: Any, feature_weight: Any) -> Factorization:
        """Everything is published at the end: an interrupted fit leaves the old one intact."""
        weights = {"sample_weight": sample_weight, "feature_weight": feature_weight}
        tasks = FitTasks(self, X, weights)
        with listening(tasks.step):
            result = factorize(X, **self.get_params(deep=False), **weights)
        validate_data(self, X, skip_check_array=True)
        self._publish(result)
        tasks.end()
        return result

    def _publish(self, result: Factorization) -> None:
        self.components_ = result.components
        self.feature_weight_ = result.feature_weight
        self.labels_, self.feature_labels_ = result.labels, result.feature_labels
        self.core_, self._asked = result.core, result.n_components
        self.reconstruction_err_ = result.error
        self.relative_squared_error_ = result.relative_squared_error
        self.promise_ = result.promise
        self._proof = result.evidence.settled or result
        self.n_components_ = result.n_components_found
        self.n_iter_ = result.n_sweeps

    def certify(
        self,
        X: Any,
        method: str = "svd",
        *,
        seconds: float = CERTIFICATE_SECONDS,
        sample_weight: Any = None,
    ) -> Certificate:
        """Compute a certificate from the data that were fitted; ``certificate_`` is it then.

        Parameters
        ----------
        X, sample_weight
            As they were given to ``fit``.
        method : {"svd", "tight"}
            As ``certificate``.
        seconds : float
            As ``certificate_seconds``.
        """
        check_is_fitted(self)
        result = self._proof
        if not isinstance(result, Factorization):
            result = self._as_factorization(X)
        self._proof = result.certify(
            X, method, seconds=seconds, sample_weight=sample_weight, **self._list_reading()
        )
        return self._proof

    def _as_factorization(self, X: Any) -> Factorization:
        """The result of the fit, made again from X: the same data give the same loadings."""
        projection = self._project(X)[1].on_host()
        labels, asked = self.feature_labels_, self._asked
        scales = None if labels is None else scales_of_columns(self.components_, labels)
        if asked is None:  # of an older version; a claim about fewer would be too much
            asked = max(self.n_components, self.n_components_)
        return Factorization(
            orthogonal=self._setting,
            n_components=asked,
            components=self.components_,
            loadings=projection.loadings,
            labels=projection.labels,
            scales=projection.scales,
            feature_labels=labels,
            feature_scales=scales,
            error=self.reconstruction_err_,
            relative_squared_error=self.relative_squared_error_,
            feature_weight=self.feature_weight_,
            promise=self.promise_,
        )

    @property
    def _setting(self) -> str:
        """What the components of the fit share none of."""
        if self.labels_ is None:
            return "features"
        return "samples" if self.feature_labels_ is None else "both"

    def transform(self, X: Any) -> Any:
        """Loadings of X on the components, in closed form.

        Over samples and both every row is given to the component that captures most of it, so a
        row has one entry: a CSR array (or matrix) for sparse X, an array else. Over features the
        loadings are dense.
        """
        return shape_like(X, self._project(X)[1].loadings)

    @available_if(_assigns_samples)
    def predict(self, X: Any) -> Array:
        """The component of every sample, (n_samples,) int32; -1 for a zero one."""
        labels: Array | None = self._project(X)[1].on_host().labels
        if labels is None:
            raise InvalidInputError("the fit was over features; fit again to assign samples")
        return labels

    def inverse_transform(self, X: Any) -> Array:
        """The matrix (n_samples, n_features) that loadings X stand for."""
        check_is_fitted(self)
        given = as_checked_csr(X) if isinstance(X, sparray | spmatrix) else X
        loadings = check_array(
            given, accept_sparse="csr", dtype=[np.float64, np.float32], ensure_min_features=0
        )
        if loadings.shape[1] != self.n_components_:
            raise InvalidInputError(
                f"X has {loadings.shape[1]} columns, but this OrthogonalNMF has "
                f"{self.n_components_} components"
            )
        return loadings @ self.components_

    def score(self, X: Any, y: Any = None) -> float:
        """1 minus the relative squared error of X expressed by the components, at most 1."""
        matrix, projection = self._project(X)
        return 1.0 - relative_squared_error(matrix, self.components_, projection)

    def _project(self, X: Any) -> tuple[Matrix, Projection]:
        check_is_fitted(self)
        matrix = self._as_matrix(X, feature_weight=self.feature_weight_)
        validate_data(self, X, reset=False, skip_check_array=True)
        return matrix, matrix.express(self.components_, self._setting)

    def _as_matrix(self, X: Any, **weights: Any) -> Matrix:
        return as_matrix(X, **weights, **self._list_reading())

    def _list_reading(self) -> dict[str, Any]:
        """The parameters that say how a matrix is read."""
        return {name: getattr(self, name) for name in ("missing_values", "n_jobs", "max_memory")}

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
