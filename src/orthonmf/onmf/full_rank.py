"""Both factors orthogonal and as many components as rows: Theorem 9."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import numpy as np
from scipy.sparse import csr_array

from orthonmf.certificate import Promise
from orthonmf.engine.disjoint_capture import capture_rows
from orthonmf.engine.matrix import Matrix
from orthonmf.engine.pairs import (
    close_pairs,
    close_pairs_by_count,
    is_sparse,
    merge_parallel,
    row_norms,
    to_dense,
)
from orthonmf.engine.points import Samples
from orthonmf.onmf.options import Options
from orthonmf.onmf.solution import MERGED, SEPARATION, Solution
from orthonmf.steps.coordinate_split import split_coordinates, split_sparse_coordinates
from orthonmf.steps.grouping import group_alone, group_by_angle
from orthonmf.steps.weight_reduction import (
    BAND_RATIO,
    COS_30,
    COS_60,
    WeightReduction,
    cosine_slack,
    reduce_weights,
)
from orthonmf.typing import Array


@dataclass(frozen=True, slots=True)
class FullRankFactorization:
    """Row i is about ``scales[i] * directions[labels[i]]``; directions share no coordinate."""

    directions: Array | csr_array  # (g, m) non-negative, disjoint supports, not normalized
    labels: Array  # (n,), -1 exactly where the scale is 0
    scales: Array  # (n,) non-negative
    lower_bound: float  # on the weighted squared error of every such factorization, for every k


@dataclass(frozen=True, slots=True)
class AngleTests:
    """How to find pairs of rows by their angle; both tests yield blocks of pairs (p x 2)."""

    middling: Callable[[Array | csr_array], Iterator[Array]]  # 30 to 60 degrees, lexicographic
    close: Callable[[Array | csr_array], Iterator[Array]]  # under 30, of rows that survived


def solve_full_rank(matrix: Matrix) -> Solution:
    """Theorem 9: as many components as the smaller side has, so no clustering is needed.

    The weight that step 2 cancels is itself paid for by every solution: a lower bound for free.
    """
    wide = matrix.shape[0] <= matrix.shape[1]
    factors = factorize_full_rank(matrix.whole(transposed=not wide))
    if wide:
        directions = to_dense(factors.directions)
    else:
        directions = np.zeros((factors.directions.shape[0], matrix.shape[1]))
        used = np.flatnonzero(factors.labels >= 0)
        directions[factors.labels[used], used] = factors.scales[used]
    promise = Promise(BAND_RATIO, "always")
    return Solution(
        directions, steps=SEPARATION, promise=promise, packed=factors.lower_bound, unused=MERGED
    )


def factorize_without_limit(matrix: Matrix, options: Options) -> Solution:
    """Both factors orthogonal when k reaches the smaller side (Theorem 9)."""
    solution = solve_full_rank(matrix)
    return replace(solution, components=Samples(matrix).components(solution.directions))


def factorize_full_rank(
    rows: Array | csr_array, weights: Array | None = None, *, angles: AngleTests | None = None
) -> FullRankFactorization:
    """Factorize with both factors orthogonal and no limit on the number of components.

    The squared error is at most 1 / sin^2(15 degrees) = 14.93 times the smallest possible. That
    also bounds the problem with k components for every k >= min(n, m). Theorem 9; the time is that
    of finding the pairs of rows that share a coordinate, so pass the side with fewer rows.

    Parameters
    ----------
    rows
        (n, m) non-negative float64, dense or CSR, with squares that neither over- nor underflow.
    weights
        (n,) what an error in the direction of each row costs; its squared norm if left out.
        Labels and the guarantee refer to rows of these squared norms, scales to rows as given.
    angles
        `BY_COSINE` if left out; `BY_COUNT` compares 0/1 rows (CSR) exactly, in integers.
    """
    from orthonmf.bounds.pairs import removal_packing_bound  # other fits need no bounds

    angles = angles or BY_COSINE
    norms = row_norms(rows)
    weights = norms**2 if weights is None else np.where(norms > 0.0, weights, 0.0)
    # A row whose norm underflows stands for no other, though it may be parallel to a heavy one.
    heavy = np.flatnonzero(norms > 0.0)
    unique, members = np.unique(merge_parallel(rows[heavy]), return_inverse=True)
    merged, merged_norms = rows[heavy[unique]], norms[heavy[unique]]
    merged_weights = np.bincount(members, weights[heavy], len(unique))

    reduction = _reduce_all(merged_weights, angles.middling(merged))
    survivors = np.flatnonzero(reduction.weights > 0.0)
    if len(survivors):
        left, groups = reduction.weights, np.full(len(unique), -1, dtype=np.int64)
        close = _first_partners(angles.close(merged[survivors]))
        groups[survivors] = group_by_angle(left[survivors], close)
    else:
        left, groups = merged_weights, group_alone(merged_weights)
    split = split_sparse_coordinates if is_sparse(rows) else split_coordinates
    directions = split(merged, left, groups, merged_norms)
    labels, scales = capture_rows(rows, directions)
    bound = removal_packing_bound(
        merged, merged_weights, reduction.first, reduction.second, reduction.removed
    )
    return FullRankFactorization(directions, labels, scales, bound)


def _reduce_all(weights: Array, blocks: Iterator[Array]) -> WeightReduction:
    """Step 2 on pairs that come in blocks."""
    parts = [WeightReduction(weights, *(np.zeros(0, dtype=t) for t in (np.int64, np.int64, float)))]
    for pairs in blocks:
        parts.append(reduce_weights(parts[-1].weights, pairs))
    return WeightReduction(
        parts[-1].weights,
        np.concatenate([part.first for part in parts]),
        np.concatenate([part.second for part in parts]),
        np.concatenate([part.removed for part in parts]),
    )


def _first_partners(blocks: Iterator[Array]) -> Array:
    """For every row its first close partner (q x 2): groups are cliques, so these connect them."""
    partners = np.zeros((0, 2), dtype=np.int64)
    for pairs in blocks:
        joined = np.concatenate((partners, pairs))
        _, positions = np.unique(joined[:, 1], return_index=True)
        partners = joined[positions]
    return partners


def _middling_by_cosine(rows: Array | csr_array) -> Iterator[Array]:
    """Pairs 30 to 60 degrees apart, the band widened by the rounding of a cosine."""
    slack = cosine_slack(rows.shape[1])
    for pairs in close_pairs(rows, row_norms(rows), COS_60 - slack):
        yield pairs.where(pairs.values <= COS_30 + slack)


def _close_by_cosine(rows: Array | csr_array) -> Iterator[Array]:
    """Close pairs among survivors: none of them is in the band, so its middle tells all apart.

    Products of the same two rows may differ in their last bits when formed in other blocks; in the
    middle of the band that cannot matter.
    """
    for pairs in close_pairs(rows, row_norms(rows), (COS_30 + COS_60) / 2.0):
        yield pairs.where(np.ones(len(pairs.first), dtype=bool))


def _middling_by_count(rows: csr_array) -> Iterator[Array]:
    """Pairs of 0/1 rows 30 to 60 degrees apart: ``ab <= 4 c^2 <= 3ab`` in integers."""
    sizes = np.diff(rows.indptr).astype(np.int64)
    for pairs in close_pairs_by_count(rows, quarters=1):
        product = sizes[pairs.first] * sizes[pairs.second]
        yield pairs.where(4 * pairs.values**2 <= 3 * product)


def _close_by_count(rows: csr_array) -> Iterator[Array]:
    """Close pairs of 0/1 rows among survivors, none of which is in the band."""
    for pairs in close_pairs_by_count(rows, quarters=2):
        yield pairs.where(np.ones(len(pairs.first), dtype=bool))


BY_COSINE = AngleTests(_middling_by_cosine, _close_by_cosine)
BY_COUNT = AngleTests(_middling_by_count, _close_by_count)
