"""Orthogonal non-negative matrix factorization, with a proof of how good the answer is."""

from orthant import datasets, measures
from orthant.certificate import Certificate
from orthant.errors import FewerComponentsWarning, OrthantError
from orthant.factorization import Factorization
from orthant.fitting import factorize

__version__ = "0.1.0"

__all__ = [
    "Certificate",
    "Factorization",
    "FewerComponentsWarning",
    "OrthantError",
    "__version__",
    "datasets",
    "factorize",
    "measures",
]
