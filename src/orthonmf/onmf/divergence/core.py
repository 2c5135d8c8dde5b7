"""Groups of rows and groups of columns at once, with a core: information-theoretic co-clustering.

The best scales are the sums of rows and columns whatever the groups, and the core is what the joint
counts of groups are compared with independence. Given the groups of one side, the other side is
groups of the rows of a small table: sums over the groups of the first.
"""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_array

from orthonmf.engine.counts import Counts, ask_for_entries, entropies
from orthonmf.engine.matrix import Matrix
from orthonmf.engine.profiles import group_rows, pool_rows
from orthonmf.onmf.divergence.moves import move_rows
from orthonmf.onmf.divergence.one_side import (
    UNUSED,
    labels_of_init,
    read_enough,
    scales_of_columns,
    sum_columns,
    to_profiles,
)
from orthonmf.onmf.divergence.search import STEPS, GroupSearch
from orthonmf.onmf.divergence.sweeps import label_rows, sweep_plainly
from orthonmf.onmf.options import Options
from orthonmf.onmf.solution import Solution
from orthonmf.progress import announce
from orthonmf.typing import Array
from orthonmf.vectors import unit_sums

MOST_ROUNDS, LEAST_GAIN = 20, 1e-6
MOVE_ROUNDS, MOVE_TOL = 10, 1e-6


def factorize_information(matrix: Matrix, options: Options) -> Solution:
    """Groups of rows and of columns that keep as much information as we can."""
    ask_for_entries(matrix)
    k, n_groups, rng = options.n_components, options.n_groups, options.rng
    counts, sampled = read_enough(matrix, max(k, n_groups), rng)
    rows = GroupSearch(counts, k, options)
    labels = rows.run(labels_of_init(matrix, counts, options))
    pooled = counts.pooled(labels, k)
    columns = GroupSearch(Counts(csr_array(pooled.T)), n_groups, options)
    feature_labels = columns.run()
    step = options.steps.next_step()
    if not step.finished:
        start = pool_columns(pooled, feature_labels, n_groups)
        history, labels, feature_labels = take_turns(
            matrix, start, feature_labels, counts.information, rng
        )
        step.finish(history, labels=labels, feature_labels=feature_labels)
    labels, feature_labels = (
        step.arrays[name].astype(np.int64) for name in ("labels", "feature_labels")
    )
    table = pool_columns(pool_rows(matrix, labels, k), feature_labels, n_groups)
    sums = sum_columns(matrix)
    components = profiles_of_groups(matrix, table, feature_labels, sums)
    return Solution(
        components,
        history=step.history,
        n_sweeps=rows.n_sweeps + columns.n_sweeps + len(step.history),
        steps=(*sampled, *STEPS, "turns of the two sides"),
        unused=UNUSED,
        components=components,
        groups=scales_of_columns(matrix, feature_labels, sums),
    )


def profiles_of_groups(
    matrix: Matrix, table: Array, feature_labels: Array, column_sums: Array
) -> Array:
    """Components (k, m) from joint counts (k, l): every group of columns keeps its proportions."""
    members = (feature_labels == np.arange(table.shape[1])[:, None]) * column_sums
    return to_profiles(matrix, table @ unit_sums(members))


def take_turns(
    matrix: Matrix,
    start: Array,
    feature_labels: Array,
    information: float,
    rng: np.random.Generator,
) -> tuple[tuple[float, ...], Array, Array]:
    """Lost shares, labels (n,) and feature labels (m,) after turns that lower the divergence.

    ``start`` (k, l) are joint counts of groups, by which rows first find theirs; ``information``
    is about that of X.
    """
    (k, n_groups), history, kept = start.shape, [1.0], 0.0
    labels: Array | None = None
    for _ in range(MOST_ROUNDS):
        table = Counts(csr_array(group_rows(matrix, feature_labels, n_groups)))
        if labels is None:
            labels = label_rows(table, start)
        labels = _improve(table, labels, k, rng)
        pooled = pool_rows(matrix, labels, k)
        feature_labels = _improve(Counts(csr_array(pooled.T)), feature_labels, n_groups, rng)
        before, kept = kept, kept_information(pool_columns(pooled, feature_labels, n_groups))
        lost = max(information - kept, 0.0)
        history.append(min(lost / information if information > 0 else 0.0, history[-1]))
        announce("turn", history[-1])
        if kept - before <= LEAST_GAIN * lost:
            break
    assert labels is not None
    return tuple(history[1:]), labels, feature_labels


def _improve(table: Counts, labels: Array, k: int, rng: np.random.Generator) -> Array:
    swept = sweep_plainly(table, labels, k, MOVE_ROUNDS)
    return move_rows(table, swept.labels, k, rng, MOVE_ROUNDS, MOVE_TOL).labels


def pool_columns(pooled: Array, feature_labels: Array, n_groups: int) -> Array:
    """Joint counts (k, l) of groups from sums over rows (k, m)."""
    members = (feature_labels[:, None] == np.arange(n_groups)).astype(np.float64)
    return pooled @ members


def kept_information(table: Array) -> float:
    """``N I(C; D)`` of joint counts (k, l)."""
    return float(entropies(table).sum() - entropies(table.sum(axis=0)[None, :])[0])
