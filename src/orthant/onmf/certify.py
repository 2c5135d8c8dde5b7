"""From a result to its certificate: lower bounds, and the ratio that follows from them."""

from __future__ import annotations

import math
import time
from dataclasses import replace

import numpy as np

from orthant.bounds.dual import dual_bound, dual_bound_in_batches
from orthant.bounds.lower_bound import LowerBound
from orthant.bounds.pair_packing import pair_packing_bound
from orthant.bounds.singular_values import tail_from_gram, tail_from_ritz
from orthant.certificate import Certificate, Promise, ratio_rounded_up
from orthant.engine.executors import one_blas_thread
from orthant.engine.features import columns_of
from orthant.engine.matrix import Matrix
from orthant.engine.points import SinglePoints
from orthant.engine.samples import Samples
from orthant.factorization import Factorization
from orthant.numerics.rounding import (
    WEIGHT_ROUNDINGS,
    captured_error_upper_bound,
    error_upper_bound,
    rounded_down,
    rounded_up,
)
from orthant.onmf.exact_fit import fits_exactly
from orthant.onmf.promises import in_floating_point
from orthant.onmf.publish import CANCELLATION, scales_are_accurate
from orthant.onmf.solution import Solution
from orthant.progress import announce

CERTIFICATES = ("svd", "dual", None)
# Sides up to which the Gram matrix of the smaller side is formed, and up to which its tail is
# computed tightly whatever the number of components; beyond, that takes long for many of them.
LARGEST_SIDE = 4000
TIGHT_SIDE = 2000
TIGHT_COMPONENTS = 20
# Points in one batch of the dual bound, and the seconds it may take in all.
DUAL_BATCH = 250
DUAL_SECONDS = 60.0
# For blocks all points are compared with each other (points times entries at most this), and
# then the entries of the most promising pairs (about this many).
PACKING_WORK = 2**33
# Pairs are not compared by default when the singular values prove a ratio below this already.
CLOSE_ENOUGH = 1.2
PACKING_ENTRIES = 2**24
# A norm of the residual below so many roundings of each entry is at the level of rounding.
ROUNDING_LEVEL = 2**10


def certify(
    matrix: Matrix,
    result: Factorization,
    solution: Solution,
    wanted: str | None,
    rng: np.random.Generator,
) -> Certificate:
    """What is proven about a factorization.

    ``ratio`` compares an upper bound on its error, rounding included, with the best lower bound
    on the error of every factorization.
    """
    started = time.perf_counter()
    announce("lower bound")
    promise = solution.promise
    if not matrix.complete:  # the bounds hold for complete matrices only
        return Certificate(reason=promise.reason)
    k = result.n_components
    promise = check_ground(matrix, promise)
    promise = in_floating_point(promise, result.relative_squared_error, matrix.shape, k)
    promised = Certificate(
        a_priori_ratio=promise.ratio, a_priori_kind=promise.kind, reason=promise.reason
    )
    total = matrix.total
    # The units bring the largest entry that has weight near 1, so only a zero matrix has no norm.
    if not total > 0:
        return replace(EXACT, method="X being zero wherever it has weight")
    if wanted is None and not solution.bounds:
        return promised
    if wanted is not None and result.relative_squared_error == 0 and fits_exactly(matrix, result):
        return replace(EXACT, method="an exact fit", seconds=time.perf_counter() - started)
    bounds, reason = list(solution.bounds), ""
    if wanted is not None:
        found, reason = lower_bounds(matrix, result, wanted, rng)
        bounds += found
    best = max(bounds, key=lambda bound: bound.value, default=LowerBound(0.0, ""))
    level = (ROUNDING_LEVEL * float(np.finfo(matrix.dtype).eps) / 2) ** 2
    if not best.value > 0 and result.relative_squared_error > level:
        return replace(promised, reason=reason or promise.reason or NOTHING)
    squared, roundings = squared_error_from_above(matrix, result), sum(matrix.shape)
    promised = replace(
        promised,
        upper_bound=rounded_up(squared / total, roundings + WEIGHT_ROUNDINGS),
        seconds=time.perf_counter() - started,
    )
    if not best.value > 0:
        return replace(promised, reason=AT_ROUNDING)
    return replace(
        promised,
        lower_bound=rounded_down(best.value / total, roundings + WEIGHT_ROUNDINGS),
        ratio=ratio_rounded_up(squared, best.value),
        method=best.method,
    )


EXACT = Certificate(lower_bound=0.0, upper_bound=0.0, ratio=1.0)
NOTHING = "every lower bound tried is zero"
AT_ROUNDING = "the error is at the level of rounding"


