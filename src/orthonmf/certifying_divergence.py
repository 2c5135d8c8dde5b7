"""What is proven about a factorization under the Kullback-Leibler divergence.

Bounds on the divergence come from `bounds.divergence`; here they meet the divergence of the stored
factors and the information that rows hold about columns, all of the same numbers.
"""

from __future__ import annotations

import math
from dataclasses import replace

from orthonmf.bounds.divergence import (
    divergence_from_above,
    information_between,
    weights_may_change,
)
from orthonmf.bounds.table import Case, find_bounds
from orthonmf.certificate import DIVERGENCE, Certificate, state_promise
from orthonmf.certifying import (
    EXACT_FIT,
    NOTHING,
    OTHERS,
    REMEDY,
    ROUNDING_LEVEL,
    compare,
    projection_of,
    strongest,
)
from orthonmf.engine.counts import read_counts
from orthonmf.engine.matrix import Matrix
from orthonmf.engine.memory import refuse_beyond_memory
from orthonmf.engine.profiles import measure_divergence
from orthonmf.errors import SourceChangedError
from orthonmf.exact_fit import fits_exactly
from orthonmf.factorization import Factorization

ENTRY_BYTES = 120  # that bounds take for every entry of X
ROUNDINGS = 4  # of a share of the information
WHAT = "the certificate", "the factorization stands without it"
INDEPENDENT = "rows and columns have nothing in common, up to rounding: nothing can be lost"


def prove_divergence(case: Case, result: Factorization, method: str) -> Certificate:
    """The certificate of a result, of its divergence on the numbers that are read now.

    ``lower_bound`` and ``upper_bound`` are shares of the information that a single component
    loses, ``ratio`` compares the divergences themselves.

    Raises
    ------
    SourceChangedError
        When the divergence on this matrix is not that of the fit, up to rounding.
    """
    matrix = case.matrix
    refuse_beyond_memory(ENTRY_BYTES * matrix.n_entries, *WHAT)
    counts = read_counts(matrix)
    promised = replace(state_promise(result.promise), quantity=DIVERGENCE)
    measured = measure_divergence(
        matrix, projection_of(result), result.components, result.orthogonal
    ).divergence
    cost = divergence_from_above(measured, counts)
    _refuse_other_divergence(matrix, result, measured, cost)
    level = ROUNDING_LEVEL * (cost - measured)
    if measured <= level and fits_exactly(matrix, result):
        return replace(EXACT_FIT, quantity=DIVERGENCE)
    weighted = matrix.row_weights is not None or matrix.column_factors is not None
    unsure = weights_may_change(counts) if weighted else 0.0
    low, high = information_between(counts)
    whole = low - unsure, high + unsure
    if not whole[0] > level:
        return replace(promised, reason=INDEPENDENT if measured <= level else NOTHING)
    labels = result.labels, result.feature_labels
    case = replace(case, cost=measured, counts=counts, unsure=unsure, labels=labels)
    best = strongest(find_bounds(case, method))
    if not best.value > 0 and measured > level:
        return replace(promised, reason=NOTHING)
    return compare(promised, best, cost, whole, ROUNDINGS)


def _refuse_other_divergence(
    matrix: Matrix, result: Factorization, measured: float, cost: float
) -> None:
    """Refuse a matrix on which the result has another divergence than in its fit."""
    fitted, now = float(result.divergence or 0.0), matrix.amount(measured)
    allowed = 4.0 * (matrix.amount(cost) - now)
    if not math.isfinite(now) or abs(now - fitted) > allowed:
        raise SourceChangedError(
            f"the divergence of the result on X is {now:.6g}, and was {fitted:.6g} in the fit: "
            f"{OTHERS}; {REMEDY}"
        )
