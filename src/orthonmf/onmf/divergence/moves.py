"""Single rows moved between groups, by exact changes of the cost, in batches.

With ``phi(S) = sum S_j ln S_j - |S| ln |S|`` moving a row x from group a to b lowers the cost by
``phi(S_b + x) - phi(S_b) - phi(S_a) + phi(S_a - x)``. Of a block of rows all moves that gain are
made at once, and if together they do not, the better half of them, and so on: a sequential
information bottleneck in batches. No sweep can improve what no move does.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array

from orthonmf.engine.counts import Counts, times_log
from orthonmf.onmf.divergence.sweeps import Grouping
from orthonmf.typing import Array

BLOCKS = 16
# Entries times groups of a block at once.
MOST_AT_ONCE = 2**22
# A gain below this share of a row's sum is within the rounding of float32 logarithms.
ROUNDING = 2e-6
LEAST = np.float32(1e-30)


@dataclass(slots=True)
class PooledGroups:
    """Sums of groups while rows move between them."""

    pooled: Array  # (m, k)
    sizes: Array  # (k,)

    @classmethod
    def of(cls, pooled: Array) -> PooledGroups:
        """Of sums (k, m)."""
        return cls(np.ascontiguousarray(pooled.T), pooled.sum(axis=1))


def move_rows(
    counts: Counts, labels: Array, k: int, rng: np.random.Generator, max_rounds: int, tol: float
) -> Grouping:
    """Groups after rounds of moves from labels (n,); what they cost never rises.

    Rounds over all rows end when one lowers the cost by less than ``tol`` of itself.
    """
    labels, n = labels.copy(), len(labels)
    n_blocks = min(n, max(BLOCKS, -(-len(counts.rows.data) * k // MOST_AT_ONCE)))
    pooled, n_rounds = counts.pooled(labels, k), 0
    cost = counts.cost(pooled)
    while n_rounds < max_rounds:
        n_rounds += 1
        groups = PooledGroups.of(pooled)
        for block in np.array_split(rng.permutation(n), n_blocks):
            labels[block] = move_block(counts.part(block), labels[block], groups)
        pooled = counts.pooled(labels, k)
        before, cost = cost, counts.cost(pooled)
        if before - cost <= tol * cost:
            break
    return Grouping(labels, cost, n_rounds)


def move_block(block: Counts, labels: Array, groups: PooledGroups) -> Array:
    """Labels (b,) of some rows after moves that gain together.

    ``groups``, which these rows are part of, are changed with them.
    """
    gains = join_values(block, labels, groups)
    everyone = np.arange(len(labels))
    stay = gains[everyone, labels]
    targets = gains.argmax(axis=1)
    gain = gains[everyone, targets] - stay
    going = np.flatnonzero(gain > ROUNDING * block.row_sums)
    going = going[np.argsort(-gain[going], kind="stable")]
    labels = labels.copy()
    while len(going):
        if _try_moves(block, going, labels[going], targets[going], groups):
            labels[going] = targets[going]
            break
        going = going[: len(going) // 2]
    return labels


def join_values(block: Counts, labels: Array, groups: PooledGroups) -> Array:
    """(b, k) what every group would keep more if a row, out of its own group, joined it.

    As ``phi(S + x) - phi(S) = sum x ln(S + x) + S ln(1 + x / S)`` less the same of the sizes, in
    float32 and in units of about the sum of all entries, so that the scale of X changes nothing:
    an exact gain is taken of what moves together.
    """
    columns, owners = block.rows.indices, block.owners
    unit = np.ldexp(1.0, -int(np.frexp(groups.sizes.sum())[1]))
    x = (unit * block.rows.data).astype(np.float32)
    entries, own = np.arange(len(x)), labels[owners]
    before = np.take((unit * groups.pooled).astype(np.float32), columns, axis=0)  # (e, k)
    rest = groups.pooled[columns, own] - block.rows.data
    before[entries, own] = unit * np.maximum(rest, 0.0)
    values = x[:, None] / np.maximum(before, LEAST)
    np.log1p(values, out=values)
    values *= before
    before += x[:, None]
    np.log(np.maximum(before, LEAST, out=before), out=before)
    before *= x[:, None]
    values += before
    adder = csr_array(
        (np.ones(len(x), np.float32), entries, block.rows.indptr), shape=(len(labels), len(x))
    )
    joined = np.asarray(adder @ values, dtype=np.float64)
    row_sums = unit * block.row_sums
    sizes = np.repeat(unit * groups.sizes[None, :], len(labels), axis=0)
    rows = np.arange(len(labels))
    sizes[rows, labels] = np.maximum(sizes[rows, labels] - row_sums, 0.0)
    joined -= times_log(sizes + row_sums[:, None]) - times_log(sizes)
    return joined / unit


def _try_moves(block: Counts, going: Array, old: Array, new: Array, groups: PooledGroups) -> bool:
    """Move some rows from their old groups to new ones, if the exact gain of all is positive."""
    moved = block.part(going)
    k = groups.pooled.shape[1]
    columns = moved.rows.indices.astype(np.int64)
    places = np.concatenate([columns * k + old[moved.owners], columns * k + new[moved.owners]])
    values = np.concatenate([-moved.rows.data, moved.rows.data])
    touched, numbers = np.unique(places, return_inverse=True)
    change = np.bincount(numbers, values, minlength=len(touched))
    before = groups.pooled.ravel()[touched]
    after = np.maximum(before + change, 0.0)
    sizes = groups.sizes.copy()
    np.subtract.at(sizes, old, moved.row_sums)
    np.add.at(sizes, new, moved.row_sums)
    np.maximum(sizes, 0.0, out=sizes)
    gained = float((times_log(after) - times_log(before)).sum())
    gained -= float((times_log(sizes) - times_log(groups.sizes)).sum())
    if not gained > 0:
        return False
    groups.pooled.ravel()[touched] = after
    groups.sizes = sizes
    return True
