"""Upper bounds on the sum of the k largest eigenvalues of a stored symmetric matrix.

All iterative eigenvalue methods approach large eigenvalues from below, and a lower bound on an
error needs them from above. So the methods here only *propose*; what is returned follows from a
matrix identity that is checked with plain products, whose rounding is bounded. It holds for any
proposal, however poor: a poor one costs tightness, never truth.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.linalg import eigh

from orthonmf.bounds.semidefinite import Cover, how_far_below
from orthonmf.rounding import SINGLE_ROUNDOFF, growth, norm_from_above, round_up
from orthonmf.typing import Array

DIRECT_SIDE = 800  # up to this side LAPACK's eigenproblem is faster than iterating
BLOCKS_PER_CYCLE = 6
MAX_CYCLES = 4
# Iterations stop once they can improve the rest of the trace by no more than this part.
NEGLIGIBLE_LOSS = 1e-4
SINGLE_SIDE = 1200  # from this side on a factor is tried in float32 first, in half the time
SINGLE_LOSS = 1e-4  # what a factor in float32 may cost, as a part of the rest of the trace
# How far above the pairs a matrix is proposed, until one passes its check.
SLACKS = (1.0, 10.0, 100.0, 1000.0)
TINY = 2.0**-900


@dataclass(frozen=True, slots=True)
class Eigenpairs:
    """Approximate leading eigenpairs of a symmetric matrix B, largest first.

    ``errors`` estimates R^T R for the residuals R = B V - V diag(values).
    """

    values: Array  # (l,)
    vectors: Array  # (p, l), about orthonormal
    errors: Array  # (l, l)


def top_sum_upper_bound(
    matrix: Array, k: int, pairs: Eigenpairs | None = None, *, start: Array | None = None
) -> float:
    """A proven upper bound on the sum of the k largest eigenvalues, infinite if no check passed.

    ``matrix`` B is symmetric (p, p) with k < p, entries in the safe range. ``pairs`` are proposals
    for its leading eigenpairs, at least k + 1 of them; they are found here when not given, from
    ``start`` (p, r) where that may be near them.

    For any V, c >= 0, level t and E with  t I + V diag(c) V^T - B >= -E, the sum is at most k t,
    the k largest eigenvalues of V diag(c) V^T and sqrt(k) |E| added up (docs/theory/bounds.md, a
    checked factor). The nonzero ones of V diag(c) V^T are those of D V^T V D with D^2 = diag(c), at
    most |V^T V| times those of D^2. It does not matter how V, c and t were found.
    """
    if pairs is None:
        pairs = pairs_for_sum(matrix, k, start)
    if len(matrix) >= SINGLE_SIDE and pairs.values[k - 1] > 0.0:
        cover = _propose(pairs, k, 1.0, SINGLE_ROUNDOFF)
        proposed = cover.sum_of_largest(k)
        bound = _proven_sum(matrix, k, cover, np.float32)
        rest = float(np.trace(matrix)) - proposed
        if bound <= proposed + SINGLE_LOSS * rest:
            return bound
    bounds = (_proven_sum(matrix, k, _propose(pairs, k, slack)) for slack in SLACKS)
    return next(filter(math.isfinite, bounds), math.inf)


def pairs_for_sum(
    matrix: Array, k: int, start: Array | None = None, whole: float | None = None
) -> Eigenpairs:
    """Leading eigenpairs, more than k, good enough for `top_sum_upper_bound`.

    ``start`` (p, r), where given, may be near them. What matters is ``whole`` less the sum, with
    the trace in its place if it is not given.
    """
    whole = float(np.trace(matrix)) if whole is None else whole

    def good_enough(pairs: Eigenpairs) -> bool:
        from_below = float(pairs.values[:k].sum())
        loss = _propose(pairs, k, 1.0).sum_of_largest(k) - from_below
        return loss <= NEGLIGIBLE_LOSS * (whole - from_below)

    return leading_eigenpairs(matrix, k, start=start, good_enough=good_enough)


def _propose(
    pairs: Eigenpairs, k: int, slack: float, roundoff: float = 0.0, size: float = 0.0
) -> Cover:
    """A matrix that should lie above B, and by as little as the residuals R of the pairs allow.

    In coordinates that begin with V let B be [[T, R^T], [R, H]], T the values and H <= h I. As
    [[R^T R / e, -R^T], [-R, e I]] >= 0  for every e > 0, the matrix of blocks T + R^T R / e and
    (h + e) I lies above B. With t = h + e at most the k-th value nothing is lost but the k largest
    eigenvalues of T + R^T R / e less those of T: second order in R. The gap that counts is that
    from the k-th value to h, beyond all pairs, not that to the next value. A level above the k-th
    value costs k times the excess: only a residual may push it there. ``size`` is that of B, where
    its leading eigenvalues may not be the largest in size.
    """
    values, p = pairs.values, len(pairs.vectors)
    # A guess at h, rather too high; when it is too low no factor will be found.
    beyond = float(values[k - 1] + values[-1]) / 2.0
    # Below this a factorization would fail by its own rounding.
    floor = growth(4 * p + 64) * max(float(np.abs(values).max()), size) + TINY
    floor += math.sqrt(p) * roundoff * abs(float(values[k - 1]))
    residual = math.sqrt(max(0.0, float(np.trace(pairs.errors[:k, :k]))))
    level = max(float(values[k - 1]), beyond + slack * max(residual, floor))
    raised, rotation = np.linalg.eigh(np.diag(values) + pairs.errors * (slack / (level - beyond)))
    excess = raised[::-1] - level + slack * floor
    used = excess > 0.0
    return Cover(level, excess[used], pairs.vectors @ rotation[:, ::-1][:, used])


def _proven_sum(matrix: Array, k: int, cover: Cover, dtype: type = np.float64) -> float:
    """The bound that a cover proves (see `top_sum_upper_bound`)."""
    below = how_far_below(matrix, cover, dtype)
    captured = round_up(float(cover.excess[:k].sum()) * stretch_of(cover.vectors), k + 8)
    defect = round_up(math.sqrt(k) * below, 2)
    bound = k * cover.level + captured + defect
    return bound + growth(8) * (abs(k * cover.level) + captured + defect)


def eigenvalues_from_above(matrix: Array, k: int, start: Array, whole: float) -> Array | None:
    """Proven upper bounds (k,) on the k largest eigenvalues, those below 0 replaced by it.

    ``start`` and ``whole`` are those of `pairs_for_sum`. For t I + V diag(c) V^T - B >= -E the j-th
    eigenvalue of B is at most the sum of t, |E| and the j-th of V diag(c) V^T (Weyl), which is at
    most |V^T V| c_j (see `top_sum_upper_bound`). One cover serves all of them, and they never
    rise. None if no check passed.
    """
    pairs, size = pairs_for_sum(matrix, k, start, whole), norm_from_above(matrix)
    for slack in SLACKS:
        cover = _propose(pairs, k, slack, size=size)
        below = how_far_below(matrix, cover)
        if math.isfinite(below):
            break
    else:
        return None
    excess = cover.excess[:k] * stretch_of(cover.vectors) * (1.0 + growth(4))
    excess = np.pad(excess, (0, k - len(excess)))
    bounds = cover.level + excess + below
    return np.maximum(bounds + growth(8) * (abs(cover.level) + excess + below), 0.0)


def stretch_of(vectors: Array) -> float:
    """An upper bound on 1 + |V^T V - I| for vectors V (p, l)."""
    p, count = vectors.shape
    overlaps = vectors.T @ vectors
    overlaps.flat[:: count + 1] -= 1.0
    size = norm_from_above(vectors) ** 2
    return round_up(1.0 + norm_from_above(overlaps) + growth(p + 4) * size, 4)


def leading_eigenpairs(
    matrix: Array,
    k: int,
    *,
    start: Array | None = None,
    good_enough: Callable[[Eigenpairs], bool] = lambda pairs: False,
    max_cycles: int = MAX_CYCLES,
) -> Eigenpairs:
    """Approximations to the k + 1 or more leading eigenpairs of a symmetric matrix, k < p.

    Direct for small sides, where LAPACK's `evr` stops after the wanted vectors; beyond that by
    restarted block Krylov iterations with full orthogonalization, from ``start`` (p, r), or always
    from the same one, until the pairs are ``good_enough``. Where many eigenvalues are all but equal
    a start with as many vectors is needed.
    """
    p = len(matrix)
    if start is not None and not np.isfinite(start).all():
        start = None
    block = max(k + 1 + max(8, k // 4), 0 if start is None else start.shape[1])
    if p <= DIRECT_SIDE or block * BLOCKS_PER_CYCLE > p // 2:
        values, vectors = _direct(matrix, k + 1)
        residuals = matrix @ vectors - vectors * values
        return Eigenpairs(values, vectors, residuals.T @ residuals)
    rng = np.random.default_rng(0)
    given = np.empty((p, 0)) if start is None else start.astype(np.float64)
    padding = rng.standard_normal((p, block - given.shape[1]))
    start = np.linalg.qr(np.hstack([given, padding]))[0]
    for _ in range(max_cycles):
        pairs = _krylov_cycle(matrix, start, rng)
        if good_enough(pairs):
            break
        start = pairs.vectors[:, :block]
    return pairs


def _direct(matrix: Array, count: int) -> tuple[Array, Array]:
    """So many leading eigenvalues and eigenvectors by LAPACK, largest first."""
    wanted = [len(matrix) - count, len(matrix) - 1]
    values, vectors = eigh(matrix, subset_by_index=wanted, driver="evr", check_finite=False)
    if len(values) < count:  # `evr` may find none in a cluster of equal ones, and not say so
        values, vectors = np.linalg.eigh(matrix)
    return values[::-1][:count], vectors[:, ::-1][:, :count]


def _krylov_cycle(matrix: Array, start: Array, rng: np.random.Generator) -> Eigenpairs:
    """Ritz pairs from span(Q, B Q, B^2 Q, ...), twice as many as ``start`` (p, b) has columns."""
    p, width = start.shape
    basis = np.empty((p, width * BLOCKS_PER_CYCLE), order="F")
    products = np.empty_like(basis)
    block = start
    for first in range(0, basis.shape[1], width):
        if first:
            block = new_directions(basis[:, :first], block, rng)
        basis[:, first : first + width] = block
        products[:, first : first + width] = matrix @ block
        block = products[:, first : first + width]
    projected = basis.T @ products
    values, rotation = np.linalg.eigh((projected + projected.T) / 2.0)
    values, rotation = values[::-1][: 2 * width], rotation[:, ::-1][:, : 2 * width]
    vectors = basis @ rotation
    residuals = products @ rotation - vectors * values
    return Eigenpairs(values, vectors, residuals.T @ residuals)


def new_directions(past: Array, block: Array, rng: np.random.Generator) -> Array:
    """An orthonormal basis of what ``block`` adds to the orthonormal columns of ``past``."""
    sizes = np.linalg.norm(block, axis=0)
    block, triangle = np.linalg.qr(block - past @ (past.T @ block))
    # Columns that add nothing (multiple eigenvalues, low rank) are rounding noise by now.
    noise = float(np.finfo(block.dtype).eps) ** 0.65
    spent = np.abs(np.diagonal(triangle)) <= noise * sizes.max()
    block[:, spent] = rng.standard_normal((len(block), int(spent.sum())))
    for _ in range(2):
        block = np.linalg.qr(block - past @ (past.T @ block))[0]
    return block
