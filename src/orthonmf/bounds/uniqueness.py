"""How far any answer that is as good can be from the one in hand, over samples or over features.

An answer with k groups is Z = sum_g u_g u_g^T, u_g >= 0 of length 1 on the points of group g; it
captures <G, Z> of the Gram matrix G. For Z0 of the answer in hand, scale >= 0 and N >= 0, every
answer that captures c or more has (docs/theory/bounds.md, Theorem 19)

    k - <Z0, Z> <= k + (the k largest eigenvalues of scale G - Z0 + N) - scale c,

and where that is below 1, so is the weight of the points that are in other groups there.
"""

from __future__ import annotations

import math

import numpy as np

from orthonmf.bounds.allowance import Allowance, has_room, proof_seconds, search_seconds
from orthonmf.bounds.eigenvalues import top_sum_upper_bound
from orthonmf.bounds.relaxation import Aim, raise_matrix, search
from orthonmf.bounds.table import Side
from orthonmf.rounding import WEIGHT_ROUNDINGS, growth, norm_from_above, round_down, round_up
from orthonmf.typing import Array

# Scales that are tried, powers of two in units of 1 / |Y|^2: first these, then twice the best one's
# neighbors. The bound is convex in the scale.
FIRST_POWERS, NEIGHBORS, LEAST_POWER, LARGEST_POWER = (6, 8, 10, 4), (-1, 1), 0, 14
ITERATIONS, PRECISION = 400, 1e-3  # the latter of the distance, for all that is done
GRAM_BYTES = 40  # bytes for every entry of the matrices of a search and its proof


def unique_within(
    side: Side, labels: Array, scales: Array, squared_error: float, allowance: Allowance
) -> float | None:
    """The share of the weight that any answer as good may have in other groups, at most.

    Parameters
    ----------
    labels, scales
        (n,) the group of every point of this side, -1 for none, and by how much it counts in it:
        weights of the points are squares of these, brought to sum 1 in every group. All k groups
        hold some.
    squared_error
        Of the answer, from above, in units of squares of the points.

    Returns
    -------
    None where nothing is proven, where a group is empty, and where it would take too long.
    """
    points, k = side.points, side.n_groups
    inner_length = points.dimension + WEIGHT_ROUNDINGS
    heavy = np.flatnonzero((points.weights > 0) | (labels >= 0))
    n, labels = len(heavy), labels[heavy]
    needed = search_seconds(50, n) + proof_seconds(n)
    fits = k < n and has_room(n, GRAM_BYTES)
    used = np.unique(labels[(labels >= 0) & (scales[heavy] > 0)])
    if not fits or needed > allowance.left or len(used) < k:
        return None
    gram = points.gram_of(heavy)
    answer = unit_columns(labels, scales[heavy].astype(np.float64), k)
    trace = float(np.trace(gram))
    captured = round_down(trace, inner_length + n) - squared_error - growth(4) * trace
    unit = math.ldexp(1.0, -math.frexp(trace)[1])
    tried: dict[int, float] = {}
    for powers in (FIRST_POWERS, NEIGHBORS, NEIGHBORS):
        best = min(tried, key=tried.__getitem__, default=0)
        for power in (best + step for step in powers):
            untried = power not in tried and LEAST_POWER <= power <= LARGEST_POWER
            if untried and needed <= allowance.left:  # none is left once something was cut short
                scale = math.ldexp(unit, power)
                tried[power] = distance_from_above(
                    gram, answer, scale, captured, inner_length, allowance
                )
    distance = min(tried.values(), default=math.inf)
    return round_up(max(0.0, distance) / k, 2) if distance < 1.0 else None


def unit_columns(labels: Array, scales: Array, k: int) -> Array:
    """(n, k) the scales of every group in its column, of about length 1."""
    columns = np.zeros((len(labels), k))
    inside = np.flatnonzero(labels >= 0)
    columns[inside, labels[inside]] = scales[inside] / scales.max()
    return columns / np.linalg.norm(columns, axis=0)


def distance_from_above(
    gram: Array,
    answer: Array,
    scale: float,
    captured: float,
    inner_length: int,
    allowance: Allowance,
) -> float:
    """An upper bound on k - <Z0, Z> for every Z that captures so much of the exact Gram matrix.

    Z0 is that of the ``answer`` (n, k), its columns brought to length 1 exactly, and ``scale`` a
    power of two. Whatever the search finds is a legal N; what the matrix before it loses to
    rounding counts by its norm, as Z is a projector of rank k.
    """
    n, k = answer.shape
    matrix = scale * gram - answer @ answer.T
    matrix = np.maximum(matrix, matrix.T)
    lost = growth(inner_length + 4) * scale * norm_from_above(gram)
    lost += growth(2 * n + 16) * norm_from_above(answer) ** 2 + growth(4) * norm_from_above(matrix)
    nothing = scale * captured - k  # the sum of eigenvalues at which the distance is 0
    aim = Aim(nothing + 1.0, PRECISION, nothing + PRECISION, ITERATIONS)
    multiplier = search(matrix, k, aim, allowance, reserve=proof_seconds(n))
    raise_matrix(matrix, multiplier)
    top = top_sum_upper_bound(matrix, k, start=multiplier.vectors)
    bound = k + top - scale * captured + round_up(math.sqrt(k) * lost, 8)
    return bound + growth(8) * (k + abs(top) + scale * abs(captured))
