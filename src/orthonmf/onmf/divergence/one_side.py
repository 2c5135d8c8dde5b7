"""The fit over samples, or over features, under the Kullback-Leibler divergence.

Data of moderate size are searched as they are. Of larger ones a sample of rows is, and what it
finds goes through moves over all rows, a block at a time. The last sweeps are those by which rows
are given to components that are published, so labels that rest here are the labels of the result,
and `transform` finds them again.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from orthonmf.engine.counts import (
    Counts,
    ask_for_entries,
    entry_weights,
    fold_counts,
    read_counts,
    reads_entries,
    sample_counts,
    whole_block,
)
from orthonmf.engine.kernels.interface import Kernel
from orthonmf.engine.matrix import Matrix
from orthonmf.engine.profiles import group_rows, logarithms, pool_rows, sweep_profiles
from orthonmf.onmf.divergence.moves import PooledGroups, move_block
from orthonmf.onmf.divergence.search import STEPS, GroupSearch
from orthonmf.onmf.divergence.sweeps import label_rows
from orthonmf.onmf.options import Options
from orthonmf.onmf.solution import Solution
from orthonmf.progress import announce
from orthonmf.typing import Array
from orthonmf.vectors import unit_sums

# Entries up to which all of a matrix is searched, and of the sample of a larger one.
MOST_ENTRIES, SAMPLED_ENTRIES = 2**23, 2**20
FEWEST_ROWS_PER_GROUP = 200
# What a sample has found goes through so many rounds of moves over all rows.
MOVE_PASSES = 3
UNUSED = "no point went to the others; the data may hold no more distinct profiles"


def factorize_profiles(matrix: Matrix, options: Options) -> Solution:
    """Give every sample, or every feature, to one component, with a small divergence."""
    samples, k = options.orthogonal == "samples", options.n_components
    if not samples:
        ask_for_entries(matrix)
    seen, sampled = read_enough(matrix, k, options.rng)
    counts = seen if samples else seen.transposed()
    search = GroupSearch(counts, k, options)
    labels = search.run(labels_of_init(matrix, seen, options))
    if samples:
        settled = settle_rows(matrix, counts.pooled(labels, k), options, sampled=bool(sampled))
    else:
        settled = settle_columns(matrix, labels, k, options)
    return replace(
        settled,
        history=tuple(search.history),
        n_sweeps=search.n_sweeps + settled.n_sweeps,
        steps=(*sampled, *STEPS, *settled.steps),
        unused=UNUSED,
    )


def read_enough(matrix: Matrix, k: int, rng: np.random.Generator) -> tuple[Counts, tuple[str, ...]]:
    """The counts of a matrix, or of a sample of its rows that stands for it, and that step then.

    Rows are drawn by their sums, and each weighs what it stands for.
    """
    n = matrix.shape[0]
    size = max(FEWEST_ROWS_PER_GROUP * k, int(n * (SAMPLED_ENTRIES / max(1, matrix.n_entries))))
    if matrix.n_entries <= MOST_ENTRIES or size >= n / 2:
        return read_counts(matrix), ()
    return sample_counts(matrix, size, rng), ("sample of rows",)


def labels_of_init(matrix: Matrix, counts: Counts, options: Options) -> Array | None:
    """Labels of the points by the components that were given as a start; None without."""
    if isinstance(options.init, str):
        return None
    profiles = options.init * entry_weights(matrix)[1]
    if options.orthogonal == "features":
        return profiles.argmax(axis=0)
    return label_rows(counts, profiles)


def to_profiles(matrix: Matrix, pooled: Array) -> Array:
    """Profiles of X (k, m) of sum 1 from weighted sums of its rows.

    What is above zero stays so in the dtype of X: at zero a divergence would be infinite.
    """
    profiles = unit_sums(matrix.to_components(matrix.to_components(pooled)))
    least = float(np.finfo(matrix.dtype).smallest_subnormal)
    return np.where(pooled > 0, np.maximum(profiles, least), 0.0)


def sum_columns(matrix: Matrix) -> Array:
    """(m,) weighted sums of the columns."""
    return pool_rows(matrix, np.zeros(matrix.shape[0], dtype=np.int64), 1)[0]


def scales_of_columns(matrix: Matrix, labels: Array, column_sums: Array) -> Array:
    """Components (k, m) of sum 1 that hold the scale of every column in the row of its label."""
    members = labels == np.arange(labels.max(initial=-1) + 1)[:, None]
    return to_profiles(matrix, np.where(members, column_sums, 0.0))


def settle_rows(matrix: Matrix, pooled: Array, options: Options, sampled: bool) -> Solution:
    """Profiles after sweeps over all rows from pooled sums (k, m) until labels rest.

    Where those are of a sample, moves come first, unless X lies on a device: they read entry by
    entry.
    """
    swept, n_sweeps = sweep_profiles(matrix, pooled), 1
    steps: tuple[str, ...] = ("sweeps",)
    if sampled and reads_entries(matrix):
        labels, pooled = np.maximum(swept.labels, 0), swept.pooled
        for _ in range(MOVE_PASSES):
            labels, pooled = move_pass(matrix, labels, pooled)
            announce("single moves")
        steps = ("single moves", "sweeps")
        swept = sweep_profiles(matrix, pooled)
        n_sweeps += 1
    labels = swept.labels
    for _ in range(options.max_iter):
        swept = sweep_profiles(matrix, swept.pooled)
        n_sweeps += 1
        announce("sweep")
        if np.array_equal(swept.labels, labels):
            break
        labels = swept.labels
    components = to_profiles(matrix, swept.pooled)
    return Solution(components, n_sweeps=n_sweeps, steps=steps, components=components)


def move_pass(matrix: Matrix, labels: Array, pooled: Array) -> tuple[Array, Array]:
    """Labels (n,) and pooled sums (k, m) after moves of single rows, block after block.

    One block moves at a time, in the order of the blocks, so results depend on no thread.
    """
    groups, moved = PooledGroups.of(pooled), labels.copy()

    def absorb(part: slice, block: Counts) -> None:
        for at, some in block.pieces:
            rows = slice(part.start + at.start, part.start + at.stop)
            moved[rows] = move_block(some, moved[rows], groups)

    fold_counts(matrix, whole_block, absorb=absorb)
    return moved, np.ascontiguousarray(groups.pooled.T)


def settle_columns(matrix: Matrix, labels: Array, k: int, options: Options) -> Solution:
    """Scales of the columns after sweeps, in two reads each, until labels (m,) rest."""
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
    components = scales_of_columns(matrix, labels, sum_columns(matrix))
    return Solution(components, n_sweeps=n_sweeps, steps=("sweeps",), components=components)


def column_scores(matrix: Matrix, logs: Array) -> Array:
    """(k, m) sums over the rows of entries times logarithms (k, n), in one read."""
    row_weights, column_weights = entry_weights(matrix)
    by_row = {"logs": row_weights[:, None] * logs.T}
    (scores,) = matrix.fold(score_block, {}, by_row, sums=[(len(logs), matrix.shape[1])])
    return scores * column_weights


def score_block(kernel: Kernel[Any], rows: Any, logs: Array) -> Array:
    """The same for one block, columns not weighted."""
    return np.asarray(rows.T @ logs).T
