"""Lower bounds over both sides from sums of the singular values of disjoint blocks.

Put A = [0 X; X^T 0], and let p_1 >= p_2 >= ... be the leading singular values of the blocks of a
solution. For every symmetric N >= 0, entry by entry, p_1 + ... + p_i is at most the sum of the i
largest eigenvalues of A + N, those below 0 left out. If |w| <= 1 and
A <= s_2 I + (s_1 - s_2) w w^T in the order of semidefinite matrices, then for alpha >= 0 and
c <= alpha (s_1 - s_2)

    alpha p_1 + (p_2 + ... + p_{i+1}) <= alpha s_1 + (i largest eigenvalues of A - c w w^T + N)

(docs/theory/bounds.md, Theorem 10). Both say  alpha p_1 + p_2 + ... + p_{i+1} <= E_i  for all i,
with alpha = 1 in the former, which is a list; the latter are cuts. With R_0 = 0 and
R_i(t) = min(i t, E_i - alpha t), over all lists and cuts, a solution captures at most the maximum
over t of  t^2 + sum_i (R_i(t) - R_{i-1}(t))^2  (Theorem 10c).

Small proofs. With n <= m let B (m, p) group the columns as in `groups`, Y = X B, and R^T R above
X X^T - Y Y^T. All of the above holds with [Y, R^T] in place of X and N on the n rows and the p
first columns only: append columns to X with the Gram matrix R^T R - (X X^T - Y Y^T). Blocks of X
are blocks of that, with the same p_g, and in orthonormal coordinates of its columns it is
[Y, R^T]; what is orthogonal to them adds eigenvalues 0, which are left out.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from scipy.linalg import block_diag

from orthonmf.bounds.allowance import Allowance, proof_seconds
from orthonmf.bounds.eigenvalues import eigenvalues_from_above, leading_eigenpairs
from orthonmf.bounds.groups import (
    EXTRA,
    Reduced,
    extra_rows,
    group_points,
    leading_directions,
    reduce_rows,
    start_of_proof,
)
from orthonmf.bounds.relaxation import Aim, Multiplier, raise_matrix, search
from orthonmf.bounds.semidefinite import Cover, how_far_below
from orthonmf.certificate import LowerBound
from orthonmf.rounding import (
    WEIGHT_ROUNDINGS,
    growth,
    norm_from_above,
    round_down,
    safe_exponent,
)
from orthonmf.typing import Array

METHOD = "sums of the singular values of blocks"

ALPHAS = (2.0, 3.0, 5.0, 8.0)
# A search ends when 20 iterations gain no more than this part of the error, or after so many.
PRECISION, MAX_ITER = 1e-3, 120
ROOM = 1e-3  # s_2 is so much of the gap above the second singular value: then w may be inexact
# What is worth a proof: an unproven list without which this part of the bound would be lost.
IMPORTANT = 1e-5
GRID = 256  # intervals to begin with
# Intervals are halved until the bound is within this part of the largest square of a value met.
FINEST = 1e-10
MOST_ROUNDS = 60


@dataclass(frozen=True, slots=True)
class Dilation:
    """The matrix A of the proof, a dilation of [Y, R^T], and the coordinates of the search."""

    matrix: Array  # (2 n + p, 2 n + p) A: n rows, p columns of Y, n columns of R^T
    signed: int  # n + p, the coordinates that may have multipliers
    rounding: float  # an upper bound, in norm, on how far A is from the exact one
    rows: Array  # (n, p') groups of rows; their part of a multiplier is spread by it
    small: Array  # (q, q) about A in coordinates of groups, which come first, and extra directions
    n_signed: int  # p' + p, how many of them are groups
    basis: Array  # (2 n + p, q) these coordinates in those of the proof


@dataclass(frozen=True, slots=True)
class Limits:
    """What is known of the k singular values of blocks: p_1, and lines that bound the others."""

    largest: float  # p_1 is at most this
    lines: tuple[tuple[float, Array], ...]  # alpha and E (k - 1,), which never falls

    def narrowed(self, alpha: float, first: float, steps: Array) -> Limits:
        """With the list of i steps (k,) where alpha is 0, else with the cut of (k - 1,).

        Steps never rise. A list bounds the sum of the i first values, a cut has alpha s_1 more.
        """
        totals = np.cumsum(steps)
        if alpha:
            return Limits(self.largest, (*self.lines, (alpha, alpha * first + totals)))
        return Limits(min(self.largest, float(totals[0])), (*self.lines, (1.0, totals[1:])))


class Task(NamedTuple):
    """A search: for sums (alpha 0) or for the cut of this alpha, and of how many values."""

    alpha: float
    values: int


@dataclass(frozen=True, slots=True)
class Candidate:
    """A multiplier, and the steps of a list or a cut that it is believed to prove."""

    task: Task
    multiplier: Multiplier
    steps: Array


def blocks_bound(
    X: Any,
    outer_gram: Array,
    n_components: int,
    allowance: Allowance,
    *,
    n_groups: Sequence[int],
    upper: float = math.inf,
    max_iter: int = MAX_ITER,
) -> LowerBound:
    """A bound for k disjoint blocks of X (n, m), n <= m, entries near 1.

    X is anything non-negative that can be multiplied with arrays, ``outer_gram`` (n, n) the
    computed X X^T, ``upper`` the squared error in hand. With several numbers of groups, what
    mattered with one is sought again with the next.
    """
    n, m = X.shape
    trace = float(np.trace(outer_gram))
    if not trace > 0.0 or safe_exponent(trace):  # weights may lead out of the safe range
        return LowerBound(0.0, METHOD)
    k = min(n_components, n)
    whole = round_down(trace, m + WEIGHT_ROUNDINGS + n) - growth(4) * trace
    error = min(upper, trace)
    # All that may be worth it; which are depends on where the maximum lies.
    tasks = [Task(0.0, j) for j in sorted({2, 3, 4, k}) if j <= k]
    tasks += [Task(alpha, j) for alpha in ALPHAS for j in sorted({1, k - 1})]
    best = whole
    for count in n_groups if k > 1 else ():
        dilation = None if allowance.cut else dilate(X, outer_gram, count)
        dominant = None if dilation is None else find_dominant(dilation)
        if dilation is None or dominant is None:
            continue
        candidates = seek_candidates(dilation, dominant, k, tasks, error, max_iter, allowance)
        chosen = choose(dominant, k, candidates, error)
        best = min(best, prove_captured(dilation, dominant, k, chosen, allowance))
        tasks = [candidate.task for candidate in chosen]
    return LowerBound(max(0.0, whole - best * (1.0 + growth(4))), METHOD)


def prove_captured(
    dilation: Dilation,
    dominant: Dominant,
    k: int,
    chosen: Sequence[Candidate],
    allowance: Allowance,
) -> float:
    """What k blocks capture at most, by as many of the chosen multipliers as there is time for."""
    limits = dominant.as_limits(k)
    for candidate in chosen:
        steps = prove_steps(dilation, candidate, dominant)
        if steps is not None:
            limits = limits.narrowed(candidate.task.alpha, dominant.first, steps)
        if allowance.ends(proof_seconds(len(dilation.matrix))):
            break
    return most_captured(limits)


def dilate(X: Any, outer_gram: Array, n_groups: int) -> Dilation | None:
    """A of the proof and of the search for X (n, m), n <= m; None where groups prove nothing."""
    n = X.shape[0]
    directions = leading_directions(outer_gram)
    left = directions.right  # of X^T: the left singular vectors of X
    turned = np.asarray((X.T @ left) / directions.values)  # (m, r) its right singular vectors
    columns = group_points(X.T, directions, n_groups)
    reduced = reduce_rows(X.T, outer_gram, columns)
    if reduced is None:
        return None
    rows = group_points(X, replace(directions, right=turned), n_groups)
    matrix, e = _proof_matrix(reduced, n)
    p = len(reduced.sums)
    extra = extra_rows(reduced.sums, directions)
    # An orthonormal basis of what the left singular vectors add to the groups.
    rest = left[:, :EXTRA] - rows @ (rows.T @ left[:, :EXTRA])
    added, sizes, _ = np.linalg.svd(rest, full_matrices=False)
    added = added[:, sizes > 1e-3]
    # Coordinates of the search: groups of rows, of columns, extra ones of rows, of columns.
    of_rows = np.hstack([rows, added])
    of_columns = start_of_proof(np.eye(p + len(extra)), reduced, extra)
    across, q = rows.shape[1], of_rows.shape[1]
    order = np.r_[:across, q : q + p, across:q, q + p : q + p + len(extra)]
    basis = block_diag(of_rows, of_columns)
    halves = np.vstack([reduced.sums, extra]).T  # X B and X C, (n, p + r)
    small = np.zeros((basis.shape[1], basis.shape[1]))
    small[:q, q:] = of_rows.T @ halves
    small[q:, :q] = small[:q, q:].T
    small, basis = small[np.ix_(order, order)], np.ascontiguousarray(basis[:, order])
    return Dilation(matrix, n + p, e, rows, small, across + p, basis)


def _proof_matrix(reduced: Reduced, n: int) -> tuple[Array, float]:
    """A for [Y, R^T], and how far it is from the exact one in norm: sqrt(2) of Y's rounding."""
    halves = np.vstack([reduced.sums, reduced.factor])
    matrix = np.zeros((n + len(halves), n + len(halves)))
    matrix[n:, :n] = halves
    matrix[:n, n:] = halves.T
    return matrix, 1.5 * reduced.rounding * norm_from_above(reduced.sums) * (1.0 + growth(4))


