"""Segments of a compressed (CSR or CSC) array, and slices of anything with rows."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from orthonmf.typing import Array


def first_largest(indptr: Array, scores: Array) -> tuple[Array, Array]:
    """Find the largest score of every segment, the earliest one where several are equal.

    Segment s is ``scores[indptr[s]:indptr[s + 1]]``. Returns the segments that are not empty, and
    where in ``scores`` each has its largest.
    """
    segments = np.flatnonzero(np.diff(indptr))
    if len(segments) == 0:
        return segments, segments
    starts = np.asarray(indptr)[segments]
    lengths = np.diff(indptr)[segments]
    largest = np.repeat(np.maximum.reduceat(scores, starts), lengths)
    candidates = np.flatnonzero(scores == largest)
    owners = np.repeat(np.arange(len(segments)), lengths)[candidates]
    return segments, candidates[np.r_[True, owners[1:] != owners[:-1]]]


def spread(starts: Array, lengths: Array) -> Array:
    """Concatenate the ranges ``starts[s] ... starts[s] + lengths[s] - 1`` of all segments."""
    ends = np.cumsum(lengths)
    total = int(ends[-1]) if len(ends) else 0
    return np.arange(total) + np.repeat(starts - (ends - lengths), lengths)


def slices(n: int, size: int) -> Iterator[slice]:
    """Slices of what has n rows, so many at a time, at least one."""
    size = max(1, size)
    return (slice(start, min(start + size, n)) for start in range(0, n, size))
