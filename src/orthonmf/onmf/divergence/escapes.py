"""Ways out of a local optimum: two groups are merged, another one is cut in two, rows are moved."""

from __future__ import annotations

from dataclasses import replace
from heapq import nsmallest
from itertools import combinations

import numpy as np

from orthonmf.engine.counts import Counts, entropies
from orthonmf.onmf.divergence.moves import move_rows
from orthonmf.onmf.divergence.starts import draw_labels
from orthonmf.onmf.divergence.sweeps import Grouping, sweep_smoothly
from orthonmf.typing import Array

ROUNDS, TRIES = 2, 3
# Of many groups only those that cost most are cut.
MOST_CUTS = 24
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
    pooled = counts.pooled(labels, k)
    merges = merge_costs(pooled)
    costs = np.bincount(labels, counts.row_entropies, minlength=k) - entropies(pooled)
    cuts = {
        int(group): cut_group(counts, np.flatnonzero(labels == group), rng)
        for group in np.sort(np.argsort(-costs, kind="stable")[:MOST_CUTS])
    }
    # Every pair meets one of the best cuts: two of them may be of the pair itself.
    best_cuts = nsmallest(TRIES + 2, cuts, key=lambda group: -cuts[group][1])
    trades = (
        (merges[a, b] - cuts[c][1], a, b, c)
        for a, b in combinations(range(k), 2)
        for c in best_cuts
        if c not in (a, b)
    )
    n_sweeps = 0
    for _, a, b, c in nsmallest(TRIES, trades):
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
    """(k, k) what it costs to merge a group with a later one, from pooled sums (k, m)."""
    kept, merges = entropies(pooled), np.zeros((len(pooled), len(pooled)))
    for a in range(len(pooled)):
        merges[a, a:] = kept[a] + kept[a:] - entropies(pooled[a] + pooled[a:])
    return merges


def cut_group(counts: Counts, rows: Array, rng: np.random.Generator) -> tuple[Array, float]:
    """The rows that leave a group when it is cut in two, and how much that lowers the cost."""
    part = counts.part(rows)
    if len(rows) < 2 or not part.total > 0:
        return rows[:0], 0.0
    labels = sweep_smoothly(part, draw_labels(part, 2, rng), 2, CUT_SWEEPS)
    moved = move_rows(part, labels, 2, rng, CUT_ROUNDS, CUT_TOL)
    return rows[moved.labels == 1], max(part.information - moved.cost, 0.0)