@dataclass(frozen=True, slots=True)
class Dominant:
    """A w with |w| <= 1, s_1 and s_2 for which the cuts hold; ``gap`` is at most s_1 - s_2."""

    vector: Array
    first: float
    second: float
    gap: float

    def as_limits(self, k: int) -> Limits:
        """What follows from them alone: all of k values but the first are at most s_2."""
        steps = np.array([self.first] + [self.second] * (k - 1))
        return Limits(self.first, ()).narrowed(0.0, self.first, steps)


def find_dominant(dilation: Dilation) -> Dominant | None:
    """w, s_1 and s_2 with A <= s_2 I + (s_1 - s_2) w w^T, checked; None if no check passes.

    w is near the leading eigenvector, and the room in s_2 makes its error enter in second order.
    The defect of the check, and that of A itself, are added to both.
    """
    matrix = dilation.matrix
    # About the leading eigenvectors of A, from those of the search.
    start = dilation.basis @ np.linalg.eigh(dilation.small)[1][:, ::-1][:, :EXTRA]
    pairs = leading_eigenpairs(matrix, 1, start=start)
    sigma_1, sigma_2 = float(pairs.values[0]), max(float(pairs.values[1]), 0.0)
    w = pairs.vectors[:, :1]
    w = w * ((1.0 - growth(8)) / norm_from_above(w))
    level = sigma_2 + ROOM * (sigma_1 - sigma_2)
    for power in range(-7, -2):
        gap = sigma_1 * (1.0 + 10.0**power) - level
        if gap <= 0.0:
            continue
        below = how_far_below(matrix, Cover(level, np.array([gap]), w))
        if math.isfinite(below):
            second = (level + below + dilation.rounding) * (1.0 + growth(4))
            return Dominant(w[:, 0], (second + gap) * (1.0 + growth(2)), second, gap)
    return None


def seek_candidates(
    dilation: Dilation,
    dominant: Dominant,
    k: int,
    tasks: Sequence[Task],
    error: float,
    max_iter: int,
    allowance: Allowance,
) -> list[Candidate]:
    """Multipliers for sums and for cuts, with what they seem to prove: nothing is checked yet.

    The bound is the squared norm less squares, so a sum of values that is lower by d raises it by
    about twice the leading value times d: that makes the unit of what a search may gain.
    """
    reserve = 3.0 * proof_seconds(len(dilation.matrix))
    w = dilation.basis.T @ dominant.vector
    candidates = []
    for alpha, j in tasks:
        if allowance.ends(reserve):
            break
        if len(dilation.small) <= j:
            continue
        small = dilation.small - (alpha * dominant.gap) * np.outer(w, w)
        top = float(np.maximum(np.linalg.eigvalsh(small)[-j:], 0.0).sum())
        aim = Aim(top + error / (2.0 * dominant.first), PRECISION, 0.0, max_iter)
        multiplier = search(
            small,
            j,
            aim,
            allowance,
            signed=dilation.n_signed,
            at_most=alpha > 0.0,
            reserve=reserve,
        )
        steps = np.zeros(k if alpha == 0.0 else k - 1)
        values = np.maximum(multiplier.values[: len(steps)], 0.0)
        steps[: len(values)] = values
        candidates.append(Candidate(Task(alpha, j), multiplier, steps))
    return candidates


