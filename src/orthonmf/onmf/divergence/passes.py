"""Passes over all rows that end a fit: smoothed sweeps and moves of large data, sweeps to rest.

The last sweeps are those by which rows are given to components that are published, so labels that
rest here are the labels of the result, and `transform` finds them again.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from orthonmf.engine.counts import Counts, entry_weights, fold_counts, reads_entries, whole_block
from orthonmf.engine.kernels.interface import Kernel
from orthonmf.engine.matrix import Matrix
from orthonmf.engine.profiles import group_rows, logarithms, pool_rows, sweep_profiles
from orthonmf.onmf.divergence.moves import Groups, move_block
from orthonmf.onmf.divergence.sweeps import FIRST_SHARE, LAST_SHARE, SmoothProfiles
from orthonmf.onmf.options import Options
from orthonmf.progress import announce
from orthonmf.typing import Array

SMOOTH_SWEEPS, MOVE_PASSES = 3, 2


@dataclass(frozen=True, slots=True)
class Settled:
    """Groups at rest, or where the limit on sweeps was met."""

    labels: Array  # (n,) or (m,)
    pooled: Array  # (k, m) sums of rows; over features (m,) those of the columns
    n_sweeps: int
    steps: tuple[str, ...]


def settle_rows(matrix: Matrix, pooled: Array, options: Options, sampled: bool) -> Settled:
    """Sweeps over all rows from pooled sums (k, m) until labels rest.

    Where those are of a sample, smoothed sweeps and moves come first, unless X lies on a device:
    they read entry by entry.
    """
    swept, n_sweeps = sweep_profiles(matrix, pooled), 1
    steps: tuple[str, ...] = ("sweeps",)
    if sampled and reads_entries(matrix):
        labels, pooled = np.maximum(swept.labels, 0), swept.pooled
        for share in np.geomspace(FIRST_SHARE, LAST_SHARE, SMOOTH_SWEEPS):
            labels, pooled = smooth_pass(matrix, labels, pooled, share)
            announce("smoothed sweep")
        for _ in range(MOVE_PASSES):
            labels, pooled = move_pass(matrix, labels, pooled)
            announce("single moves")
        steps = ("smoothed sweeps", "single moves", "sweeps")
        swept = sweep_profiles(matrix, pooled)
        n_sweeps += SMOOTH_SWEEPS + 1
    labels = swept.labels
    for _ in range(options.max_iter):
        swept = sweep_profiles(matrix, swept.pooled)
        n_sweeps += 1
        announce("sweep")
        if np.array_equal(swept.labels, labels):
            break
        labels = swept.labels
    return Settled(swept.labels, swept.pooled, n_sweeps, steps)


def smooth_pass(matrix: Matrix, labels: Array, pooled: Array, share: float) -> tuple[Array, Array]:
    """Labels (n,) and pooled sums (k, m) after one smoothed sweep over all rows."""
    column_sums = pooled.sum(axis=0)
    smooth = SmoothProfiles.of(pooled, column_sums / column_sums.sum(), share)
    found, sums = np.empty_like(labels), np.zeros(pooled.shape)

    def absorb(part: slice, block: tuple[Array, Array]) -> None:
        found[part] = block[0]
        np.add(sums, block[1], out=sums)

    fold_counts(matrix, smooth_block, absorb, {"smooth": smooth}, {"labels": labels})
    return found, sums


def smooth_block(counts: Counts, smooth: SmoothProfiles, labels: Array) -> tuple[Array, Array]:
    """The same for one block."""
    pieces = [smooth.nearest(some, labels[at]) for at, some in counts.pieces]
    nearest = np.concatenate(pieces).astype(labels.dtype)
    return nearest, counts.pooled(nearest, len(smooth.sizes))


def move_pass(matrix: Matrix, labels: Array, pooled: Array) -> tuple[Array, Array]:
    """Labels (n,) and pooled sums (k, m) after moves of single rows, block after block.

    One block moves at a time, in the order of the blocks, so results depend on no thread.
    """
    groups, moved = Groups.of(pooled), labels.copy()

    def absorb(part: slice, block: Counts) -> None:
        for at, some in block.pieces:
            rows = slice(part.start + at.start, part.start + at.stop)
            moved[rows] = move_block(some, moved[rows], groups)[0]

    fold_counts(matrix, whole_block, absorb)
    return moved, np.ascontiguousarray(groups.pooled.T)


def settle_columns(matrix: Matrix, labels: Array, k: int, options: Options) -> Settled:
    """Sweeps of the columns, in two reads each, until labels (m,) rest."""
    n_sweeps = 0
    while n_sweeps < options.max_iter:
        sums = group_rows(matrix, labels, k)
        scores = column_scores(matrix, logarithms(np.ascontiguousarray(sums.T)))
        swept = scores.argmax(axis=0)
        n_sweeps += 1
        announce("sweep")
        if np.array_equal(swept, labels):
            break
        labels = swept
    everyone = np.zeros(matrix.shape[0], dtype=np.int64)
    return Settled(labels, pool_rows(matrix, everyone, 1)[0], n_sweeps, ("sweeps",))


def column_scores(matrix: Matrix, logs: Array) -> Array:
    """(k, m) sums over the rows of entries times logarithms (k, n), in one read."""
    row_weights, column_weights = entry_weights(matrix)
    by_row = {"logs": row_weights[:, None] * logs.T}
    shape = (len(logs), matrix.shape[1])
    return matrix.add_up(score_block, shape, {}, by_row) * column_weights


def score_block(kernel: Kernel[Any], rows: Any, logs: Array) -> Array:
    """The same for one block, columns not weighted."""
    return np.asarray(rows.T @ logs).T
