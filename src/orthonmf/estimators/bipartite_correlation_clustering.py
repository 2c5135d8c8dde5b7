"""Bipartite correlation clustering as a scikit-learn estimator."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, BiclusterMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from orthonmf.correlation_clustering.graph import Biadjacency, as_graph
from orthonmf.correlation_clustering.solve import ALGORITHMS, DEFAULT_N_INIT, cluster_graph
from orthonmf.engine.executors import one_blas_thread
from orthonmf.errors import InvalidInputError
from orthonmf.inputs.parameters import as_choice, as_count, as_generator
from orthonmf.typing import Array


class BipartiteCorrelationClustering(BiclusterMixin, BaseEstimator):
    """Cluster the rows and columns of a 0/1 matrix together, with a proof of how well.

    A cluster is a set of rows and columns. A disagreement is a 1 outside the clusters or a 0
    inside one. The answer has at most 119.43 times as many disagreements as the best, always, and
    with random starts at most 4 times as many on average; a certificate says how close to the best
    it really is. The number of clusters follows from the data.

    Parameters
    ----------
    algorithm : {"best", "paper"}, default="best"
        "paper" is Theorem 9 and Lemma 1 of Charikar & Hu (2021). "best" adds other roundings,
        random starts and local search and keeps the fewest disagreements.
    binarize : float or None, default=None
        None accepts nothing but 0 and 1; a number makes every entry above it a 1. The weight of
        an edge is an entry: above the threshold all edges count the same.
    n_init : int, default=4
        Random starts that "best" makes from each side.
    random_state : int, Generator, RandomState or None, default=None
        Seed of the random starts and of the search for the lower bound.

    Attributes
    ----------
    row_labels_, column_labels_ : ndarray of shape (n_rows,) and (n_columns,)
        The cluster of every row and column. Clusters with both sides come first, the largest
        first; rows and columns on their own have labels of their own after those.
    rows_, columns_ : ndarray of shape (n_clusters, n_rows) and (n_clusters, n_columns)
        Members of the clusters with both sides, built on every access.
    disagreements_ : int
        Ones outside the clusters plus zeros inside.
    certificate_ : Certificate
        What is proven; ``certificate_.lower_bound`` counts disagreements.
    row_names_, column_names_ : ndarray or None
        The labels of the vertices, when the graph came with names.
    n_features_in_ : int
        Number of columns.
    feature_names_in_ : ndarray of shape ``(n_features_in_,)``
        Names of the columns of a data frame.

    Examples
    --------
    >>> import numpy as np
    >>> from orthonmf import BipartiteCorrelationClustering
    >>> graph = np.array([[1, 1, 0, 0], [1, 1, 0, 0], [0, 1, 1, 1], [0, 0, 1, 1]])
    >>> model = BipartiteCorrelationClustering(random_state=0).fit(graph)
    >>> model.row_labels_, model.column_labels_, model.disagreements_
    (array([0, 0, 1, 1]), array([0, 0, 1, 1]), 1)
    >>> print(model.certificate_)  # doctest: +ELLIPSIS
    number of disagreements the smallest possible; proven by a packing ...
    """

    def __init__(
        self,
        algorithm: str = "best",
        *,
        binarize: float | None = None,
        n_init: int = DEFAULT_N_INIT,
        random_state: Any = None,
    ) -> None:
        self.algorithm = algorithm
        self.binarize = binarize
        self.n_init = n_init
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None) -> BipartiteCorrelationClustering:
        """Cluster the graph X.

        Parameters
        ----------
        X : matrix of shape (n_rows, n_columns), networkx graph, list of edges, or Biadjacency
            Edges are pairs (row label, column label), or triples with a weight: a list of tuples,
            or an array or frame of two or three columns that holds names. Arrays and frames of
            numbers are matrices; edges of that form go through
            `orthonmf.Biadjacency.from_edges`.
        y : ignored
        """
        as_choice(self.algorithm, tuple(ALGORITHMS), "algorithm")
        n_init = as_count(self.n_init, "n_init", least=0)
        if self.algorithm == "paper" and n_init != DEFAULT_N_INIT:
            raise InvalidInputError(
                f"n_init={n_init} would be ignored with algorithm='paper', which has one start; "
                "leave it out, or use algorithm='best'"
            )
        graph = as_graph(X, self.binarize)
        if isinstance(X, Biadjacency) or graph.row_names is not None:
            self.n_features_in_ = graph.edges.shape[1]
        else:
            validate_data(self, X, skip_check_array=True)
        rng = as_generator(self.random_state)
        with one_blas_thread():
            result = cluster_graph(graph.edges, self.algorithm, n_init=self.n_init, rng=rng)
        self.row_labels_, self.column_labels_ = result.row_labels, result.column_labels
        self.disagreements_, self.certificate_ = result.disagreements, result.certificate
        self.row_names_, self.column_names_ = graph.row_names, graph.column_names
        return self

    @property
    def rows_(self) -> Array:
        """Which rows are in each cluster that has both sides (n_clusters x n_rows, boolean)."""
        check_is_fitted(self)
        return self.row_labels_ == np.intersect1d(self.row_labels_, self.column_labels_)[:, None]

    @property
    def columns_(self) -> Array:
        """Which columns are in each cluster that has both sides (n_clusters x n_columns)."""
        check_is_fitted(self)
        return self.column_labels_ == np.intersect1d(self.row_labels_, self.column_labels_)[:, None]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags
