"""The fit over samples, or over features, under the Kullback-Leibler divergence.

Data of moderate size are searched as they are. Of larger ones a sample of rows is, and what it
finds goes through smoothed sweeps and moves over all rows, a block at a time.
"""

from __future__ import annotations

import numpy as np

from orthonmf.engine.counts import (
    Counts,
    ask_for_entries,
    entry_weights,
    read_counts,
    sample_counts,
)
from orthonmf.engine.matrix import Matrix
from orthonmf.engine.profiles import logarithms
from orthonmf.onmf.divergence.passes import settle_columns, settle_rows
from orthonmf.onmf.divergence.search import STEPS, GroupSearch
from orthonmf.onmf.options import Options
from orthonmf.onmf.solution import Solution
from orthonmf.typing import Array
from orthonmf.vectors import unit_sums

# Entries up to which all of a matrix is searched, and of the sample of a larger one.
MOST_ENTRIES, SAMPLED_ENTRIES = 2**23, 2**20
FEWEST_ROWS_PER_GROUP = 200
UNUSED = "no point went to the others; the data may hold no more distinct profiles"


def factorize_profiles(matrix: Matrix, options: Options) -> Solution:
    """Give every sample, or every feature, to one component, with a small divergence."""
    samples, k = options.orthogonal == "samples", options.n_components
    if not samples:
        ask_for_entries(matrix)
    seen, whole = read_enough(matrix, k, options.rng)
    counts = seen if samples else seen.transposed()
    search = GroupSearch(counts, k, options)
    labels = search.run(labels_of_init(matrix, seen, options))
    if samples:
        settled = settle_rows(matrix, counts.pooled(labels, k), options, sampled=not whole)
        components = to_profiles(matrix, settled.pooled)
    else:
        settled = settle_columns(matrix, labels, k, options)
        components = scales_of_columns(matrix, settled.labels, settled.pooled)
    return Solution(
        components,
        history=tuple(search.history),
        n_sweeps=search.n_sweeps + settled.n_sweeps,
        steps=((() if whole else ("sample of rows",)) + STEPS + settled.steps),
        unused=UNUSED,
        components=components,
    )


def read_enough(matrix: Matrix, k: int, rng: np.random.Generator) -> tuple[Counts, bool]:
    """The counts of a matrix, or of a sample of its rows that stands for it; whether it is all.

    Rows are drawn by their sums, and each weighs what it stands for.
    """
    n = matrix.shape[0]
    size = max(FEWEST_ROWS_PER_GROUP * k, int(n * (SAMPLED_ENTRIES / max(1, matrix.n_entries))))
    if matrix.n_entries <= MOST_ENTRIES or size >= n / 2:
        return read_counts(matrix), True
    return sample_counts(matrix, size, rng), False


def labels_of_init(matrix: Matrix, counts: Counts, options: Options) -> Array | None:
    """Labels of the points by the components that were given as a start; None without."""
    if isinstance(options.init, str):
        return None
    profiles = options.init * entry_weights(matrix)[1]
    if options.orthogonal == "features":
        return profiles.argmax(axis=0)
    labels: Array = (counts.rows @ np.ascontiguousarray(logarithms(profiles).T)).argmax(axis=1)
    return labels


def to_profiles(matrix: Matrix, pooled: Array) -> Array:
    """Profiles of X (k, m) of sum 1 from weighted sums of its rows."""
    return unit_sums(matrix.to_components(matrix.to_components(pooled)))


def scales_of_columns(matrix: Matrix, labels: Array, column_sums: Array) -> Array:
    """Components (k, m) of sum 1 that hold the scale of every column in the row of its label."""
    members = labels == np.arange(labels.max(initial=-1) + 1)[:, None]
    return to_profiles(matrix, np.where(members, column_sums, 0.0))
