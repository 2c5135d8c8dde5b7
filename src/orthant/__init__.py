"""Orthogonal non-negative matrix factorization, with a proof of how good the answer is."""

from orthant import baselines, datasets, measures
from orthant.biadjacency import Biadjacency, biadjacency_from_edges
from orthant.certificate import Certificate
from orthant.errors import FewerComponentsWarning, OrthantError
from orthant.estimators.bipartite_correlation_clustering import BipartiteCorrelationClustering
from orthant.estimators.orthogonal_nmf import OrthogonalNMF
from orthant.factorization import Factorization
from orthant.fitting import factorize
from orthant.persistence import load, save
from orthant.selection import Selection, select_n_components
from orthant.version import __version__

__all__ = [
    "Biadjacency",
    "BipartiteCorrelationClustering",
    "Certificate",
    "Factorization",
    "FewerComponentsWarning",
    "OrthantError",
    "OrthogonalNMF",
    "Selection",
    "__version__",
    "baselines",
    "biadjacency_from_edges",
    "datasets",
    "factorize",
    "load",
    "measures",
    "save",
    "select_n_components",
]
