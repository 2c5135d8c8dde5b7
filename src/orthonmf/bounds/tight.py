"""The tight bound: which multipliers are sought, for how many points, in the time there is.

What is tried follows from sizes and from the seconds that were given, never from a clock, so a
search that was not cut short proves the same again.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from functools import partial

import numpy as np

from orthonmf.bounds.all_pairs import (
    all_pairs_bound,
    all_pairs_bound_of_rows,
    pairs_proof_seconds,
    proof_seconds,
)
from orthonmf.bounds.allowance import INTERRUPTED, Allowance
from orthonmf.bounds.blocks import blocks_bound
from orthonmf.bounds.eigenvalue_sums import SINGLE_SIDE
from orthonmf.bounds.grouped import grouped_bound
from orthonmf.bounds.lower_bound import LowerBound
from orthonmf.engine.matrix import Matrix
from orthonmf.engine.memory import available_memory
from orthonmf.engine.points import SinglePoints
from orthonmf.numerics.arrays import Array
from orthonmf.numerics.rounding import WEIGHT_ROUNDINGS, round_down, safe_exponent

LARGEST_SIDE = 10_000  # no matrix of a larger side is made, whatever memory there is
# Bytes for every entry of the matrix of a search over all pairs, of one whose products come from
# short rows, and of another proof.
PAIR_BYTES, ROW_PAIR_BYTES, PROOF_BYTES = 20, 12, 48
# Seconds of one core that an iteration of a search takes for every entry of its matrix.
PER_ENTRY = 8e-9
FEW_ITERATIONS = 25  # a search that could not make so many is not begun
AMPLE = 1.5  # with so many times the seconds that all pairs need, groups are not tried first
N_GROUPS = (2000, 1000, 400)  # groups of points, the most that time allows
GROUP_ITERATIONS = 80
# How many searches for blocks matter, how long they take, and what a proof in float64 costs.
BLOCK_SEARCHES, BLOCK_ITERATIONS, BLOCK_PROOF = 6, 100, 1.5
BATCH = 1000  # points in one batch where there is no room for all, nor for their groups
METHOD_IN_BATCHES = "dual solutions for batches of points"


def bound_side(
    points: SinglePoints, k: int, upper: float, allowance: Allowance, rng: np.random.Generator
) -> LowerBound:
    """The best bound for k parts that are disjoint over these points; ``upper`` is the error.

    All pairs where there is room and time for them, groups where that is in doubt, and batches
    where there is room for neither.
    """
    heavy = np.flatnonzero(points.weights > 0)
    n, m = len(heavy), points.dimension
    # Whether products are better had from the coordinates, as these are few and all are normal.
    short = max(2 * m, SINGLE_SIDE) < n and not safe_exponent(points.total)
    pairs_fit = n <= LARGEST_SIDE and has_room((ROW_PAIR_BYTES if short else PAIR_BYTES) * n * n)
    # About the least time in which a search over all pairs is worth its proof.
    seconds = FEW_ITERATIONS * PER_ENTRY * n * n + pairs_proof_seconds(n)
    groups = _most_groups(m, n, k, allowance.seconds / 4.0)
    found: list[LowerBound] = []
    if groups and not (pairs_fit and AMPLE * seconds <= allowance.seconds):
        matrix = points.matrix
        grams = matrix.whole(), matrix.gram()
        bound = grouped_bound(*grams, k, allowance, upper=upper, n_groups=groups)
        found += [] if bound is None else [bound]
    if pairs_fit and not allowance.cut and (seconds <= allowance.seconds or not found):
        found.append(_bound_pairs(points, heavy, k, upper, allowance, short))
    if not found:
        return _bound_batches(points, heavy, k, allowance, rng)
    return max(found, key=lambda bound: bound.value)


def _bound_pairs(
    points: SinglePoints, heavy: Array, k: int, upper: float, allowance: Allowance, short: bool
) -> LowerBound:
    """The bound from a multiplier for all pairs; without a matrix of products if rows are short."""
    length = points.dimension + WEIGHT_ROUNDINGS
    if short and 1 < k < len(heavy):
        return all_pairs_bound_of_rows(points.whole()[heavy], k, length, allowance, upper=upper)
    return all_pairs_bound(points.gram_of(heavy), k, length, allowance, upper=upper)


def _most_groups(m: int, n: int, k: int, seconds: float) -> int:
    """How many groups of n points with m coordinates, more than k of them.

    0 where they save nothing or do not fit.
    """
    for count in (count for count in N_GROUPS if count > k):
        side = m + count
        if side < n and side <= LARGEST_SIDE and has_room(PROOF_BYTES * side * side):
            needed = GROUP_ITERATIONS * PER_ENTRY * count**2 + 3.0 * proof_seconds(side)
            if needed <= seconds or count == N_GROUPS[-1]:
                return count
    return 0


def has_room(needed: int) -> bool:
    """Whether so many bytes are available."""
    available = available_memory()
    return available is None or needed <= available


def _bound_batches(
    points: SinglePoints, heavy: Array, k: int, allowance: Allowance, rng: np.random.Generator
) -> LowerBound:
    """The sum of the bounds of batches of random points that share none.

    It bounds the squared error of the whole (docs/theory/bounds.md, Theorem 11). Only one batch is
    in memory, and what is left of the time is shared equally by those to come.
    """
    batches = np.array_split(rng.permutation(heavy), math.ceil(len(heavy) / BATCH))
    grams = (partial(points.gram_of, batch) for batch in batches)
    length = points.dimension + WEIGHT_ROUNDINGS
    return sum_of_batches(grams, len(batches), k, length, allowance)


def sum_of_batches(
    grams: Iterator[Callable[[], Array]],
    n_batches: int,
    k: int,
    inner_length: int,
    allowance: Allowance,
) -> LowerBound:
    """The sum of the bounds from the Gram matrices of batches, each made when its turn comes."""
    values = [0.0]
    for done, gram in enumerate(grams):
        if done and allowance.cut == INTERRUPTED:
            break  # the sum over some batches is a bound, too
        share = allowance.share(1.0 / (n_batches - done))
        values.append(all_pairs_bound(gram(), k, inner_length, share).value)
    return LowerBound(round_down(math.fsum(values), 1), allowance.tell(METHOD_IN_BATCHES))


def bound_blocks(matrix: Matrix, k: int, upper: float, allowance: Allowance) -> LowerBound | None:
    """The bound for k disjoint blocks; None where there is no room for its proof."""
    n, m = matrix.shape
    flat = matrix if n <= m else matrix.transpose(many_passes=False)
    groups = _block_groups(min(n, m), max(n, m), allowance.seconds)
    if flat is None or not groups:
        return None
    return blocks_bound(flat.whole(), flat.row_gram(), k, allowance, upper=upper, n_groups=groups)


def _block_groups(n: int, m: int, seconds: float) -> list[int]:
    """How many groups of n rows, and of m columns: few first, then as many as time allows."""
    *more, few = N_GROUPS
    fitting = [count for count in more if _blocks_seconds(n, m, count) <= seconds]
    sides = {count: 2 * n + min(count, m) for count in (few, *fitting[:1])}
    return [
        count
        for count, side in sides.items()
        if side <= LARGEST_SIDE and has_room(PROOF_BYTES * side**2)
    ]


def _blocks_seconds(n: int, m: int, count: int) -> float:
    """About the time of the searches and proofs that are worth doing again with more groups."""
    side, search = 2 * n + min(count, m), min(count, n) + min(count, m)
    return BLOCK_SEARCHES * (
        BLOCK_ITERATIONS * PER_ENTRY * search**2 + BLOCK_PROOF * proof_seconds(side)
    )
