"""Both factors orthogonal, from all pairs of rows: the paper's Theorem 9, for every k.

Steps 2 and 3 of the paper on the rows themselves, with no clustering before them. The rows that
keep weight fall into classes, and the k heaviest of these become components. Where k reaches the
smaller side none is left out, which is the case of the paper; the ratio 14.93 holds for every k
(docs/theory/promises.md, Theorem 6).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from scipy.sparse import csr_array

from orthonmf.certificate import Promise
from orthonmf.engine.matrix import Matrix
from orthonmf.engine.pairs import capture_rows, close_pairs, merge_parallel, row_norms
from orthonmf.engine.points import Samples, columns_of
from orthonmf.engine.sources import to_dense
from orthonmf.onmf.blocks.descent import split_by_energy
from orthonmf.onmf.double_factor import reduce_and_group
from orthonmf.onmf.options import Options
from orthonmf.onmf.solution import MERGED, SEPARATION, Solution
from orthonmf.steps.coordinate_split import split_coordinates
from orthonmf.steps.grouping import group_alone, group_by_angle
from orthonmf.steps.weight_reduction import (
    BAND_RATIO,
    COS_30,
    COS_60,
    cosine_slack,
    reduce_weights,
)
from orthonmf.typing import Array
from orthonmf.vectors import divide

PROMISE = Promise(BAND_RATIO, "always")
# What all pairs may take, by counting: always so many seconds, or as long as products of all rows
# with so many directions, which is no more than a fit takes without them.
ALWAYS_SECONDS = 0.1
DIRECTIONS_OF_A_FIT, PER_COMPONENT = 120, 20
# The side whose pairs are looked at is copied, as rows; beyond so many entries it is not.
MOST_ENTRIES = 2**27
# Up to so many columns of data far away their Gram matrix is held.
MOST_COLUMNS = 2000


@dataclass(frozen=True, slots=True)
class HeaviestClasses:
    """Row i is about ``scales[i] * directions[labels[i]]``; directions share no coordinate."""

    directions: csr_array  # (g, m) non-negative, disjoint supports, not normalized; g <= k
    labels: Array  # (n,), -1 exactly where the scale is 0
    scales: Array  # (n,) non-negative
    lower_bound: float  # on the weighted squared error of every such factorization, for every k


def factorize_without_limit(matrix: Matrix, options: Options) -> Solution:
    """The published algorithm where k reaches the smaller side: no class is left out."""
    solution = solve_heaviest(matrix)
    return replace(solution, components=Samples(matrix).components(solution.directions))


def find_heaviest(points: Samples, k: int) -> Solution | None:
    """The heaviest classes, or None where all pairs of the smaller side cost more than a fit.

    Of data far away, all pairs of columns take one read while there are few columns.
    """
    matrix = points.matrix
    if k >= min(matrix.shape):
        return solve_heaviest(matrix)
    directions = DIRECTIONS_OF_A_FIT + PER_COMPONENT * k
    if points.at_hand is None:
        few = matrix.shape[1] <= min(MOST_COLUMNS, 2 * directions)
        # A device that streams keeps its labels, and its float64 may be too slow or emulated.
        streams = points.fetchable is not None and points.on_the_host is None
        return solve_heaviest_columns(matrix, k) if few and not streams else None
    side = points if matrix.shape[0] <= matrix.shape[1] else columns_of(matrix).at_hand
    if side is None or matrix.n_entries > MOST_ENTRIES:
        return None
    pairs_seconds, _ = side.products_seconds(min(matrix.shape))
    allowed = max(ALWAYS_SECONDS, points.sweep_seconds(directions))
    return solve_heaviest(matrix, k) if pairs_seconds <= allowed else None


def solve_heaviest(matrix: Matrix, k: int | None = None) -> Solution:
    """Steps 2 and 3 on the rows or the columns, whichever are fewer, for up to k components.

    The weight that step 2 cancels is itself paid for by every solution: a lower bound for free.
    """
    wide = matrix.shape[0] <= matrix.shape[1]
    factors = factorize_heaviest(matrix.whole(transposed=not wide), k)
    if wide:
        directions = to_dense(factors.directions)
    else:
        directions = np.zeros((factors.directions.shape[0], matrix.shape[1]))
        used = np.flatnonzero(factors.labels >= 0)
        directions[factors.labels[used], used] = factors.scales[used]
    return Solution(
        directions, steps=SEPARATION, promise=PROMISE, packed=factors.lower_bound, unused=MERGED
    )


def solve_heaviest_columns(matrix: Matrix, k: int) -> Solution:
    """The same for the columns, from two reads: their Gram matrix, then one sweep.

    Row i goes to the class s with the largest ``Q_s mu_si^2``, where ``mu_s = sum_j (q'_j / |y_j|)
    y_j / Q_s``: the direction with coefficients ``q'_j / |y_j| / sqrt(Q_s)`` of which the row has
    the largest product. The sums of that sweep are what the columns capture of the vectors mu.
    """
    gram = matrix.gram()
    lightest_first = np.argsort(np.diagonal(gram), kind="stable")
    gram = gram[np.ix_(lightest_first, lightest_first)]
    weights = np.diagonal(gram).copy()
    lengths = np.sqrt(weights)
    cosines = divide(divide(gram, lengths[:, None]), lengths)
    left, classes = reduce_and_group(cosines, weights, cosine_slack(matrix.shape[0]))
    classes = keep_heaviest(left, classes, k)
    inside = np.flatnonzero(classes >= 0)
    totals = np.bincount(classes[inside], left[inside])
    coefficients = np.zeros((len(totals), len(weights)))
    numbers = classes[inside]
    coefficients[numbers, lightest_first[inside]] = divide(
        left[inside], lengths[inside] * np.sqrt(totals[numbers])
    )
    sums = matrix.sweep(coefficients, by_row=False).sums
    directions, _ = split_by_energy(sums, np.einsum("sh,sh->s", sums, coefficients))
    return Solution(directions, steps=SEPARATION, promise=PROMISE, unused=MERGED)


def factorize_heaviest(rows: Array | csr_array, k: int | None = None) -> HeaviestClasses:
    """Factorize with both factors orthogonal and at most k components.

    The squared error is at most 1 / sin^2(15 degrees) = 14.93 times the smallest possible with k
    components, whatever the data. The time is that of finding the pairs of rows that share a
    coordinate, so pass the side with fewer rows.

    Parameters
    ----------
    rows
        (n, m) non-negative float64, dense or CSR, with squares that neither over- nor underflow.
    k
        How many classes are kept; all of them if left out, which is Theorem 9 of the paper.
    """
    from orthonmf.bounds.pairs import removal_packing_bound  # other fits need no bounds

    norms = row_norms(rows)
    # A row whose norm underflows stands for no other, though it may be parallel to a heavy one.
    heavy = np.flatnonzero(norms > 0.0)
    first, members = np.unique(merge_parallel(rows[heavy]), return_inverse=True)
    merged_weights = np.bincount(members, norms[heavy] ** 2, len(first))
    if k is not None:
        # Any order of the pairs will do. Light rows that cancel first leave the heavy ones theirs.
        lightest_first = np.argsort(merged_weights, kind="stable")
        merged_weights, first = merged_weights[lightest_first], first[lightest_first]
    unique = heavy[first]
    merged = rows[unique]

    reduction = reduce_weights(merged_weights, pairs_by_cosine(merged, close=False))
    survivors = np.flatnonzero(reduction.weights > 0.0)
    if len(survivors):
        left, classes = reduction.weights, np.full(len(unique), -1, dtype=np.int64)
        close = _first_partners(pairs_by_cosine(merged[survivors], close=True))
        classes[survivors] = group_by_angle(left[survivors], close)
    else:
        left, classes = merged_weights, group_alone(merged_weights)
    kept = keep_heaviest(left, classes, k)
    directions = split_coordinates(merged, left, kept, norms[unique])
    labels, scales = capture_rows(rows, directions)
    bound = removal_packing_bound(
        merged, merged_weights, reduction.first, reduction.second, reduction.removed
    )
    return HeaviestClasses(directions, labels, scales, bound)


def keep_heaviest(weights: Array, classes: Array, k: int | None) -> Array:
    """Classes (n,), numbered from 0, of which only the k with most weight (n,) keep a number."""
    inside = classes >= 0
    totals = np.bincount(classes[inside], weights[inside])
    if k is None or len(totals) <= k:
        return classes
    kept = np.sort(np.argsort(-totals, kind="stable")[:k])
    numbers = np.full(len(totals) + 1, -1, dtype=np.int64)  # the last one for rows in no class
    numbers[kept] = np.arange(k)
    return numbers[classes]


def _first_partners(blocks: Iterator[Array]) -> Array:
    """For every row its first close partner (q x 2): groups are cliques, so these connect them."""
    partners = np.zeros((0, 2), dtype=np.int64)
    for pairs in blocks:
        joined = np.concatenate((partners, pairs))
        _, positions = np.unique(joined[:, 1], return_index=True)
        partners = joined[positions]
    return partners


def pairs_by_cosine(rows: Array | csr_array, *, close: bool) -> Iterator[Array]:
    """Pairs of rows 30 to 60 degrees apart, the band widened by the rounding of a cosine, or close.

    Of close pairs it is asked among survivors: none of them is in the band, so its middle tells all
    apart. Products of the same two rows may differ in their last bits when formed in other blocks;
    in the middle of the band that cannot matter.
    """
    slack = cosine_slack(rows.shape[1])
    least, most = COS_60 - slack, COS_30 + slack
    if close:
        least, most = (COS_30 + COS_60) / 2.0, np.inf
    for pairs in close_pairs(rows, row_norms(rows), least):
        yield pairs.where(pairs.values <= most)
