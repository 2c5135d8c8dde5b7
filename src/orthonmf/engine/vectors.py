"""Vectors with one entry per point, wherever they lie, and arithmetic of few vectors (k, m).

A vector with one entry per point is an array of NumPy, or one on a device that computes the
functions of NumPy there (`engine/device_arrays.py`). Only functions from here see all of it: draws,
labels and scales, what they stand for. The few are centers or directions, and lie on the host.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from orthonmf.numerics.arrays import Array

# Entries of a large array that are copied at once.
ENTRIES_AT_ONCE = 2**20


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


class Weighted:
    """Points known by their weights alone, and what follows from these."""

    weights: Array  # (N,) squared length of each point in Y; zero points take part in no sum

    @cached_property
    def total(self) -> float:
        """The energy of all points."""
        return float(self.weights.sum())

    @cached_property
    def equal_count(self) -> float:
        """How many points of equal weight these are worth."""
        return count_equal(self.weights)

    def find_missed(self, sweep: Any) -> Array:
        """(N,) energy of every point that its direction in a sweep does not capture."""
        cosines = np.minimum(divide(sweep.products, sweep.lengths), 1.0)
        return self.weights * (1.0 - np.square(cosines))


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


def draw_sample(weights: Array, size: int, rng: np.random.Generator) -> tuple[Array, Array]:
    """Positions of about ``size`` points by their weights (N,), and how often each was drawn."""
    return np.unique(draw_evenly(weights, size, rng), return_counts=True)


def draw_distinct(chances: Array, size: int, rng: np.random.Generator) -> Array:
    """Draw up to ``size`` different positions one after the other, each by the chances left.

    Each position waits an exponential time at the rate of its chance; the first to arrive win.
    """
    rates = np.where(chances > 0, chances, np.nan)  # what has no chance never arrives
    with np.errstate(over="ignore"):
        arrivals = rng.standard_exponential(len(chances)) / rates
    size = min(size, int(np.count_nonzero(chances > 0)))
    return np.sort(np.argpartition(arrivals, max(size - 1, 0))[:size])


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


def move_idle(
    vectors: Array, idle: Array, missed: Array, least: Array | float, at: Callable[[Array], Array]
) -> bool:
    """Put vectors that no point went to where most is missed: what is unused cannot be lost.

    Parameters
    ----------
    vectors
        (k, m), changed in place.
    idle
        Numbers of the vectors to move.
    missed, least
        (N,) what every point misses, and from which on it is more than rounding.
    at
        Vectors (c, m) for the points at c positions.

    Returns
    -------
    Whether any point was worth moving to.
    """
    chosen = find_largest(missed, least, len(idle))
    vectors[idle[: len(chosen)]] = at(chosen)
    return len(chosen) > 0


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


@dataclass(frozen=True, slots=True)
class Projection:
    """Rows expressed by given components: loadings (n, k), or labels and scales.

    They lie where the rows do.
    """

    dense: Any = None  # (n, k) over features, else None
    by_label: ByLabel | None = None  # over samples and both, else None

    @property
    def labels(self) -> Any:
        """(n,) over samples and both, else None."""
        return None if self.by_label is None else self.by_label.labels

    @property
    def scales(self) -> Any:
        """(n,) over samples and both, else None."""
        return None if self.by_label is None else self.by_label.scales

    @property
    def loadings(self) -> Any:
        """On the host: CSR with at most one entry per row, or dense."""
        return on_host(self.dense) if self.by_label is None else self.by_label.csr()

    def on_host(self) -> Projection:
        """The same, on the host."""
        if self.by_label is None:
            return Projection(on_host(self.dense))
        return Projection(by_label=self.by_label.on_host())

    def in_order(self, order: Array) -> Projection:
        """The same for the same components in another order (k,); dense loadings are moved."""
        if self.by_label is None:
            size = max(1, ENTRIES_AT_ONCE // max(1, len(order)))
            for start in range(0, len(self.dense), size):
                part = slice(start, start + size)
                self.dense[part] = self.dense[part][:, order]
            return self
        numbers = np.full(len(order) + 1, -1, dtype=np.int32)  # the last one for label -1
        numbers[order] = np.arange(len(order))
        labels = look_up(numbers, self.by_label.labels)
        return Projection(by_label=ByLabel(labels, self.by_label.scales, len(order)))


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


def slices(n: int, size: int) -> Iterator[slice]:
    """Slices of what has n rows, so many at a time, at least one."""
    size = max(1, size)
    return (slice(start, min(start + size, n)) for start in range(0, n, size))


def divide(values: Array, by: Array) -> Array:
    """``values / by`` in float64, zero where ``by`` is zero; ``by`` is never negative."""
    if (by > 0).all():
        return np.divide(values, by, dtype=np.float64)
    positive = by > 0
    found = np.divide(values, np.where(positive, by, 1.0), dtype=np.float64)
    return np.where(positive, found, 0.0)


def winners_only(values: Array) -> Array:
    """A (k, m) array with only the largest entry of every column kept, the first of equals."""
    kept = np.zeros_like(values)
    if len(values) == 0:
        return kept
    labels, columns = values.argmax(axis=0), np.arange(values.shape[1])
    kept[labels, columns] = values[labels, columns]
    return kept


def unit_lengths(vectors: Array) -> Array:
    """Rows (k, m) at length one; zero rows stay zero."""
    return divide(vectors, np.sqrt(square_lengths(vectors))[:, None])


def square_lengths(vectors: Array) -> Array:
    """Squared lengths (k,) of rows (k, m)."""
    return np.einsum("sh,sh->s", vectors, vectors)


def by_value(vectors: Array) -> Array:
    """The order (k,) int32 of the rows of an array by what is in them, wherever they stand.

    In what order directions are multiplied decides how their products round. In this one the bits
    of a product depend on the directions alone, so components may be put in another order
    without another read.
    """
    rows = np.ascontiguousarray(vectors) + 0.0  # 0.0 and -0.0 are one value of two bit patterns
    if rows.size == 0:
        return np.arange(len(rows), dtype=np.int32)
    texts = rows.view(f"S{rows.shape[1] * rows.itemsize}")[:, 0]
    return np.argsort(texts, kind="stable").astype(np.int32)
