"""Orthogonal non-negative matrix factorization as a scikit-learn transformer."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import replace
from typing import Any

import numpy as np
from scipy.sparse import csr_matrix, issparse, spmatrix
from sklearn import get_config
from sklearn.base import (
    BaseEstimator,
    BiclusterMixin,
    ClassNamePrefixFeaturesOutMixin,
    TransformerMixin,
)
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_array, check_is_fitted, validate_data

from orthonmf.certificate import CERTIFICATE_SECONDS, Certificate
from orthonmf.engine.loadings import Projection
from orthonmf.engine.losses import FROBENIUS, LOSSES
from orthonmf.engine.matrix import Matrix
from orthonmf.engine.profiles import average_row
from orthonmf.errors import InvalidInputError
from orthonmf.estimators.callbacks import CallbackSupport, telling_callbacks, with_callbacks
from orthonmf.estimators.documentation import document_parameters_of
from orthonmf.factorization import Factorization
from orthonmf.fitting import factorize
from orthonmf.inputs.data import as_matrix, is_of_dask
from orthonmf.inputs.names import as_names
from orthonmf.inputs.parameters import may_be_missing
from orthonmf.inputs.sparse import as_csr
from orthonmf.stability.record import Stability
from orthonmf.typing import Array


def _assigns_samples(model: OrthogonalNMF) -> bool:
    if model.orthogonal == "features":
        raise AttributeError(
            "predict needs orthogonal='samples' or 'both': over features a sample belongs to "
            "every component"
        )
    return True


def _part_of_result(name: str) -> Any:
    """An attribute that is part of the result of the fit, as the class describes it."""

    def part(model: OrthogonalNMF) -> Any:
        if "result_" not in vars(model):
            raise AttributeError(f"{name} is known after fit; this OrthogonalNMF is not fitted yet")
        return getattr(model.result_, name)

    return property(part)


@document_parameters_of(factorize)
class OrthogonalNMF(
    CallbackSupport,
    ClassNamePrefixFeaturesOutMixin,
    TransformerMixin,
    BiclusterMixin,
    BaseEstimator,
):
    """Split a non-negative matrix into parts that do not overlap.

    ``X ~ transform(X) @ components_``, where every sample (or every feature, or both) belongs to
    one component. Orthogonality is exact: a fact of how the answer is stored. The parameters are
    those of :func:`orthonmf.factorize`; ``fit(X).transform(X)`` equals
    ``fit_transform(X)`` bit for bit. scikit-learn's callbacks (>= 1.9) work as well.

    Attributes
    ----------
    result_ : Factorization
        The whole answer; the attributes that follow are parts of it.
    components_ : ndarray of shape ``(n_components_, n_features)``
        Unit rows, ordered by the energy they capture; under the Kullback-Leibler divergence
        profiles of sum 1, ordered by the information they keep. Disjoint supports over
        features, and over both unless ``n_components`` is a pair.
    labels_ : ndarray of shape (n_samples,) or None
        The component of every sample, -1 for a zero one; None over features.
    feature_labels_ : ndarray of shape (n_features,) or None
        The component of every feature, -1 for an unused one; None over samples. If
        ``n_components`` is a pair, its group: a column of ``core_``.
    row_labels_, column_labels_ : ndarray of shape (n_samples,) and (n_features,)
        Over both, ``labels_`` and ``feature_labels_`` under the names of scikit-learn's biclusters.
    rows_, columns_ : ndarray of shape (n_biclusters, n_samples) and (n_biclusters, n_features)
        Over both, the members of every block, or if ``n_components`` is a pair, of every group of
        samples with every group of features; built on every access.
    core_ : ndarray of shape (n_components_, n_feature_groups) or None
        What groups of samples and groups of features have to do with each other, over both;
        diagonal unless ``n_components`` is a pair.
    reconstruction_err_ : float
        Frobenius norm of the error, weighted if the fit was.
    relative_squared_error_ : float or None
        Its square divided by the squared norm of X; None under the Kullback-Leibler divergence.
    relative_error_ : float
        The same, or under that divergence the share of the information that is lost.
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

    _output: str | None = None  # what set_output chose for transform

    def __init__(
        self,
        n_components: int | tuple[int, int] = 8,
        *,
        orthogonal: str = "samples",
        beta_loss: str = FROBENIUS,
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
        self.beta_loss = beta_loss
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
        return self._contain(self._fit(X, sample_weight, feature_weight).loadings, X)

    @with_callbacks
    def _fit(self, X: Any, sample_weight: Any, feature_weight: Any) -> Factorization:
        """Everything is published at the end: an interrupted fit leaves the old one intact."""
        weights = {"sample_weight": sample_weight, "feature_weight": feature_weight}
        with telling_callbacks(self, X, weights):
            result = factorize(X, **self.get_params(deep=False), **weights)
            validate_data(self, X, skip_check_array=True)
            self.result_ = result
        return result

    components_ = _part_of_result("components")
    labels_ = _part_of_result("labels")
    feature_labels_ = _part_of_result("feature_labels")
    core_ = _part_of_result("core")
    reconstruction_err_ = _part_of_result("error")
    relative_squared_error_ = _part_of_result("relative_squared_error")
    relative_error_ = _part_of_result("relative_error")
    certificate_ = _part_of_result("certificate")
    promise_ = _part_of_result("promise")
    feature_weight_ = _part_of_result("feature_weight")
    n_components_ = _part_of_result("n_components_found")
    n_iter_ = _part_of_result("n_sweeps")

    @property
    def row_labels_(self) -> Array:
        """Over both, the component of every sample."""
        self._refuse_one_side()
        return self.labels_

    @property
    def column_labels_(self) -> Array:
        """Over both, the component or group of every feature."""
        self._refuse_one_side()
        return self.feature_labels_

    @property
    def rows_(self) -> Array:
        """Which samples are in each bicluster (n_biclusters, n_samples), boolean."""
        return self.row_labels_ == self._list_biclusters()[0][:, None]

    @property
    def columns_(self) -> Array:
        """Which features are in each bicluster (n_biclusters, n_features), boolean."""
        return self.column_labels_ == self._list_biclusters()[1][:, None]

    def _list_biclusters(self) -> tuple[Array, Array]:
        """The labels of the samples and of the features of every bicluster."""
        components = np.arange(self.n_components_)
        if not isinstance(self.result_.n_components, tuple):
            return components, components
        groups = np.arange(self.core_.shape[1])
        return np.repeat(components, len(groups)), np.tile(groups, len(components))

    def _refuse_one_side(self) -> None:
        if self.result_.orthogonal != "both":
            raise AttributeError("biclusters need orthogonal='both'")

    def __dir__(self) -> Iterable[str]:
        """All attributes there are, less a certificate that is not computed.

        scikit-learn looks at each of them to show a model.
        """
        pending = "result_" in vars(self) and self.result_.evidence.settled is None
        names = (name for name in object.__dir__(self) if not pending or name != "certificate_")
        return [name for name in names if hasattr(self, name)]

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
        return self.result_.certify(
            X, method, seconds=seconds, sample_weight=sample_weight, **self._list_reading()
        )

    def refit(
        self,
        X: Any,
        n_refits: int = 20,
        resample: str | None = "coordinates",
        *,
        random_state: Any = None,
        feature_groups: Any = None,
        sample_weight: Any = None,
    ) -> Stability:
        """Fit the same data again under random weights, to see which groups and members stay.

        The model stays as it is. Parameters are those of :meth:`Factorization.refit`.

        Parameters
        ----------
        X, sample_weight
            As they were given to ``fit``.
        n_refits, resample, random_state, feature_groups
            How often, of what, from which seed, and which features share their weights.
        """
        check_is_fitted(self)
        return self.result_.refit(
            X,
            n_refits,
            resample,
            random_state=random_state,
            feature_groups=feature_groups,
            sample_weight=sample_weight,
            verbose=self.verbose,
            **self._list_reading(),
        )

    def top_features(
        self, n: int = 10, by: str = "weight", feature_names: Any = None
    ) -> list[list[Any]]:
        """For every component the names of its n heaviest features.

        Parameters
        ----------
        n, by
            As for :meth:`Factorization.top_features`.
        feature_names : array-like of shape (n_features,)
            The names, such as ``vectorizer.get_feature_names_out()``; by default those that X had,
            or numbers.
        """
        check_is_fitted(self)
        result = self.result_
        if feature_names is not None:
            names = as_names(feature_names, self.n_features_in_, "feature_names")
            result = replace(result, feature_names=names)
        return result.top_features(n, by)

    def transform(self, X: Any) -> Any:
        """Loadings of X on the components, in closed form.

        Over samples and both every row is given to the component that captures most of it, so a
        row has one entry: a CSR array (or matrix) for sparse X, unless ``set_output`` asks for a
        frame; an array else. Over features the loadings are dense.
        """
        return self._contain(self._project(X)[1].loadings, X)

    def _contain(self, loadings: Any, X: Any) -> Any:
        """Loadings in the kind of container that X is; dense where a frame is asked for.

        Of a Dask array, which may have more rows than memory would hold, they stay sparse.
        """
        framed = (self._output or get_config()["transform_output"]) != "default"
        if isinstance(loadings, np.ndarray) or (is_of_dask(X) and not framed):
            return loadings
        if framed or not issparse(X):
            return loadings.toarray()
        return csr_matrix(loadings) if isinstance(X, spmatrix) else loadings

    def set_output(self, *, transform: str | None = None) -> OrthogonalNMF:
        """Choose what ``transform`` gives: "default", "pandas" or "polars".

        Frames are dense, also of sparse X.
        """
        super().set_output(transform=transform)
        self._output = transform or self._output
        return self

    def __sklearn_clone__(self) -> OrthogonalNMF:
        copied: OrthogonalNMF = super().__sklearn_clone__()
        copied._output = self._output
        return copied

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
        loadings = check_array(
            as_csr(X) if issparse(X) else X,
            accept_sparse="csr",
            dtype=[np.float64, np.float32],
            ensure_min_features=0,
        )
        if loadings.shape[1] != self.n_components_:
            raise InvalidInputError(
                f"X has {loadings.shape[1]} columns, but this OrthogonalNMF has "
                f"{self.n_components_} components"
            )
        return loadings @ self.components_

    def score(self, X: Any, y: Any = None) -> float:
        """1 minus the relative error of X expressed by the components, at most 1.

        Under the Kullback-Leibler divergence that is the share they keep of what sets the rows of X
        apart from the average row of the fit; minus infinity where a row holds what its component
        lacks.
        """
        matrix, projection = self._project(X)
        result = self.result_
        loss, average = LOSSES[result.beta_loss], average_row(result.loadings, result.components)
        return 1.0 - loss.relative_error(
            matrix, projection, result.components, result.orthogonal, average
        )

    def _project(self, X: Any) -> tuple[Matrix, Projection]:
        check_is_fitted(self)
        matrix = as_matrix(X, feature_weight=self.feature_weight_, **self._list_reading())
        validate_data(self, X, reset=False, skip_check_array=True)
        express = LOSSES[self.result_.beta_loss].express
        return matrix, express(matrix, self.components_, self.result_.orthogonal)

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
        with suppress(InvalidInputError):  # reported by fit, not by a question about tags
            missing = may_be_missing(self.missing_values)
            tags.input_tags.allow_nan = self.orthogonal != "both" and missing
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags
