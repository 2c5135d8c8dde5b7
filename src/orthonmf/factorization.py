"""Factorization: what every algorithm returns."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.sparse import csc_array

from orthonmf import views
from orthonmf.certificate import CERTIFICATE_SECONDS, NOTHING_PROMISED, Certificate, Promise
from orthonmf.engine.loadings import one_per_row
from orthonmf.engine.losses import FROBENIUS, LOSSES
from orthonmf.evidence import Evidence, Pending
from orthonmf.inputs.data import Data, as_matrix
from orthonmf.inputs.parameters import as_certificate
from orthonmf.normalization import Preparation
from orthonmf.typing import Array
from orthonmf.vectors import divide

if TYPE_CHECKING:
    from orthonmf.stability.record import Stability


@dataclass(frozen=True, slots=True)
class FitOptions:
    """The options of a fit that another fit of the same kind repeats.

    Plain values, so that a result that holds them can be pickled and saved. ``factorize``
    describes each of them; components that were given as a start are not repeated, for they say
    where an answer is, and ``init`` is "auto" then.
    """

    beta_loss: str = "frobenius"
    algorithm: str = "best"
    init: str = "auto"
    kmeans: str | None = None
    n_init: int | str = "auto"
    max_iter: int = 300
    tol: float = 3e-5


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
        How many were asked for; for both, two numbers ask for groups of rows and of columns with
        a ``core`` between them.
    components
        (k', m), unit rows, ordered by the energy they capture, largest first; under the
        Kullback-Leibler divergence of sum 1, ordered by the information they keep. k' is
        ``n_components_found``. Their supports are disjoint over features, and over both unless
        there is a core that says otherwise.
    loadings
        (n, k'); CSR with at most one entry per row for samples and both, dense for features.
    labels, scales
        (n,) for samples and both, else None; label -1 exactly where the scale is 0.
    feature_labels, feature_scales
        (m,) for features and both, else None; label -1 exactly where the scale is 0. The label
        is the component of the column; with two numbers it is the group, a column of ``core``.
    error
        Frobenius norm of ``X - loadings @ components``, weighted if the fit was. Under the
        Kullback-Leibler divergence the square root of twice the divergence, as scikit-learn's NMF.
    relative_squared_error
        Its square divided by the squared norm of X; 0 for a zero matrix. None under the
        Kullback-Leibler divergence; ``relative_error`` is there under both losses.
    history
        Relative error of what was accepted after each sweep of the start that was kept,
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
    random_state
        The seed that makes this answer again: the one that was given, or the one that was drawn
        where none was. None where random numbers came from elsewhere, such as a Generator.
    cautions
        Sentences about what may mislead in this answer, each with what to do about it: a column
        that counts rows, a row or column that is the total of the others, one that outweighs all
        else. Empty where nothing was noticed, which is no proof that nothing is there.
    preparation
        What ``orthonmf fit`` did to the matrix before, which ``transform`` repeats; None where the
        matrix was taken as it came.
    fit_options
        The options that a refit repeats; None for labels of others, and where k-means was a
        function of the user.
    beta_loss
        "frobenius" or "kullback-leibler".
    divergence, information
        Under the Kullback-Leibler divergence, in the units of X times nats: that of X from
        ``loadings @ components``, weighted if the fit was, and that of the best single component,
        which is what rows hold about columns. Else None.
    information_shares
        (k',) then the share of that information which every component keeps; with the share that
        is lost they add up to 1, but for rounding and, with a core, for what groups of columns
        lose.

    Examples
    --------
    >>> import numpy as np
    >>> import orthonmf
    >>> X = np.kron(np.eye(2), [[1.0, 2.0], [2.0, 4.0]])
    >>> result = orthonmf.factorize(X, 2, orthogonal="both", random_state=0)
    >>> np.allclose(result.loadings @ result.components, X)
    True
    >>> float((result.components[0] * result.components[1]).sum())  # exactly
    0.0
    >>> result.A.shape, result.W.shape  # as in the paper: X.T ~ A W
    ((4, 2), (2, 4))
    """

    orthogonal: str
    n_components: int | tuple[int, int]
    components: Array
    loadings: Any
    labels: Array | None
    scales: Array | None
    feature_labels: Array | None
    feature_scales: Array | None
    error: float
    relative_squared_error: float | None
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
    random_state: int | None = None
    cautions: tuple[str, ...] = ()
    preparation: Preparation | None = None
    fit_options: FitOptions | None = None
    beta_loss: str = FROBENIUS
    divergence: float | None = None
    information: float | None = None
    information_shares: Array | None = None

    @property
    def relative_error(self) -> float:
        """What the loss says is lost, as a share: under every loss 0 is exact.

        Under the squared error it is the relative squared error, under the Kullback-Leibler
        divergence the share of the information that rows hold about columns: 1 for a single
        component, 0 where every distinct profile has its own.
        """
        if self.relative_squared_error is not None:
            return self.relative_squared_error
        return self.history[-1]

    @property
    def n_components_found(self) -> int:
        """How many components are in use."""
        return len(self.components)

    @property
    def core(self) -> Array | None:
        """What groups of rows and groups of columns have to do with each other, (k', l').

        Over both ``X ~ F @ core @ G.T``, where F and G hold the scales of rows and columns, each
        in the column of its group, at unit length; then row a of the core is what component a is
        made of. Under the Kullback-Leibler divergence they are of sum 1, and the core holds the
        joint sums of the groups. Groups are ordered by the energy they capture. For blocks, which
        one number asks for, it is diagonal. None over samples and over features.
        """
        if self.labels is None or self.scales is None:
            return None
        if self.feature_labels is None or self.feature_scales is None:
            return None
        n_groups = int(self.feature_labels.max(initial=-1)) + 1
        groups = one_per_row(self.feature_labels, self.feature_scales, n_groups)
        squares = np.asarray(groups.multiply(groups).sum(axis=0)).ravel()
        shares = divide(np.asarray(self.components @ groups), squares)
        sizes = LOSSES[self.beta_loss].group_sizes(self.labels, self.scales, len(self.components))
        return shares * sizes[:, None]

    @property
    def A(self) -> Any:
        """The paper's left factor, (m, k'): sparse where its columns are orthogonal."""
        if self.feature_labels is None or isinstance(self.n_components, tuple):
            return self.components.T  # components may share features
        return csc_array(self.components.T)

    @property
    def W(self) -> Any:
        """The paper's right factor, (k', n): sparse where its rows are orthogonal."""
        return self.loadings.T

    @property
    def certificate(self) -> Certificate:
        """What is proven about the error: computed when it is first looked at, and kept.

        The data that were fitted are read again, for the error and the bound, and let go once it
        is computed: what it claims is true of the data as they are now.

        Raises
        ------
        SourceChangedError
            When the error on them is not that of the fit, up to rounding, or they can no longer
            be read.
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
            "svd" or "tight", as for :func:`orthonmf.factorize`.
        seconds
            What the search of "tight" may take; interrupting it gives what it has found.
        n_jobs, max_memory
            As for :func:`orthonmf.factorize`.

        Raises
        ------
        SourceChangedError
            When the error of this result on X is not what it was in the fit.
        """
        name, limit = as_certificate(method, seconds, self.beta_loss, "method")
        given = Data(X, sample_weight, self.feature_weight, missing_values, n_jobs, max_memory)
        return self.evidence.compute(self, Pending(given, str(name), seconds=limit))

    def refit(
        self,
        X: Any,
        n_refits: int = 20,
        resample: str | None = "coordinates",
        *,
        random_state: Any = None,
        n_jobs: int | None = None,
        feature_groups: Any = None,
        sample_weight: Any = None,
        missing_values: Any = None,
        max_memory: int | str | None = None,
        verbose: int = 0,
    ) -> Stability:
        """Fit the same data again under random weights, to see which groups and members stay.

        Every refit has a seed of its own and multiplies the weights of the fit by random ones
        (exponential, of mean 1). Its groups are matched with those of this result one to one, and
        the certainty of a row is the share of refits that put it into its group.

        Parameters
        ----------
        X, sample_weight, missing_values
            As they were given to the fit. The feature weights are known.
        n_refits
            10 are enough for which rows are kept; 20 for a number per row.
        resample
            What gets random weights. "coordinates": the other side, which decides where a row (over
            features: a column) belongs, and over both either side. "both": rows and columns, the
            stricter question. None: nothing, only the seed is another; on planted data that
            makes nearly all rows look certain, also those that are wrong.
        random_state
            Seed; the same seed gives the same bits for any ``n_jobs``.
        n_jobs
            Refits at a time; None for all cores this process may use. Where X is large, or not
            in memory, one after the other in so many threads.
        feature_groups
            (m,) a name for every feature: those with one name share a random weight. For features
            that say the same (neighboring pixels, wavelengths, copies), whose independent weights
            would make all rows look too certain.
        max_memory
            As for :func:`orthonmf.factorize`.
        verbose
            1 shows a progress bar; where stderr is no terminal, a line every ten seconds.

        Returns
        -------
        Stability

        Raises
        ------
        SourceChangedError
            When the error of this result on X is not what it was in the fit.
        """
        from orthonmf.stability.refits import refit

        data = Data(X, sample_weight, self.feature_weight, missing_values, n_jobs, max_memory)
        return refit(self, data, n_refits, resample, random_state, feature_groups, verbose)

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
        return LOSSES[self.beta_loss].express(matrix, self.components, self.orthogonal).loadings

    def reconstruct(self) -> Array:
        """The approximation ``loadings @ components``, (n, m), dense."""
        return np.asarray(self.loadings @ self.components)

    # How it is looked at, each function with its docstring in views.py.
    top_features = views.top_features
    top_samples = views.top_samples
    to_frame = views.to_frame
    plot = views.plot
    _repr_html_ = views.in_html
    __repr__ = views.in_lines
