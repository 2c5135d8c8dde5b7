"""Ways out of a local optimum: two groups are merged, another one is cut in two, rows are moved."""

from __future__ import annotations

from dataclasses import replace
from itertools import permutations

import numpy as np

from orthonmf.engine.counts import Counts, entropies
from orthonmf.onmf.divergence.moves import move_rows
from orthonmf.onmf.divergence.starts import draw_labels
from orthonmf.onmf.divergence.sweeps import Grouping, sweep_smoothly
from orthonmf.typing import Array

ROUNDS, TRIES = 2, 3
CUT_SWEEPS, CUT_ROUNDS, CUT_TOL = 6, 1, 1e-3
# An escape goes on if after its first rounds it costs little more than what is in hand.
LOOK_ROUNDS, SLACK = 1, 0.002
MOVE_ROUNDS, MOVE_TOL = 5, 1e-4
LEAST_GAIN = 1e-6


def escape(counts: Counts, groups: Grouping, k: int, rng: np.random.Generator) -> Grouping:
    """Groups after a round of escapes; the same ones if none is better.

    The pairs that lose least when merged meet the cuts that gain most; the first that ends below
    the cost in hand is taken.
    """
    labels = groups.labels
    merges = merge_costs(counts.pooled(labels, k))
    cuts = [cut_group(counts, np.flatnonzero(labels == group), rng) for group in range(k)]
    options = [
        (merges[a, b] - cuts[c][1], a, b, c) for a, b, c in permutations(range(k), 3) if a < b
    ]
    n_sweeps = 0
    for _, a, b, c in sorted(options)[:TRIES]:
        tried = np.where(labels == b, a, labels)
        tried[cuts[c][0]] = b
        looked = move_rows(counts, tried, k, rng, LOOK_ROUNDS, MOVE_TOL)
        n_sweeps += looked.n_sweeps
        if looked.cost > (1 + SLACK) * groups.cost:
            continue
        moved = move_rows(counts, looked.labels, k, rng, MOVE_ROUNDS, MOVE_TOL)
        n_sweeps += moved.n_sweeps
        if moved.cost < groups.cost * (1 - LEAST_GAIN):
            return replace(moved, n_sweeps=n_sweeps)
    return replace(groups, n_sweeps=n_sweeps)


def merge_costs(pooled: Array) -> Array:
    """(k, k) what it costs to merge two groups with pooled sums (k, m)."""
    kept = entropies(pooled)
    return np.array([kept[a] + kept - entropies(pooled[a] + pooled) for a in range(len(pooled))])


def cut_group(counts: Counts, rows: Array, rng: np.random.Generator) -> tuple[Array, float]:
    """The rows that leave a group when it is cut in two, and how much that lowers the cost."""
    part = counts.part(rows)
    if len(rows) < 2 or not part.total > 0:
        return rows[:0], 0.0
    labels = sweep_smoothly(part, draw_labels(part, 2, rng), 2, CUT_SWEEPS)
    moved = move_rows(part, labels, 2, rng, CUT_ROUNDS, CUT_TOL)
    return rows[moved.labels == 1], max(part.information - moved.cost, 0.0)
