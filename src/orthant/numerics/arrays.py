"""The alias for arrays in signatures (docstrings tell shapes and dtypes), and a safe division."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]


def divide(values: Array, by: Array) -> Array:
    """``values / by`` in float64, zero where ``by`` is zero; ``by`` is never negative."""
    if (by > 0).all():
        return np.divide(values, by, dtype=np.float64)
    positive = by > 0
    found = np.divide(values, np.where(positive, by, 1.0), dtype=np.float64)
    return np.where(positive, found, 0.0)
