"""Orthogonal non-negative matrix factorization, with a proof of how good the answer is."""

from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from orthant.version import __version__

if TYPE_CHECKING:
    from orthant import baselines, datasets, measures, preparation
    from orthant.annotation import annotate
    from orthant.certificate import Certificate
    from orthant.chi_square import chi_square_weights
    from orthant.correlation_clustering.edge_lists import biadjacency_from_edges
    from orthant.correlation_clustering.graph import Biadjacency
    from orthant.errors import FewerComponentsWarning, OrthantError
    from orthant.estimators.bipartite_correlation_clustering import BipartiteCorrelationClustering
    from orthant.estimators.orthogonal_nmf import OrthogonalNMF
    from orthant.factorization import Factorization
    from orthant.fitting import factorize
    from orthant.persistence import load, save
    from orthant.report.writing import write_report
    from orthant.selection import Selection, select_n_components
    from orthant.validation.tensors import on_device

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
    "annotate",
    "baselines",
    "biadjacency_from_edges",
    "certify",
    "chi_square_weights",
    "datasets",
    "factorize",
    "load",
    "measures",
    "on_device",
    "preparation",
    "save",
    "select_n_components",
    "write_report",
]

# Where the public names live. They are imported when they are first looked at, so that the command
# can answer an interrupt before NumPy and its like have been loaded.
_HOMES = {
    "Biadjacency": "correlation_clustering.graph",
    "BipartiteCorrelationClustering": "estimators.bipartite_correlation_clustering",
    "Certificate": "certificate",
    "Factorization": "factorization",
    "FewerComponentsWarning": "errors",
    "OrthantError": "errors",
    "OrthogonalNMF": "estimators.orthogonal_nmf",
    "Selection": "selection",
    "annotate": "annotation",
    "biadjacency_from_edges": "correlation_clustering.edge_lists",
    "certify": "partitions",
    "chi_square_weights": "chi_square",
    "factorize": "fitting",
    "load": "persistence",
    "on_device": "validation.tensors",
    "save": "persistence",
    "select_n_components": "selection",
    "write_report": "report.writing",
}


def __getattr__(name: str) -> Any:
    """A public name or a module of the package, imported now."""
    if name in _HOMES:
        value = getattr(import_module(f"orthant.{_HOMES[name]}"), name)
        globals()[name] = value
        return value
    if not name.startswith("_") and find_spec(f"orthant.{name}") is not None:
        return import_module(f"orthant.{name}")
    raise AttributeError(f"module 'orthant' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
