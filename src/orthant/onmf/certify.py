"""From a result to its certificate: lower bounds, and the ratio that follows from them."""

from __future__ import annotations

import time
from dataclasses import replace

import numpy as np

from orthant.bounds.lower_bound import LowerBound
from orthant.bounds.table import Case, find_bounds
from orthant.certificate import Certificate, Promise, round_ratio_up
from orthant.engine.matrix import Matrix
from orthant.factorization import Factorization
from orthant.numerics.rounding import (
    WEIGHT_ROUNDINGS,
    captured_error_upper_bound,
    error_upper_bound,
    round_down,
    round_up,
)
from orthant.onmf.exact_fit import fits_exactly
from orthant.onmf.promises import in_floating_point
from orthant.onmf.publish import CANCELLATION, scales_are_accurate
from orthant.onmf.solution import Solution
from orthant.progress import announce

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
        squared = result.relative_squared_error * total
        case = Case(matrix, result.orthogonal, k, squared, rng)
        found, reason = find_bounds(case, wanted)
        bounds += found
    best = max(bounds, key=lambda bound: bound.value, default=LowerBound(0.0, ""))
    level = (ROUNDING_LEVEL * float(np.finfo(matrix.dtype).eps) / 2) ** 2
    if not best.value > 0 and result.relative_squared_error > level:
        return replace(promised, reason=reason or promise.reason or NOTHING)
    squared, roundings = squared_error_from_above(matrix, result), sum(matrix.shape)
    promised = replace(
        promised,
        upper_bound=round_up(squared / total, roundings + WEIGHT_ROUNDINGS),
        seconds=time.perf_counter() - started,
    )
    if not best.value > 0:
        return replace(promised, reason=AT_ROUNDING)
    return replace(
        promised,
        lower_bound=round_down(best.value / total, roundings + WEIGHT_ROUNDINGS),
        ratio=round_ratio_up(squared, best.value),
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
    exact = matrix.dtype == np.float64 and scales_are_accurate(
        result.loadings if result.scales is None else result.scales
    )
    if not exact or squared < CANCELLATION[matrix.dtype] * total * 1.01:
        squared = matrix.residual(result.loadings, result.components)
        return error_upper_bound(squared, total, n * m)
    if matrix.column_factors is not None:
        return error_upper_bound(squared, total, n * m)
    lengths = np.einsum("sh,sh->s", result.components, result.components)
    return captured_error_upper_bound(squared, total, matrix.shape, lengths)
