"""Vectors with one entry per row, which lie where the rows do: on the host, or on a device.

On the host such a vector is an array of NumPy; on a device one that computes NumPy's functions
there (`engine/gpu/arrays.py`). What needs more than these functions is asked of it here.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy as np

from orthonmf.typing import Array


class OnDevice(ABC):
    """An array with one entry, or one row, per point that lies on a device."""

    __slots__ = ()

    @abstractmethod
    def fetch(self) -> Array:
        """A copy on the host."""

    @abstractmethod
    def find_places(self, steps: Array, parts: int) -> Array:
        """What :func:`find_places` gives, without bringing all entries to the host."""

    @abstractmethod
    def find_largest(self, least: Any, count: int) -> Array:
        """What :func:`find_largest` gives, without bringing all entries to the host."""

    @abstractmethod
    def take_from(self, table: Array) -> OnDevice:
        """What :func:`take` gives, on the device."""

    @abstractmethod
    def find_starts(self) -> Array:
        """What :func:`find_starts` gives, computed there: new memory on the host is slow."""


def on_host(values: Any) -> Any:
    """The same values as an array of NumPy; what is one stays as it is."""
    return values.fetch() if isinstance(values, OnDevice) else values


def take(table: Array, labels: Any) -> Any:
    """The entry of a table (k,) for every label (n,), where the labels lie; -1 is the last one.

    NumPy's own function asks the table alone where to compute.
    """
    return labels.take_from(table) if isinstance(labels, OnDevice) else np.take(table, labels)


def find_largest(values: Array, least: Any, count: int) -> Array:
    """Positions of up to ``count`` largest values (N,) that exceed the least, the largest first.

    ``least`` is a number or (N,); of equal values the first comes first.
    """
    if isinstance(values, OnDevice):
        return values.find_largest(least, count)
    worth = np.flatnonzero(values > least)
    return worth[np.argsort(-values[worth], kind="stable")][:count]
