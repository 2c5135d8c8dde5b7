"""Vectors with one entry per point, wherever they lie: the few functions that see all of them.

A vector is an array of NumPy, or one on a device that computes the functions of NumPy there
(`engine/device_arrays.py`). What is asked for here comes to the host and is small.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from orthant.numerics.arrays import Array


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
    def look_up(self, table: Array) -> Any:
        """What :func:`look_up` gives, left there."""

    @abstractmethod
    def find_starts(self) -> Array:
        """What :func:`find_starts` gives, computed there: new memory on the host is slow."""


def on_host(values: Any) -> Any:
    """The same values as an array of NumPy; what is one stays as it is."""
    return values.fetch() if isinstance(values, OnDevice) else values


def count_equal(weights: Array) -> float:
    """How many equal points weights (N,) are worth: ``(sum w)^2 / sum w^2``."""
    squares = float(weights @ weights)
    return float(weights.sum()) ** 2 / squares if squares > 0 else 0.0


def draw(chances: Array, size: int, rng: np.random.Generator) -> Array:
    """Draw positions with probability proportional to their chances, with replacement."""
    return find_places(chances, rng.random(size), 1)


def draw_evenly(chances: Array, size: int, rng: np.random.Generator) -> Array:
    """Positions (size,), ascending, each as often as its share of the chances (N,) says.

    Systematic sampling: one random offset, equal steps along the cumulated chances, so that
    positions next to each other are not drawn together by accident.
    """
    return find_places(chances, np.arange(size) + rng.random(), size)


def find_places(chances: Array, steps: Array, parts: int) -> Array:
    """Where the cumulated chances (N,) pass ``steps`` (s,), each one of ``parts`` of their sum."""
    if isinstance(chances, OnDevice):
        return chances.find_places(steps, parts)
    cumulated = np.cumsum(chances)
    picks = np.searchsorted(cumulated, steps * (cumulated[-1] / parts), side="right")
    # Rounding may point just past the end, where the last position with a chance is meant.
    return np.minimum(picks, np.flatnonzero(chances)[-1])


def look_up(table: Array, labels: Any) -> Any:
    """The entries of a small table (k,) at labels (N,), where those lie; -1 is the last one."""
    return labels.look_up(table) if isinstance(labels, OnDevice) else table[labels]


def find_largest(values: Array, least: Any, count: int) -> Array:
    """Positions of up to ``count`` largest values (N,) that exceed the least, the largest first.

    ``least`` is a number or (N,); of equal values the first comes first.
    """
    if isinstance(values, OnDevice):
        return values.find_largest(least, count)
    worth = np.flatnonzero(values > least)
    return worth[np.argsort(-values[worth], kind="stable")][:count]


@dataclass(frozen=True, slots=True, eq=False)
class ByLabel:
    """Loadings (n, k) with at most one entry per row, wherever labels and scales lie."""

    labels: Any  # (n,) int32, -1 for none
    scales: Any  # (n,)
    k: int
    starts: Array | None = None  # where the entries of every row begin, if that is known

    def __getitem__(self, rows: slice) -> ByLabel:
        """Those of some rows."""
        return ByLabel(self.labels[rows], self.scales[rows], self.k)

    def astype(self, dtype: Any) -> ByLabel:
        """The same with scales of another dtype."""
        return ByLabel(self.labels, self.scales.astype(dtype), self.k)

    def shift(self, powers: Array, exponent: int, rows: Array | None) -> ByLabel:
        """Scales times ``2**(powers[label] - exponent - rows)``."""
        shifts = look_up(powers, self.labels) - exponent
        if rows is not None:
            shifts = shifts - rows
        return ByLabel(self.labels, np.ldexp(self.scales, shifts), self.k)

    def on_host(self) -> ByLabel:
        """The same on the host."""
        if not isinstance(self.labels, OnDevice):
            return self
        starts = find_starts(self.labels)
        return ByLabel(on_host(self.labels), on_host(self.scales), self.k, starts)

    def csr(self) -> csr_array:
        """The same on the host, as a CSR array."""
        held = self.on_host()
        return one_per_row(held.labels, held.scales, held.k, held.starts)


def by_label(loadings: csr_array) -> ByLabel:
    """The labels and scales of a CSR array that has at most one entry in a row."""
    counts = np.diff(loadings.indptr)
    assert counts.max(initial=0) <= 1
    used = counts > 0
    labels = np.full(len(counts), -1, dtype=np.int32)
    scales = np.zeros(len(counts), dtype=loadings.dtype)
    labels[used], scales[used] = loadings.indices, loadings.data
    return ByLabel(labels, scales, loadings.shape[1])


def find_starts(labels: Any) -> Array:
    """(n + 1,) where the entries of every row begin, if label -1 (n,) means none."""
    if isinstance(labels, OnDevice):
        return labels.find_starts()
    starts = np.zeros(len(labels) + 1, dtype=np.int32 if len(labels) < 2**31 else np.int64)
    np.cumsum(labels >= 0, out=starts[1:])
    return starts


def one_per_row(labels: Array, scales: Array, k: int, starts: Array | None = None) -> csr_array:
    """CSR array with ``scales[i]`` in column ``labels[i]`` of row i; nothing where it is -1."""
    starts = find_starts(labels) if starts is None else starts
    if starts[-1] < len(labels):  # otherwise the arrays serve as they are
        used = labels >= 0
        labels, scales = labels[used], scales[used]
    return csr_array((scales, labels, starts), shape=(len(starts) - 1, k))
