"""Lower bounds over one side from a multiplier for all pairs of points.

With G the Gram matrix of the rows of X, every symmetric N >= 0, entry by entry, proves

    squared error >= |X|^2 - (sum of the k largest eigenvalues of G + N)

(docs/theory/bounds.md, Theorem 8), which for N = 0 is the tail of the singular values. `relaxation`
seeks a good N, and `prove_raised` says what a stored one proves, whatever it is.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise

import numpy as np

from orthonmf.bounds.allowance import Allowance, pairs_proof_seconds
from orthonmf.bounds.eigenvalues import pairs_for_sum, top_sum_upper_bound
from orthonmf.bounds.relaxation import (
    DOUBLE_SIDE,
    QUICK,
    THOROUGH,
    Aim,
    Multiplier,
    ProductsOfRows,
    Stored,
    search,
    unit_above,
)
from orthonmf.certificate import LowerBound
from orthonmf.rounding import growth, round_down, safe_exponent, scale_back, symmetric
from orthonmf.typing import Array

METHOD = "a dual solution for all pairs of points"

# The search ends when 20 iterations gain no more than this part of the bound, or after so many.
PRECISION, MAX_ITER = 1e-4, 200
# The same up to `DOUBLE_SIDE`, where iterations cost next to nothing.
SMALL_PRECISION, SMALL_MAX_ITER = 2e-8, 1000
GAP = 5e-4  # it ends also when the bound is within this part of the error in hand
HUGE = 2.0**20  # no multiplier above so many times the largest entry is ever of use
# A proof with all that precedes it, in its time, where products are formed for it alone.
ROWS_RESERVE = 1.5
PANEL = 256


def all_pairs_bound(
    gram: Array,
    n_components: int,
    inner_length: int,
    allowance: Allowance,
    *,
    upper: float = math.inf,
    max_iter: int | None = None,
) -> LowerBound:
    """The best bound found for a solution with disjoint parts over the rows of X.

    ``gram`` (n, n), float64, is the computed Gram matrix of these rows: not of the other side.
    ``inner_length`` is the length of its inner products (see `tail_from_gram`). The search ends
    once the bound is near ``upper`` (the squared error in hand, if known), when it gains no more,
    and after ``max_iter`` iterations. ``gram`` itself is changed.
    """
    n = len(gram)
    largest = float(np.diagonal(gram).max(initial=0.0))
    if n_components >= n or not 0.0 < largest < math.inf:
        return LowerBound(0.0, METHOD)
    exponent = safe_exponent(largest)
    if exponent:
        np.ldexp(gram, -exponent, out=gram)
    trace = float(np.trace(gram))
    if n_components > 1:  # one part is exact without
        upper = math.ldexp(upper, -exponent) if upper < math.inf else trace
        multiplier = _seek(gram, n_components, trace, upper, max_iter, allowance)
        raise_matrix(gram, multiplier, HUGE * math.ldexp(largest, -exponent))
        start = multiplier.vectors
        del multiplier  # the proof needs the room
    else:
        gram, start = symmetric(gram), None
    value = prove_raised(gram, trace, n_components, inner_length, start)
    return LowerBound(scale_back(value, exponent, n * n * inner_length), allowance.tell(METHOD))


def all_pairs_bound_of_rows(
    rows: Array, n_components: int, inner_length: int, allowance: Allowance, *, upper: float
) -> LowerBound:
    """The same from the rows of X (n, m) themselves, float64, where they have few coordinates.

    1 < k < n, and n is at least `SINGLE_SIDE`. Besides the rows there is one float32 matrix of side
    n, which holds the state of the search, and then G + N rounded up; and the factor of the proof.
    """
    energies = np.einsum("ij,ij->i", rows, rows)
    trace, most = float(energies.sum()), HUGE * float(energies.max())
    unit = unit_above(trace)
    multiplier = search(
        ProductsOfRows((rows / math.sqrt(unit)).astype(np.float32)),
        n_components,
        Aim(trace / unit, PRECISION, target_captured(trace, upper) / unit, MAX_ITER),
        allowance,
        reserve=ROWS_RESERVE * pairs_proof_seconds(len(rows)),
    )
    multiplier = replace(multiplier, penalty=multiplier.penalty * unit)
    raise_state(rows, multiplier, most, unit)
    value = prove_raised(
        multiplier.state, trace / unit, n_components, inner_length, multiplier.vectors
    )
    return LowerBound(max(0.0, value) * unit, allowance.tell(METHOD))


def target_captured(trace: float, upper: float) -> float:
    """What a solution within `GAP` of the squared error in hand captures: where a search ends."""
    return trace - min(upper, trace) * (1.0 - GAP)


def _seek(
    gram: Array, k: int, trace: float, upper: float, max_iter: int | None, allowance: Allowance
) -> Multiplier:
    """The multiplier that a search finds in a copy of the matrix with entries near 1."""
    n = len(gram)
    small = n <= DOUBLE_SIDE
    dtype = np.float64 if small else np.float32
    unit = unit_above(trace)
    copy = np.empty((n, n), dtype)
    for start in range(0, n, PANEL):
        copy[start : start + PANEL] = gram[start : start + PANEL] / unit
    precision = SMALL_PRECISION if small else PRECISION
    max_iter = max_iter or (SMALL_MAX_ITER if small else MAX_ITER)
    pace = THOROUGH if small else QUICK
    aim = Aim(trace / unit, precision, target_captured(trace, upper) / unit, max_iter, pace)
    multiplier = search(Stored(copy), k, aim, allowance, reserve=pairs_proof_seconds(n))
    return replace(multiplier, penalty=multiplier.penalty * unit, top=multiplier.top * unit)


def raise_matrix(matrix: Array, multiplier: Multiplier, most: float) -> None:
    """Replace G by G + N in place, symmetric and nowhere below the larger of two mates of G.

    Whatever the multiplier holds: N is never negative, and adding what is not negative never
    lowers a rounded sum. So the difference is an exact, admissible N, of entries up to ``most``.
    """
    n, signed = len(matrix), multiplier.signed
    # Where nothing is added, mates are made equal all the same.
    for left, right in _corners(n, signed):
        part = np.maximum(matrix[left, right], matrix[right, left].T)
        if right.stop <= signed:
            above, below = multiplier.part(left, right, most), multiplier.part(right, left, most)
            part += np.maximum(above, below.T)
        matrix[left, right] = part
        matrix[right, left] = part.T


def raise_state(rows: Array, multiplier: Multiplier, most: float, unit: float) -> None:
    """Replace the state by (G + N) / unit, G the Gram matrix of the rows, every entry rounded up.

    N is that of `raise_matrix`; ``unit``, a power of two, brings all entries into the range of
    float32. Rounding up only adds to N, a part in 10^7.
    """
    state = multiplier.state
    for left, right in _corners(len(rows), len(rows)):
        above, below = multiplier.part(left, right, most), multiplier.part(right, left, most)
        part = rows[left] @ rows[right].T
        if left == right:
            part = np.maximum(part, part.T)
        part += np.maximum(above, below.T)
        part /= unit
        raised = part.astype(state.dtype)
        raised = np.where(raised < part, np.nextafter(raised, np.inf), raised)
        state[left, right] = raised
        state[right, left] = raised.T


def _corners(n: int, signed: int) -> Iterator[tuple[slice, slice]]:
    """The parts of a matrix on and above its diagonal, none across the border of the signed."""
    borders = sorted({*range(0, n, PANEL), signed, n})
    panels = [slice(*pair) for pair in pairwise(borders)]
    return ((left, right) for j, right in enumerate(panels) for left in panels[: j + 1])


def prove_raised(
    raised: Array, trace: float, k: int, inner_length: int, start: Array | None = None
) -> float:
    """What a symmetric ``raised >= gram`` proves, with every rounding on the safe side.

    ``raised`` may be float32. ``start`` (n, r) may be near its leading eigenvectors.

    ``trace`` is the computed one of the Gram matrix G. Entry by entry the exact G is at most
    1 + g(q) times the computed one, which is at most ``raised``; and what a solution captures is
    <G, Z> with Z >= 0. So the error of forming G is a factor, and ``raised - gram`` is an exact N
    however ``raised`` was computed.
    """
    top = top_sum_upper_bound(raised, k, pairs_for_sum(raised, k, start))
    if top is None:
        return 0.0
    # <G, Z> is never negative, so neither is the bound that is needed here.
    captured = max(0.0, top) * (1.0 + growth(inner_length)) * (1.0 + growth(4))
    return round_down(trace, inner_length + len(raised)) - captured - growth(2) * trace
