"""From a result and its matrix to a certificate: its cost, lower bounds, and what follows.

`cost.py` says what the result costs on the numbers that are read now, `bounds/table.py` finds what
no factorization costs less than, and `conclude` compares the two. (`orthonmf.certify`, for labels
of others, is in `partitions.py`: it fits the scales and ends here, too.)
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from orthonmf.bounds.allowance import Allowance
from orthonmf.bounds.table import Case, certificate_bytes, find_bounds
from orthonmf.bounds.uniqueness import unique_within
from orthonmf.certificate import (
    CERTIFICATE_SECONDS,
    EXACT_FIT,
    ZERO,
    Certificate,
    LowerBound,
    round_ratio_up,
    state_promise,
    tell_zero_rows,
)
from orthonmf.cost import COSTS, Cost, cost_of_error
from orthonmf.engine.losses import FROBENIUS, LOSSES
from orthonmf.engine.matrix import Matrix
from orthonmf.engine.memory import refuse_beyond_memory
from orthonmf.exact_fit import fits_exactly
from orthonmf.factorization import Factorization
from orthonmf.progress import announce
from orthonmf.rounding import round_down, round_up

# From this ratio on the groups of answers that are as good are not asked for: nothing is proven.
NEARLY_THE_SMALLEST = 1.003

NOTHING = "every lower bound tried is zero, so that no ratio can be claimed"
INDEPENDENT = "rows and columns have nothing in common, up to rounding: nothing can be lost"


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
    announce("lower bound")
    needed = certificate_bytes(matrix.shape)
    refuse_beyond_memory(needed, "the certificate", "the factorization stands without it")
    allowance = Allowance(seconds, interrupted)
    cost = COSTS[result.beta_loss](matrix, result)
    quantity = LOSSES[result.beta_loss].quantity
    promised = replace(state_promise(result.promise), quantity=quantity)
    negligible = cost.measured <= cost.level
    if not matrix.complete:  # the bounds hold for complete matrices only
        proven = promised
    # The units bring the largest entry that has weight near 1, so only a zero matrix has no norm.
    elif not matrix.total > 0:
        proven = replace(ZERO, quantity=quantity)
    elif negligible and fits_exactly(matrix, result):
        proven = replace(EXACT_FIT, quantity=quantity)
    elif not cost.whole[0] > cost.level:
        proven = replace(promised, reason=INDEPENDENT if negligible else NOTHING)
    else:
        case = Case(
            matrix,
            result.orthogonal,
            result.n_components,
            cost.measured,
            allowance=allowance,
            counts=cost.counts,
            unsure=cost.unsure,
            labels=(result.labels, result.feature_labels),
        )
        proven = conclude(promised, cost, find_bounds(case, method))
        if method == "tight" and (proven.ratio or NEARLY_THE_SMALLEST) < NEARLY_THE_SMALLEST:
            proven = replace(proven, unique_within=_find_unique(case, result, cost))
    return tell_zero_rows(proven, len(matrix.underflown))


def prove_by_packing(matrix: Matrix, result: Factorization, packed: float) -> Certificate:
    """What a packing of pairs proves that came with the fit, of the numbers that were fitted."""
    cost = cost_of_error(matrix, result, result.relative_error * matrix.total, direct=False)
    bound = LowerBound(packed, "a packing of pairs")
    return conclude(state_promise(result.promise), cost, [bound])


def conclude(promised: Certificate, cost: Cost, bounds: Sequence[LowerBound]) -> Certificate:
    """What follows from lower bounds and from what the answer costs, in the same units.

    Both are told as shares of the whole, and ``ratio`` compares an upper bound on the cost with the
    best lower bound on that of every factorization.
    """
    best = max(bounds, key=lambda bound: bound.value, default=LowerBound(0.0, ""))
    if not best.value > 0 and cost.measured > cost.level:
        return replace(promised, reason=best.reason or NOTHING)
    least, most = cost.whole
    promised = replace(promised, upper_bound=round_up(cost.most / least, cost.roundings))
    if not best.value > 0:
        return replace(promised, reason=f"the {promised.quantity} is at the level of rounding")
    return replace(
        promised,
        lower_bound=round_down(best.value / most, cost.roundings),
        ratio=round_ratio_up(cost.most, best.value),
        method=best.method,
    )


def _find_unique(case: Case, result: Factorization, cost: Cost) -> float | None:
    """`bounds.uniqueness.unique_within` over samples or over features, else None."""
    by_point = {
        "samples": (result.labels, result.scales),
        "features": (result.feature_labels, result.feature_scales),
    }
    labels, scales = by_point.get(result.orthogonal, (None, None))
    sides = case.sides()
    if result.beta_loss != FROBENIUS or labels is None or scales is None or not sides:
        return None
    return unique_within(sides[0], labels, scales, cost.most, case.allowance)