def check_ground(matrix: Matrix, promise: Promise) -> Promise:
    """The promise, unless the fit left the ground of its proof."""
    if promise.ratio is None:
        return promise
    if matrix.dtype != np.float64:
        return Promise(reason="the promise covers float64 data; these are float32")
    return promise


def squared_error_from_above(matrix: Matrix, result: Factorization) -> float:
    """An upper bound on the exact squared error of the stored factors, in the units of Y."""
    total = matrix.total
    n, m = matrix.shape
    squared = result.relative_squared_error * total
    exact = matrix.dtype == np.float64 and scales_are_accurate(result.loadings)
    if not exact or squared < CANCELLATION[matrix.dtype] * total * 1.01:
        squared = matrix.residual(result.loadings, result.components)
        return error_upper_bound(squared, total, n * m)
    if matrix.column_factors is not None:
        return error_upper_bound(squared, total, n * m)
    lengths = np.einsum("sh,sh->s", result.components, result.components)
    return captured_error_upper_bound(squared, total, matrix.shape, lengths)


def lower_bounds(
    matrix: Matrix, result: Factorization, wanted: str, rng: np.random.Generator
) -> tuple[list[LowerBound], str]:
    """Bounds of the kind asked for, and a sentence when one could not be had."""
    squared = result.relative_squared_error * matrix.total
    bounds, reason = singular_value_bound(matrix, result.n_components)
    best = max((bound.value for bound in bounds), default=0.0)
    open_wide = wanted == "dual" or squared > CLOSE_ENOUGH * best
    compare_pairs = result.orthogonal == "both" and open_wide
    sides = sides_of(matrix, result.orthogonal) if wanted == "dual" or compare_pairs else []
    if wanted == "dual":
        for side in sides:
            share = DUAL_SECONDS / len(sides)
            bounds.append(dual(side, result.n_components, squared, share, rng))
        reason = reason if not bounds else ""
    if compare_pairs:
        bounds += packings(matrix, sides)
    return bounds, reason


def packings(matrix: Matrix, sides: list[SinglePoints]) -> list[LowerBound]:
    """Bounds from pairs of rows and of columns, where comparing all of them is not too much."""
    partners = int(np.clip(PACKING_ENTRIES // matrix.n_entries, 4, 32))
    return [
        pair_packing_bound(side.coordinates(), side.weights, n_partners=partners)
        for side in sides
        if len(side.weights) * matrix.n_entries <= PACKING_WORK
    ]


def sides_of(matrix: Matrix, orthogonal: str) -> list[SinglePoints]:
    """The points that no two components share, where single ones can be had."""
    sides = []
    if orthogonal != "features":
        sides.append(Samples(matrix).access)
    if orthogonal != "samples":
        sides.append(columns_of(matrix).access)
    return [side for side in sides if side is not None]


def singular_value_bound(matrix: Matrix, k: int) -> tuple[list[LowerBound], str]:
    """The tail of the singular values, or why it was not computed."""
    n, m = matrix.shape
    side = min(n, m)
    if side > LARGEST_SIDE:
        return [], (
            f"the smaller side of X is {side}; the bound from singular values is computed up to "
            f"{LARGEST_SIDE}. certificate='dual' gives one from batches of points"
        )
    tall = matrix if m <= n else matrix.transposed(many_passes=False)
    if tall is None:
        return [], "X is wide and not in memory, so the Gram matrix of its rows was not formed"
    gram = tall.gram()
    tight = side <= TIGHT_SIDE or k <= TIGHT_COMPONENTS
    tail = tail_from_gram if tight else tail_from_ritz
    return [tail(gram, k, max(n, m) + WEIGHT_ROUNDINGS)], ""


def dual(
    points: SinglePoints, k: int, upper: float, seconds: float, rng: np.random.Generator
) -> LowerBound:
    """The dual bound over points, in batches of random points when there are many."""
    heavy = np.flatnonzero(points.weights > 0)
    inner_length = points.dimension + WEIGHT_ROUNDINGS
    n_batches = max(1, math.ceil(len(heavy) / DUAL_BATCH))
    if n_batches == 1:
        with one_blas_thread():
            return dual_bound(
                points.gram_of(heavy), k, inner_length, upper=upper, time_limit=seconds
            )
    batches = np.array_split(rng.permutation(heavy), n_batches)
    grams = (points.gram_of(batch) for batch in batches)
    with one_blas_thread():
        return dual_bound_in_batches(
            grams, k, inner_length, n_batches=n_batches, time_limit=seconds
        )
