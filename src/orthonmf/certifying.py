"""Certificates on demand: the data of a fit are held, and read when its certificate is looked at.

The error of the published result and the lower bounds come from the same reading, so that what is
said is true of the numbers that were read then, whatever was fitted. What computes a bound is
imported when one is computed. `prove` does it all: it measures the error, finds bounds
(`bounds/table.py`), and concludes.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from threading import Lock
from typing import TYPE_CHECKING, Any

import numpy as np

from orthonmf.certificate import (
    CERTIFICATE_SECONDS,
    EXACT,
    Certificate,
    LowerBound,
    round_ratio_up,
    state_promise,
)
from orthonmf.engine.executors import one_blas_thread
from orthonmf.engine.loadings import Projection
from orthonmf.engine.losses import FROBENIUS
from orthonmf.engine.matrix import CANCELLATION, Matrix, scales_are_accurate
from orthonmf.engine.memory import refuse_beyond_memory
from orthonmf.errors import InvalidInputError, InvalidTypeError, OrthoNMFError, SourceChangedError
from orthonmf.inputs.data import Data
from orthonmf.interrupts import note_interrupts
from orthonmf.progress import announce, progress_lines
from orthonmf.rounding import (
    LIGHT,
    WEIGHT_ROUNDINGS,
    captured_error_upper_bound,
    error_upper_bound,
    growth,
    round_down,
    round_up,
)

if TYPE_CHECKING:
    from orthonmf.bounds.table import Case
    from orthonmf.factorization import Factorization

# A norm of the residual below so many roundings of each entry is at the level of rounding.
ROUNDING_LEVEL = 2**10
# From this ratio on the groups of answers that are as good are not asked for: nothing is proven.
NEARLY_THE_SMALLEST = 1.003

NO_DATA = "no data are held here; certify(X, method='svd') computes a certificate from them"
NOTHING = "every lower bound tried is zero, so that no ratio can be claimed"
OTHERS = "X or its weights (sample_weight must be given again) are others, or have changed"
REMEDY = "fit again, or call certify(X, method='svd') with the data that were fitted"
ZERO = replace(EXACT, method="X being zero wherever it has weight")
EXACT_FIT = replace(EXACT, method="an exact fit")


@dataclass(frozen=True, slots=True, eq=False)
class Pending:
    """Data that a certificate of this method is still to be computed from."""

    data: Data
    method: str
    verbose: int = 0
    seconds: float = CERTIFICATE_SECONDS


@dataclass(slots=True, eq=False, repr=False)
class Evidence:
    """The certificate of one result: there, or computed from data that are held until then.

    Threads that look at the same time compute it once. If that fails or is interrupted, all stays
    as it was. A pickle or a deep copy takes no data along, only what is said without them.

    Attributes
    ----------
    certificate
        What is promised, and what the fit itself or an earlier look has proven.
    pending
        The data, where more is to be computed from them; None where nothing is.
    """

    certificate: Certificate = field(default_factory=Certificate)
    pending: Pending | None = None
    _lock: Any = field(default_factory=Lock, init=False)

    @property
    def settled(self) -> Certificate | None:
        """The certificate, if nothing is left to compute."""
        return self.certificate if self.pending is None else None

    def without_data(self) -> Certificate:
        """What can be said without looking at the data; it computes nothing."""
        if self.pending is None or self.certificate.ratio is not None:
            return self.certificate
        return replace(self.certificate, reason=NO_DATA)

    def look(self, result: Factorization) -> Certificate:
        """The certificate of a result, computed now if it was not looked at before."""
        with self._lock:
            if self.pending is not None:
                before = self.certificate
                proven = prove_from_data(self.pending, result, read_again)
                if before.ratio is not None and before.ratio < (proven.ratio or math.inf):
                    proven = replace(before, seconds=proven.seconds)
                self.certificate = proven
                self.pending = None  # last: who sees no data finds the certificate
            return self.certificate

    def compute(self, result: Factorization, given: Pending) -> Certificate:
        """The certificate of a result, computed from data given now, and kept."""
        proven = prove_from_data(given, result, read_given)
        with self._lock:
            self.certificate, self.pending = proven, None
        return proven

    def __reduce__(self) -> tuple[type[Evidence], tuple[Certificate]]:
        return Evidence, (self.without_data(),)


def prove_from_data(
    pending: Pending, result: Factorization, read: Callable[[Data, Factorization], Matrix]
) -> Certificate:
    """What is proven about a result from data that are read now.

    An interrupt ends a search, and what it has by then is proven; a second one ends all.
    """
    started = time.perf_counter()
    telling = progress_lines() if pending.verbose else nullcontext()
    noting = note_interrupts() if pending.method == "tight" else nullcontext(lambda: False)
    with telling, noting as interrupted, one_blas_thread():
        matrix = read(pending.data, result)
        proven = prove(matrix, result, pending.method, pending.seconds, interrupted)
    return replace(proven, seconds=time.perf_counter() - started)


def read_again(data: Data, result: Factorization) -> Matrix:
    """The data that a result holds, refused if they changed shape or can no longer be read."""
    try:
        return read_given(data, result)
    except (InvalidInputError, InvalidTypeError) as error:
        raise SourceChangedError(f"X changed since it was fitted: {error}; {REMEDY}") from error
    except (OrthoNMFError, MemoryError):
        raise
    except Exception as error:  # whatever a closed file or a lost connection raises
        why = f"{type(error).__name__}: {error}"
        raise SourceChangedError(f"X can no longer be read ({why}); {REMEDY}") from error


def read_given(data: Data, result: Factorization) -> Matrix:
    """Data that are given for a result, refused if their shape is another."""
    matrix = data.read()
    fitted = result.loadings.shape[0], result.components.shape[1]
    if matrix.shape != fitted:
        raise InvalidInputError(
            f"X has shape {matrix.shape}, but a matrix of shape {fitted} was fitted"
        )
    return matrix


def prove(
    matrix: Matrix,
    result: Factorization,
    method: str,
    seconds: float = CERTIFICATE_SECONDS,
    interrupted: Callable[[], bool] = lambda: False,
) -> Certificate:
    """What is proven about a factorization of a matrix, its bounds computed now.

    Raises
    ------
    SourceChangedError
        When the cost on this matrix is not that of the fit, up to rounding.
    """
    from orthonmf.bounds.allowance import Allowance
    from orthonmf.bounds.table import Case, certificate_bytes

    announce("lower bound")
    needed = certificate_bytes(matrix.shape)
    refuse_beyond_memory(needed, "the certificate", "the factorization stands without it")
    allowance = Allowance(seconds, interrupted)
    case = Case(matrix, result.orthogonal, result.n_components, allowance=allowance)
    if result.beta_loss == FROBENIUS:
        return tell_zero_rows(prove_error(case, result, method), matrix)
    from orthonmf.certifying_divergence import prove_divergence

    return tell_zero_rows(prove_divergence(case, result, method), matrix)


def prove_error(case: Case, result: Factorization, method: str) -> Certificate:
    """The certificate of the squared error on the numbers that are read now.

    ``ratio`` compares an upper bound on it, rounding included, with the best lower bound on the
    error of every factorization.
    """
    from orthonmf.bounds.table import find_bounds
    from orthonmf.exact_fit import fits_exactly

    matrix = case.matrix
    measured = measure_error(matrix, result)
    refuse_other_error(matrix, result, measured.squared)
    if not matrix.complete:  # the bounds hold for complete matrices only
        return state_promise(result.promise)
    # The units bring the largest entry that has weight near 1, so only a zero matrix has no norm.
    if not matrix.total > 0:
        return ZERO
    if measured.squared == 0 and fits_exactly(matrix, result):
        return EXACT_FIT
    bounds = find_bounds(replace(case, cost=measured.squared), method)
    proven = conclude(matrix, result, measured, bounds)
    if method == "tight" and proven.ratio is not None and proven.ratio < NEARLY_THE_SMALLEST:
        squared = bound_error(matrix, result, measured)
        proven = replace(proven, unique_within=_find_unique(case, result, squared))
    return proven


def _find_unique(case: Case, result: Factorization, squared: float) -> float | None:
    """`bounds.uniqueness.unique_within` over samples or over features, else None."""
    from orthonmf.bounds.uniqueness import unique_within

    by_point = {
        "samples": (result.labels, result.scales),
        "features": (result.feature_labels, result.feature_scales),
    }
    labels, scales = by_point.get(result.orthogonal, (None, None))
    sides = case.sides()
    if labels is None or scales is None or not sides:
        return None
    points, k = sides[0].points, sides[0].n_groups
    length = points.dimension + WEIGHT_ROUNDINGS
    with one_blas_thread():
        return unique_within(points, labels, scales, k, squared, length, case.allowance)


def tell_zero_rows(certificate: Certificate, matrix: Matrix) -> Certificate:
    """A certificate that tells, whatever it claims, of rows that count as zero and are not."""
    count = len(matrix.underflown)
    if not count:
        return certificate
    rows = "a row that underflows counts" if count == 1 else f"{count:,} rows that underflow count"
    return replace(certificate, quantity=f"{certificate.quantity} (of X where {rows} as zero)")


def prove_by_packing(matrix: Matrix, result: Factorization, packed: float) -> Certificate:
    """What a packing of pairs proves that came with the fit, of the numbers that were fitted."""
    measured = Measured(result.relative_error * matrix.total, direct=False)
    return conclude(matrix, result, measured, [LowerBound(packed, "a packing of pairs")])


@dataclass(frozen=True, slots=True)
class Measured:
    """The squared error of a result, from numbers that were just read, in the units of Y."""

    squared: float
    direct: bool  # summed over all entries, else the total less what is captured


def measure_error(matrix: Matrix, result: Factorization) -> Measured:
    """The squared error of the stored factors on what is read now.

    Where the components still give the same loadings, bit by bit, what they capture tells the
    error; else all entries are compared with the product.
    """
    expressed = matrix.express(result.components, result.orthogonal)
    pairs: list[tuple[Any, Any]] = [(expressed.dense, result.loadings)]
    if result.labels is not None:
        pairs = [(expressed.labels, result.labels), (expressed.scales, result.scales)]
    if all(np.array_equal(now, before) for now, before in pairs):
        return Measured(*matrix.squared_error(result.components, expressed))
    return Measured(matrix.residual(projection_of(result), result.components), direct=True)


def projection_of(result: Factorization) -> Projection:
    """The rows of a result, expressed by its components as they are stored."""
    if result.labels is None:
        return Projection(result.loadings)
    return Projection(None, result.labels, result.scales, len(result.components))


def refuse_other_error(matrix: Matrix, result: Factorization, squared: float) -> None:
    """Refuse a matrix on which the result has another error than in its fit, or another norm.

    A change that rounding could have made goes unnoticed, and so does one that leaves the error
    as it is; a claim that is made then is still about the numbers that were read now.
    """
    n, m = matrix.shape
    total, fitted = matrix.total, result.relative_error
    if not total > 0:
        same = len(result.components) == 0 and result.error == 0
        error = 0.0
    else:
        # Scales are products of m numbers of this dtype; the sum over all entries is in float64.
        rounding = 8.0 * (m + 16) * float(np.finfo(result.components.dtype).eps) + growth(n * m)
        error = squared / total
        same = abs(error - fitted) <= rounding
        # With next to no error the norm cannot be told from it, and a claim says no more.
        if same and min(fitted, fitted * total, result.error) > LIGHT:
            norm = matrix.in_units_of_x(math.sqrt(fitted * total))
            same = abs(norm / result.error - 1.0) <= rounding
    if not same:
        raise SourceChangedError(
            f"the error of the result on X, or the norm of X, is not what it was in the fit "
            f"(relative squared error {error:.6g}, then {fitted:.6g}): {OTHERS}; {REMEDY}"
        )


def conclude(
    matrix: Matrix,
    result: Factorization,
    measured: Measured,
    bounds: Sequence[LowerBound],
) -> Certificate:
    """What follows from lower bounds in the units of Y, and from an error of the same numbers."""
    total, promised = matrix.total, state_promise(result.promise)
    best = strongest(bounds)
    level = (ROUNDING_LEVEL * float(np.finfo(matrix.dtype).eps) / 2) ** 2
    if not best.value > 0 and measured.squared > level * total:
        return replace(promised, reason=best.reason or NOTHING)
    roundings = sum(matrix.shape) + WEIGHT_ROUNDINGS
    squared = bound_error(matrix, result, measured)
    return compare(promised, best, squared, (total, total), roundings)


def strongest(bounds: Sequence[LowerBound]) -> LowerBound:
    """The largest of these bounds, 0 where there is none."""
    return max(bounds, key=lambda bound: bound.value, default=LowerBound(0.0, ""))


def compare(
    promised: Certificate,
    best: LowerBound,
    cost: float,
    whole: tuple[float, float],
    roundings: int,
) -> Certificate:
    """What follows from a lower bound and from what the answer costs, in the same units.

    Both are told as shares of a ``whole`` that lies between two numbers, each after so many
    ``roundings``. A bound of 0 leaves a cost that is at the level of rounding.
    """
    least, most = whole
    promised = replace(promised, upper_bound=round_up(cost / least, roundings))
    if not best.value > 0:
        return replace(promised, reason=f"the {promised.quantity} is at the level of rounding")
    return replace(
        promised,
        lower_bound=round_down(best.value / most, roundings),
        ratio=round_ratio_up(cost, best.value),
        method=best.method,
    )


def bound_error(matrix: Matrix, result: Factorization, measured: Measured) -> float:
    """An upper bound on the exact squared error of the stored factors, in the units of Y."""
    total, squared = matrix.total, measured.squared
    n, m = matrix.shape
    exact = matrix.dtype == np.float64 and scales_are_accurate(
        result.loadings if result.scales is None else result.scales
    )
    if not measured.direct and (not exact or squared < CANCELLATION[matrix.dtype] * total * 1.01):
        squared = matrix.residual(projection_of(result), result.components)
    elif not measured.direct and matrix.column_factors is None:
        lengths = np.einsum("sh,sh->s", result.components, result.components)
        return captured_error_upper_bound(squared, total, matrix.shape, lengths)
    return error_upper_bound(squared, total, n * m)