def choose(
    dominant: Dominant, k: int, candidates: Sequence[Candidate], error: float
) -> list[Candidate]:
    """The candidates that matter, the most important first; the others prove nothing more."""

    def find_captured(some: Sequence[Candidate]) -> float:
        limits = dominant.as_limits(k)
        for candidate in some:
            limits = limits.narrowed(candidate.task.alpha, dominant.first, candidate.steps)
        return most_captured(limits)

    needed = list(candidates)
    least = find_captured(needed)
    for candidate in candidates:
        without = [other for other in needed if other is not candidate]
        if find_captured(without) <= least + IMPORTANT * error:
            needed = without
    losses = [
        find_captured([other for other in needed if other is not candidate]) for candidate in needed
    ]
    return [needed[i] for i in np.argsort(losses)[::-1]]


def prove_steps(dilation: Dilation, candidate: Candidate, dominant: Dominant) -> Array | None:
    """The steps that a stored multiplier proves, every rounding on the safe side.

    A - c w w^T as computed is off by g(3) (|A| + c |w|^2) in norm, A itself by its rounding; N is
    whatever was added, exactly. Each moves an eigenvalue by its norm at most (Weyl).
    """
    matrix, off = dilation.matrix.copy(), dilation.rounding
    k = len(candidate.steps)
    if candidate.task.alpha > 0.0:
        c = candidate.task.alpha * dominant.gap * (1.0 - growth(4))
        matrix -= c * np.outer(dominant.vector, dominant.vector)
        off += growth(4) * (norm_from_above(dilation.matrix) + c)
    raise_matrix(matrix, spread(dilation, candidate.multiplier))
    with np.errstate(all="ignore"):  # whatever the search has left
        start = dilation.basis @ candidate.multiplier.vectors
    whole = float(candidate.steps.sum()) + dominant.first
    values = eigenvalues_from_above(matrix, k, start, whole)
    return None if values is None else (values + off) * (1.0 + growth(2))


def spread(dilation: Dilation, multiplier: Multiplier) -> Multiplier:
    """The multiplier of groups as one of the rows and columns of the proof, non-negative again."""
    across, count = dilation.rows.shape[1], dilation.n_signed
    small = np.fmin(multiplier.part(slice(0, count), slice(0, count), math.inf), 2.0**300)
    groups = block_diag(dilation.rows, np.eye(count - across))  # groups of columns stay
    state = -(groups @ small @ groups.T)
    return replace(multiplier, state=state, penalty=1.0, signed=dilation.signed)


def most_captured(limits: Limits) -> float:
    """An upper bound on the sum of squares, rounding included.

    All t up to the largest p_1 are split into intervals [a, b]. On one of them t^2 <= b^2, and
    R_i(t) is at most min(i b, E_i - alpha a). Those whose bound is above the largest value met at
    an end are halved, as long as that can matter.
    """
    a, b = _split(np.array([0.0]), np.array([limits.largest]), GRID)
    met, done = 0.0, 0.0
    for _ in range(MOST_ROUNDS):
        bounds = _sum_captured(limits, a, b)
        met = max(met, float(_sum_captured(limits, b, b).max()))
        open_ = bounds > met + FINEST * limits.largest**2
        done = max(done, float(bounds[~open_].max(initial=0.0)))
        if not open_.any():
            return done
        a, b = _split(a[open_], b[open_], 2)
    return max(done, float(bounds.max()))


def _split(a: Array, b: Array, parts: int) -> tuple[Array, Array]:
    """Intervals in equal parts; neighbors share their ends to the last bit."""
    shares = np.arange(parts + 1) / parts
    ends = a[:, None] * (1.0 - shares) + b[:, None] * shares
    ends[:, 0], ends[:, -1] = a, b
    return ends[:, :-1].ravel(), ends[:, 1:].ravel()


def _sum_captured(limits: Limits, a: Array, b: Array) -> Array:
    """Bounds (c,) for the intervals [a, b], rounding included.

    Everything is a sum of at most k + 4 numbers of size u at most, so a limit is off by
    g(k + 4) u at most and a difference of two by twice that; k squares of differences that are at
    most u are off by less than 16 k g u^2 in all.
    """
    k = 1 + len(limits.lines[0][1])
    least = b[:, None] * np.arange(1, k)
    size = k * limits.largest
    for alpha, totals in limits.lines:
        least = np.minimum(least, totals - alpha * a[:, None])
        size = max(size, float(totals.max(initial=0.0)) + k * limits.largest)
    differences = np.diff(np.maximum(least, 0.0), axis=1, prepend=0.0)
    captured = np.square(b) + np.square(differences).sum(axis=1)
    return captured * (1.0 + growth(k + 4)) + 16.0 * k * growth(k + 8) * size**2
