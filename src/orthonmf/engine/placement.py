"""Vectors with one entry per row, which lie where the rows do: on the host, or on a device.

On the host such a vector is an array of NumPy; on a device one that computes NumPy's functions
there (`engine/gpu/arrays.py`). What needs more than these functions is asked of it here.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from orthonmf.typing import Array


def is_on_device(values: Any) -> bool:
    """Whether a vector lies on a device: it then has methods for what is asked of it here."""
    return hasattr(values, "fetch")


def on_host(values: Any) -> Any:
    """The same values as an array of NumPy; what is one stays as it is."""
    return values.fetch() if is_on_device(values) else values


def take(table: Array, labels: Any) -> Any:
    """The entry of a table (k,) for every label (n,), where the labels lie; -1 is the last one.

    NumPy's own function asks the table alone where to compute.
    """
    return labels.take_from(table) if is_on_device(labels) else np.take(table, labels)


def find_largest(values: Any, least: Any, count: int) -> Array:
    """Positions of up to ``count`` largest values (N,) that exceed the least, the largest first.

    ``least`` is a number or (N,); of equal values the first comes first.
    """
    if is_on_device(values):
        return values.find_largest(least, count)
    worth = np.flatnonzero(values > least)
    return worth[np.argsort(-values[worth], kind="stable")][:count]
