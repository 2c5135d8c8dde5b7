"""Orthogonal non-negative matrix factorization, with a proof of how good the answer is."""

from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from orthonmf.version import __version__

if TYPE_CHECKING:
    from orthonmf import baselines as baselines
    from orthonmf import datasets as datasets
    from orthonmf import measures as measures
    from orthonmf.annotation import annotate as annotate
    from orthonmf.certificate import Certificate as Certificate
    from orthonmf.chi_square import chi_square_weights as chi_square_weights
    from orthonmf.correlation_clustering.graph import Biadjacency as Biadjacency
    from orthonmf.errors import FewerComponentsWarning as FewerComponentsWarning
    from orthonmf.errors import OrthoNMFError as OrthoNMFError
    from orthonmf.estimators.bipartite_correlation_clustering import (
        BipartiteCorrelationClustering as BipartiteCorrelationClustering,
    )
    from orthonmf.estimators.orthogonal_nmf import OrthogonalNMF as OrthogonalNMF
    from orthonmf.factorization import Factorization as Factorization
    from orthonmf.files.saving import load as load
    from orthonmf.files.saving import save as save
    from orthonmf.fitting import factorize as factorize
    from orthonmf.inputs.tensors import stream_to_device as stream_to_device
    from orthonmf.partitions import certify as certify
    from orthonmf.report.writing import write_report as write_report
    from orthonmf.selection import Selection as Selection
    from orthonmf.selection import select_n_components as select_n_components
    from orthonmf.stability.record import Stability as Stability

# Where the public names live. They are imported when they are first looked at, so that the command
# can answer an interrupt before NumPy and its like have been loaded.
_HOMES = {
    "Biadjacency": "correlation_clustering.graph",
    "BipartiteCorrelationClustering": "estimators.bipartite_correlation_clustering",
    "Certificate": "certificate",
    "Factorization": "factorization",
    "FewerComponentsWarning": "errors",
    "OrthoNMFError": "errors",
    "OrthogonalNMF": "estimators.orthogonal_nmf",
    "Selection": "selection",
    "Stability": "stability.record",
    "annotate": "annotation",
    "certify": "partitions",
    "chi_square_weights": "chi_square",
    "factorize": "fitting",
    "load": "files.saving",
    "stream_to_device": "inputs.tensors",
    "save": "files.saving",
    "select_n_components": "selection",
    "write_report": "report.writing",
}
__all__ = ["__version__", "baselines", "datasets", "measures", *_HOMES]


def __getattr__(name: str) -> Any:
    """A public name or a module of the package, imported now."""
    if name in _HOMES:
        value = getattr(import_module(f"orthonmf.{_HOMES[name]}"), name)
        globals()[name] = value
        return value
    if not name.startswith("_") and find_spec(f"orthonmf.{name}") is not None:
        return import_module(f"orthonmf.{name}")
    raise AttributeError(f"module 'orthonmf' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
