"""The search for a good multiplier of the doubly non-negative relaxation: it proves nothing.

Sought is a symmetric N >= 0, entry by entry, for which the sum of the k largest eigenvalues of
B + N is small. The dual of that is to maximize <B, Z> over Z >= 0 in the Fantope (0 <= Z <= I in
the order of semidefinite matrices, trace k), which ADMM solves with one matrix M of state: its
positive part is the copy of Z that is non-negative, its negative part the scaled multiplier, so

    N = penalty * max(-M, 0),
    Z = the projection of  B / penalty + |M|  on the Fantope,
    M <- a Z + (1 - a) max(M, 0) + min(M, 0),  a the over-relaxation.

A projection needs only the eigenvalues above its shift, which are few. Ritz vectors of one
iteration are where the next starts, and one step of them is enough. Everything may be inexact,
or wrong: that costs tightness, never truth. `raise_matrix` adds an admissible N whatever the search
has left, and `eigenvalues` proves what it is worth.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from itertools import combinations_with_replacement, pairwise

import numpy as np
from scipy.linalg import get_blas_funcs

from orthonmf.bounds.allowance import Allowance
from orthonmf.bounds.eigenvalues import new_directions
from orthonmf.engine.segments import slices
from orthonmf.progress import announce
from orthonmf.typing import Array

OVER_RELAXATION = 1.6
CHECK_EVERY = 10
PATIENCE = 2  # stop when so many checks together have gained no more than the precision asked for
# Ritz vectors that are kept: the active ones and these to spare, at least so many.
LEAST_WIDTH, SPARE = 20, 10
# Up to this side the best multiplier is kept as a copy; beyond, the last is used.
COPIED_SIDE = 4000
DOUBLE_SIDE = 500  # up to this side a search is done in float64, beyond it in float32
# The first penalty in units of an eigenvalue that matters, the scale on which multipliers live, and
# by how much one of the two residuals must exceed the other for the penalty to follow. With the
# former pair a search is near the end after tens of iterations, with the latter nearer after more.
QUICK, THOROUGH = (4.0, 2.0), (16.0, 1.5)
ROWS = 256  # rows of M that are worked on at once: nothing else of its size is made
HUGE = 2.0**20  # no multiplier above so many times the largest entry is ever of use


@dataclass(frozen=True, slots=True)
class Multiplier:
    """N = ``penalty * max(-state, 0)`` on the first ``signed`` coordinates, zero elsewhere.

    ``values`` are about the leading eigenvalues of B + N, from below, ``vectors`` their vectors,
    and ``top`` is the sum of the k largest. ``root`` is W of the last projection, Z = W W^T.
    """

    state: Array  # (p, p)
    penalty: float
    signed: int
    top: float
    values: Array  # (r,), largest first
    vectors: Array  # (p, r)
    root: Array = field(default_factory=lambda: np.zeros((0, 0)))  # (p, a)

    def part(self, rows: slice, columns: slice, most: float) -> Array:
        """A part of N in float64, no entry above ``most``, whatever the state holds."""
        values = -self.penalty * self.state[rows, columns].astype(np.float64)
        return np.fmin(np.fmax(values, 0.0), most)  # NaN counts as nothing

    def in_units(self, unit: float) -> Multiplier:
        """The same for a matrix so many times as large."""
        penalty, top, values = self.penalty * unit, self.top * unit, self.values * unit
        return replace(self, penalty=penalty, top=top, values=values)


@dataclass(frozen=True, slots=True)
class Aim:
    """When a search is done: ``top`` is reached, or nothing more is gained.

    The bound it is for is ``whole`` less a sum of eigenvalues, and gains that are at most
    ``precision`` times the bound are none.
    """

    whole: float
    precision: float
    top: float = -math.inf
    max_iter: int = 200

    def met(self, checks: list[float]) -> bool:
        """Whether the last of the sums that were checked is one to end with."""
        best = min(checks)
        negligible = self.precision * max(self.whole - best, 0.0)
        spent = min(checks[:-PATIENCE], default=math.inf) - best <= negligible
        return checks[-1] <= self.top or (spent and checks[-1] - best <= negligible / 2.0)


def search(
    matrix: Array,
    k: int,
    aim: Aim,
    allowance: Allowance,
    *,
    signed: int | None = None,
    at_most: bool = False,
    reserve: float = 0.0,
    fixed: Array | None = None,
    start: Multiplier | None = None,
) -> Multiplier:
    """A multiplier for a symmetric ``matrix`` (p, p), k < p; in float32 beyond `DOUBLE_SIDE`.

    Only pairs of the first ``signed`` coordinates (all, if not given) have a multiplier. With
    ``at_most`` the trace of Z may be below k, so that only positive eigenvalues count. ``fixed``
    (p,), where given, is a unit vector q with Z q = q. It ends by its aim, or with what it has when
    the allowance less ``reserve`` seconds is spent. The multiplier of a similar matrix that a
    search may ``start`` from is used up.
    """
    signed = len(matrix) if signed is None else signed
    start = start if start is not None and start.penalty > 0.0 else None
    # Float32 has a short range of exponents: the unit brings the largest entry near 1.
    unit = math.ldexp(1.0, math.frexp(float(np.abs(matrix).max()))[1])
    scaled = np.empty(matrix.shape, np.float64 if len(matrix) <= DOUBLE_SIDE else np.float32)
    np.divide(matrix, unit, out=scaled, casting="same_kind")
    aim = replace(aim, whole=aim.whole / unit, top=aim.top / unit)
    start = None if start is None else start.in_units(1.0 / unit)
    state = _Search(scaled, k, signed, at_most, fixed, start)
    checks = [state.top]
    for iteration in range(1, aim.max_iter + 1):
        if allowance.ends(reserve):
            break
        check = iteration % CHECK_EVERY == 0 or iteration == aim.max_iter
        state.iterate(residuals=check)
        if not check:
            continue
        checks.append(state.check())
        announce("lower bound")
        if aim.met(checks):
            break
        state.balance()
    return state.finish().in_units(unit)


class _Search:
    """The state of one search; ``self.scaled`` is B / penalty, in place of B."""

    best: Multiplier | None = None

    def __init__(
        self,
        matrix: Array,
        k: int,
        signed: int,
        at_most: bool,
        fixed: Array | None,
        start: Multiplier | None,
    ) -> None:
        # Within the vectors orthogonal to the fixed one there is one dimension less to choose.
        self.k, self.signed, self.at_most = k, signed, at_most
        penalty, self.imbalance = THOROUGH if matrix.dtype == np.float64 else QUICK
        self.scaled = matrix
        self.fixed = np.zeros((len(matrix), 0), matrix.dtype)
        if fixed is not None:
            self.k, self.fixed = k - 1, fixed[:, None].astype(matrix.dtype)
        p = len(matrix)
        self.rng = np.random.default_rng(0)
        if start is None:
            first = self.rng.standard_normal((p, min(p, max(LEAST_WIDTH, k) + SPARE)))
            first = np.linalg.qr(first)[0].astype(matrix.dtype)
        else:
            first = start.vectors
        values, vectors = self._ritz(matrix.dot, first, 4 if start is None else 2)
        self.top = self.top_without = self._sum_of_largest(matrix.dot, values)
        self.vectors = vectors[:, : first.shape[1]]
        self.values, self.checked = values, self.vectors
        # An eigenvalue that matters; a power of two, so that scaling is exact.
        size = max(values[self.k - 1], 0.3 * values[min(1, p - 1)], 1e-3 * np.abs(values).max())
        self.penalty = math.ldexp(1.0, math.frexp(penalty * float(size) or 1.0)[1] - 1)
        if start is None:
            self.state = np.eye(p, dtype=matrix.dtype)
            self.state *= k / p
        else:
            self.state, self.penalty = start.state, start.penalty
        self.scaled *= matrix.dtype.type(1.0 / self.penalty)
        self.root = np.hstack([self.fixed, self.vectors[:, : self.k]])
        self.residuals = 0.0, 0.0
        self._buffer = np.empty((min(ROWS, p), p), matrix.dtype)

    def _magnitude(self, rows: slice) -> Array:
        """Rows of |M|, of M itself where no sign is asked for; in the buffer."""
        state = self.state[rows]
        return self._where_free(rows, np.abs(state, out=self._buffer[: len(state)]), state)

    def _positive(self, rows: slice) -> Array:
        """Rows of max(M, 0), of M itself where no sign is asked for."""
        state = self.state[rows]
        return self._where_free(rows, np.maximum(state, 0.0), state)

    def _negative(self, rows: slice) -> Array:
        """Rows of max(-M, 0), zero where no sign is asked for; in the buffer."""
        state = self.state[rows]
        part = np.minimum(state, 0.0, out=self._buffer[: len(state)])
        return self._where_free(rows, np.negative(part, out=part), np.zeros((1, 1), part.dtype))

    def _where_free(self, rows: slice, part: Array, values: Array) -> Array:
        """The part with other values where no sign is asked for: outside the signed square."""
        if self.signed < part.shape[1]:
            values = np.broadcast_to(values, part.shape)
            part[:, self.signed :] = values[:, self.signed :]
            first = max(self.signed - rows.start, 0)
            part[first:] = values[first:]
        return part

    def _times(self, vectors: Array, part_of: Callable[[slice], Array]) -> Array:
        """(B / penalty + part) V, the part given by its rows."""
        product = np.empty_like(vectors)
        for rows in slices(len(product), ROWS):
            part = part_of(rows)
            part += self.scaled[rows]  # one product with both is cheaper than two
            np.matmul(part, vectors, out=product[rows])
        return product

    def iterate(self, residuals: bool = False) -> None:
        """One projection and one update of M; with the residuals if asked for."""
        values, vectors = self._ritz(lambda v: self._times(v, self._magnitude), self.vectors)
        shift = fantope_shift(values, self.k)
        clipped = np.clip(values - (max(shift, 0.0) if self.at_most else shift), 0.0, 1.0)
        active = int(np.count_nonzero(clipped > 0.0))
        root = vectors[:, :active] * np.sqrt(clipped[:active]).astype(vectors.dtype)
        root = np.hstack([self.fixed, root])
        self._update(root, residuals)
        self.root = root
        self.vectors = self._resize(vectors, active)

    def _update(self, root: Array, residuals: bool) -> None:
        """M <- a Z + (1 - a) max(M, 0) + min(M, 0) for Z = root root^T; averaged where free.

        The last two are the smaller of M and (1 - a) M, as a is above 1.
        """
        primal = dual = 0.0
        a = self.state.dtype.type(OVER_RELAXATION)
        product = get_blas_funcs("gemm", dtype=self.state.dtype)
        for rows in slices(len(root), ROWS):
            state = self.state[rows]
            before = self._positive(rows) if residuals else state
            part = np.multiply(state, 1 - a, out=self._buffer[: len(state)])
            self._where_free(rows, np.minimum(state, part, out=state), part)
            # BLAS adds to a block in place; its transpose has the order that BLAS works in.
            product(a, root, root[rows], 1.0, state.T, trans_b=True, overwrite_c=True)
            if residuals:
                after = self._positive(rows)
                before -= after
                after -= root[rows] @ root.T
                dual += float(np.vdot(before, before))
                primal += float(np.vdot(after, after))
        if residuals:
            self.residuals = math.sqrt(primal), math.sqrt(dual)

    def _resize(self, vectors: Array, active: int) -> Array:
        """As many Ritz vectors as the next projection may need, random ones where there are few."""
        p = len(vectors)
        width = min(p, max(LEAST_WIDTH, self.k + SPARE, active + SPARE))
        if vectors.shape[1] >= width:
            return vectors[:, :width]
        padding = self.rng.standard_normal((p, width - vectors.shape[1])).astype(vectors.dtype)
        return np.linalg.qr(np.hstack([vectors, padding]))[0]

    def check(self) -> float:
        """About the sum of the k largest eigenvalues of B + N."""

        def times(vectors: Array) -> Array:
            return self._times(vectors, self._negative)

        values, vectors = self._ritz(times, self.checked, 2)
        # As many as the projections use: in the end so many eigenvalues are all but equal.
        self.checked = vectors[:, : max(self.checked.shape[1], self.vectors.shape[1])]
        self.values = values * self.penalty
        self.top = self.penalty * self._sum_of_largest(times, values)
        if len(self.state) <= COPIED_SIDE and (self.best is None or self.top < self.best.top):
            self.best = replace(self._multiplier(), state=self.state.copy())
        return self.top

    def _ritz(
        self, times: Callable[[Array], Array], vectors: Array, steps: int = 1
    ) -> tuple[Array, Array]:
        """Ritz pairs of a matrix P, on what is orthogonal to the fixed vector, which comes last."""
        fixed = self.fixed
        if not fixed.size:
            return ritz(times, vectors, self.rng, steps)

        def restricted(vectors: Array) -> Array:
            along = fixed.T @ vectors
            product = times(vectors - fixed @ along)
            return product - fixed @ (fixed.T @ product + along)

        values, vectors = ritz(restricted, vectors, self.rng, steps)
        return values, vectors - fixed @ (fixed.T @ vectors)

    def _sum_of_largest(self, times: Callable[[Array], Array], values: Array) -> float:
        """The sum of the k first values, of the positive ones only where they may be fewer.

        That of the fixed vector is one of them.
        """
        largest = values[: self.k]
        of_fixed = float(np.vdot(self.fixed, times(self.fixed))) if self.fixed.size else 0.0
        return of_fixed + float((np.maximum(largest, 0.0) if self.at_most else largest).sum())

    def balance(self) -> None:
        """Move the penalty to where both residuals fall; N stays as it is."""
        primal, dual = self.residuals
        if primal > self.imbalance * dual:
            self._rescale(2.0)
        elif dual > self.imbalance * primal:
            self._rescale(0.5)

    def _rescale(self, factor: float) -> None:
        self.penalty *= factor
        down = self.state.dtype.type(1.0 / factor)
        self.scaled *= down
        for rows in slices(len(self.state), ROWS):
            state = self.state[rows, : self.signed][: max(self.signed - rows.start, 0)]
            np.multiply(state, down, out=state, where=state < 0.0)

    def finish(self) -> Multiplier:
        """The best multiplier that was checked, or the last one; zero where that is better."""
        best = self.best or self._multiplier()
        return best if best.top <= self.top_without else replace(best, penalty=0.0)

    def _multiplier(self) -> Multiplier:
        values, vectors = self.values[: self.checked.shape[1]], self.checked
        return Multiplier(
            self.state, self.penalty, self.signed, self.top, values, vectors, self.root
        )


def raise_matrix(matrix: Array, multiplier: Multiplier) -> None:
    """Replace a matrix G by G + N in place, symmetric, nowhere below the larger of two mates of G.

    Whatever the multiplier holds: N is never negative, and adding what is not negative never
    lowers a rounded sum. So the difference is an exact, admissible N.
    """
    signed = multiplier.signed
    most = HUGE * max(float(matrix.max()), -float(matrix.min()))
    borders = sorted({*range(0, len(matrix), ROWS), signed, len(matrix)})
    parts = [slice(*pair) for pair in pairwise(borders)]  # none across the border of the signed
    for left, right in combinations_with_replacement(parts, 2):
        # Where nothing is added, mates are made equal all the same.
        part = np.maximum(matrix[left, right], matrix[right, left].T)
        if right.stop <= signed:
            above, below = multiplier.part(left, right, most), multiplier.part(right, left, most)
            part += np.maximum(above, below.T)
        matrix[left, right] = part
        matrix[right, left] = part.T


def ritz(
    times: Callable[[Array], Array], vectors: Array, rng: np.random.Generator, steps: int = 1
) -> tuple[Array, Array]:
    """Ritz values, largest first, and vectors from span(V, P V), V (p, r) orthonormal.

    Of the whole space where that is not much larger.
    """
    p, width = vectors.shape
    for _ in range(steps):
        if 4 * width >= p:
            basis = np.eye(p, dtype=vectors.dtype)
            products = times(basis)
        else:
            first = times(vectors)
            rest = new_directions(vectors, first, rng)
            basis = np.hstack([vectors, rest])
            products = np.hstack([first, times(rest)])
        projected = (basis.T @ products).astype(np.float64)
        values, rotation = np.linalg.eigh((projected + projected.T) / 2.0)
        ritz_vectors = basis @ rotation[:, ::-1].astype(vectors.dtype)
        vectors = ritz_vectors[:, :width]
    return values[::-1], ritz_vectors


def fantope_shift(values: Array, k: int) -> float:
    """The s for which clip(values - s, 0, 1) sums to k; ``values`` descending, k or more of them.

    The sum falls piecewise linearly in s with kinks at every value and value - 1: the kink
    before the crossing is found by bisection over the sorted kinks, the rest is one division.
    """

    def clipped_sum(shift: float) -> float:
        return float(np.clip(values - shift, 0.0, 1.0).sum())

    kinks = np.sort(np.concatenate([values, values - 1.0])).tolist()
    # The sum is the number of values at the first kink, 0 at the last.
    place = bisect_left(kinks, True, 1, len(kinks) - 1, key=lambda kink: clipped_sum(kink) < k)
    low, high = kinks[place - 1 : place + 1]
    at_low, at_high = clipped_sum(low), clipped_sum(high)
    return low if at_low <= at_high else low + (at_low - k) / (at_low - at_high) * (high - low)
