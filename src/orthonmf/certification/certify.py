"""From a result to its certificate: lower bounds, and the ratio that follows from them.

The error and the bounds are those of the numbers that are read here, whatever was read before, so
that what is said is true of them.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from orthonmf.bounds.lower_bound import LowerBound
from orthonmf.bounds.table import LARGEST_GROUP, LARGEST_SIDE, Case, find_bounds
from orthonmf.certificate import (
    CERTIFICATE_SECONDS,
    EXACT,
    Certificate,
    round_ratio_up,
    state_promise,
)
from orthonmf.certification.evidence import ZERO, Held
from orthonmf.certification.exact_fit import fits_exactly
from orthonmf.certification.same_data import Measured, measure_again, read_again, read_given
from orthonmf.engine.geometry import CANCELLATION, scales_are_accurate
from orthonmf.engine.matrix import Matrix
from orthonmf.engine.memory import refuse_beyond_memory
from orthonmf.factorization import Factorization
from orthonmf.inputs.data import Data
from orthonmf.numerics.rounding import (
    WEIGHT_ROUNDINGS,
    captured_error_upper_bound,
    error_upper_bound,
    round_down,
    round_up,
)
from orthonmf.progress import announce

# A norm of the residual below so many roundings of each entry is at the level of rounding.
ROUNDING_LEVEL = 2**10
# Groups and batches of points are drawn from this seed: the same data give the same bound.
BATCHES = 0
# The Gram matrix of the smaller side, its eigenvectors and what finding them takes, in doubles.
GRAM_COPIES, FLOAT = 7, 8

NOTHING = "every lower bound tried is zero, so that no ratio can be claimed"
AT_ROUNDING = "the error is at the level of rounding"


def certify_held(held: Held, result: Factorization, known: Certificate) -> Certificate:
    """The certificate of a result from the data it holds; ``known`` if that proves more."""
    started = time.perf_counter()
    matrix = read_again(held, result)
    found = certify(matrix, result, held.method, held.seconds)
    if known.ratio is not None and (found.ratio is None or known.ratio < found.ratio):
        found = known
    return replace(found, seconds=time.perf_counter() - started)


def certify_given(data: Data, method: str, result: Factorization, seconds: float) -> Certificate:
    """The certificate of a result from data that are given now."""
    started = time.perf_counter()
    found = certify(read_given(data, result), result, method, seconds)
    return replace(found, seconds=time.perf_counter() - started)


def certify(
    matrix: Matrix, result: Factorization, method: str, seconds: float = CERTIFICATE_SECONDS
) -> Certificate:
    """What is proven about a factorization of a matrix.

    ``ratio`` compares an upper bound on its error, rounding included, with the best lower bound
    on the error of every factorization.
    """
    announce("lower bound")
    refuse_large_certificate(matrix.shape)
    measured = measure_again(matrix, result)
    if not matrix.complete:  # the bounds hold for complete matrices only
        return state_promise(result.promise)
    # The units bring the largest entry that has weight near 1, so only a zero matrix has no norm.
    if not matrix.total > 0:
        return ZERO
    if measured.squared == 0 and fits_exactly(matrix, result):
        return replace(EXACT, method="an exact fit")
    rng = np.random.default_rng(BATCHES)
    case = Case(
        matrix,
        result.orthogonal,
        result.n_components,
        measured.squared,
        rng,
        seconds=seconds,
    )
    return conclude(matrix, result, measured, *find_bounds(case, method))


def certify_packing(matrix: Matrix, result: Factorization, packed: float) -> Certificate:
    """What a packing of pairs proves that came with the fit, of the numbers that were fitted."""
    measured = Measured(result.relative_squared_error * matrix.total, direct=False)
    return conclude(matrix, result, measured, [LowerBound(packed, "a packing of pairs")])


def conclude(
    matrix: Matrix,
    result: Factorization,
    measured: Measured,
    bounds: Sequence[LowerBound],
    reason: str = "",
) -> Certificate:
    """What follows from lower bounds in the units of Y, and from an error of the same numbers."""
    total, promised = matrix.total, state_promise(result.promise)
    best = max(bounds, key=lambda bound: bound.value, default=LowerBound(0.0, ""))
    level = (ROUNDING_LEVEL * float(np.finfo(matrix.dtype).eps) / 2) ** 2
    if not best.value > 0 and measured.squared > level * total:
        return replace(promised, reason=reason or NOTHING)
    squared, roundings = squared_error_from_above(matrix, result, measured), sum(matrix.shape)
    promised = replace(
        promised, upper_bound=round_up(squared / total, roundings + WEIGHT_ROUNDINGS)
    )
    if not best.value > 0:
        return replace(promised, reason=AT_ROUNDING)
    return replace(
        promised,
        lower_bound=round_down(best.value / total, roundings + WEIGHT_ROUNDINGS),
        ratio=round_ratio_up(squared, best.value),
        method=best.method,
    )


def squared_error_from_above(matrix: Matrix, result: Factorization, measured: Measured) -> float:
    """An upper bound on the exact squared error of the stored factors, in the units of Y."""
    total, squared = matrix.total, measured.squared
    n, m = matrix.shape
    exact = matrix.dtype == np.float64 and scales_are_accurate(
        result.loadings if result.scales is None else result.scales
    )
    if not measured.direct and (not exact or squared < CANCELLATION[matrix.dtype] * total * 1.01):
        squared = matrix.residual(result.loadings, result.components)
    elif not measured.direct and matrix.column_factors is None:
        lengths = np.einsum("sh,sh->s", result.components, result.components)
        return captured_error_upper_bound(squared, total, matrix.shape, lengths)
    return error_upper_bound(squared, total, n * m)


def refuse_large_certificate(shape: tuple[int, int]) -> None:
    """Refuse a certificate whose Gram matrix cannot be held."""
    needed = certificate_bytes(shape)
    refuse_beyond_memory(needed, "the certificate", "the factorization stands without it")


def certificate_bytes(shape: tuple[int, int]) -> int:
    """About how many bytes the Gram matrix of the smaller side and its eigenvalues take."""
    side = min(shape)
    side = side if side <= LARGEST_SIDE else LARGEST_GROUP
    return GRAM_COPIES * FLOAT * side**2
