"""Sweeps over groups of rows: plain ones, and smoothed ones that leave every row out of its own.

They are for counts in memory; one read of rows wherever they lie is `engine/profiles.py`.

Plain sweeps get stuck at once on sparse counts: the profile of another group lacks some word of a
row, that of its own never does. Mixed with the profile of all rows no profile lacks a word, and
judged without itself a row has no reason to stay where it is. Only both together help.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from orthonmf.engine.counts import SMALLEST, Counts
from orthonmf.engine.profiles import logarithms
from orthonmf.typing import Array
from orthonmf.vectors import divide

# By how much profiles are mixed with that of all rows, first and last.
FIRST_SHARE, LAST_SHARE = 0.3, 0.1
LEAST = np.float32(1e-37)
ROUNDING = 1e-15  # of the sum of a group, without one of its rows


def sweep_smoothly(
    counts: Counts, labels: Array, k: int, n_sweeps: int, first_share: float = FIRST_SHARE
) -> Array:
    """Labels (n,) after some sweeps by smoothed profiles; what they cost may rise."""
    overall = counts.column_sums / counts.total
    for share in np.geomspace(first_share, LAST_SHARE, n_sweeps):
        pooled = counts.pooled(labels, k)
        sizes = pooled.sum(axis=1)
        mixed = (1 - share) * divide(pooled, sizes[:, None]) + share * overall
        logs = np.ascontiguousarray(np.log(np.maximum(mixed, SMALLEST)).T)
        swept = [
            _nearest(some, labels[at], logs, pooled, sizes, share * overall, share)
            for at, some in counts.pieces
        ]
        before, labels = labels, np.concatenate(swept)
        if np.array_equal(labels, before):
            break
    return labels


def _nearest(
    block: Counts,
    labels: Array,
    logs: Array,
    pooled: Array,
    sizes: Array,
    background: Array,
    share: float,
) -> Array:
    """(b,) the group with the nearest mixed profile to every row, its own (b,) taken without it.

    ``logs`` (m, k) are logarithms of the mixed profiles, ``pooled`` (k, m) and ``sizes`` (k,) the
    sums of groups, and ``background`` (m,) is the ``share`` that is mixed in.
    """
    m, (columns, x) = block.shape[1], (block.rows.indices, block.rows.data)
    scores = block.rows @ logs
    rest = pooled.take(np.repeat(labels * m, np.diff(block.rows.indptr)) + columns)
    rest -= x
    np.maximum(rest, 0.0, out=rest)
    least = np.maximum(ROUNDING * sizes[labels], SMALLEST)
    without = (1 - share) / np.maximum(sizes[labels] - block.row_sums, least)
    rest *= without.take(block.owners)
    rest += background.take(columns)
    # In float32, whose digits are more than a choice of labels asks for.
    own_logs = rest.astype(np.float32)
    np.log(np.maximum(own_logs, LEAST, out=own_logs), out=own_logs)
    scores[np.arange(len(labels)), labels] = block.sum_entries(own_logs * x)
    return scores.argmax(axis=1)


@dataclass(frozen=True, slots=True)
class Grouping:
    """Groups of rows, and what they cost."""

    labels: Array  # (n,)
    cost: float  # the divergence of the best profiles and scales
    n_sweeps: int = 0  # over all rows, by which these were found

    @classmethod
    def of(cls, counts: Counts, labels: Array, k: int, n_sweeps: int) -> Grouping:
        """Groups by their labels (n,)."""
        return cls(labels, counts.cost(counts.pooled(labels, k)), n_sweeps)


def label_rows(counts: Counts, pooled: Array) -> Array:
    """Labels (n,) of the nearest of the profiles of pooled sums (k, m) to every row."""
    return (counts.rows @ np.ascontiguousarray(logarithms(pooled).T)).argmax(axis=1)


def sweep_plainly(counts: Counts, labels: Array, k: int, max_iter: int) -> Grouping:
    """Groups after sweeps until labels (n,) rest; what they cost never rises."""
    n_sweeps = 0
    for _ in range(max_iter):
        n_sweeps += 1
        swept = label_rows(counts, counts.pooled(labels, k))
        if np.array_equal(swept, labels):
            break
        labels = swept
    return Grouping.of(counts, labels, k, n_sweeps)


def fill_empty(counts: Counts, labels: Array, k: int) -> Array:
    """Labels (n,) where every group without a row has that which costs most where it is."""
    pooled = counts.pooled(labels, k)
    empty = np.flatnonzero(~pooled.any(axis=1))
    if len(empty) == 0:
        return labels
    logs = logarithms(pooled)[labels[counts.owners], counts.rows.indices]
    costs = counts.row_entropies - counts.sum_entries(counts.rows.data * logs)
    labels = labels.copy()
    worst = np.argsort(-costs, kind="stable")[: len(empty)]
    labels[worst] = empty[: len(worst)]
    return labels
