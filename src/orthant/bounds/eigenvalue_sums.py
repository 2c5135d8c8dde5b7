"""Upper bounds on the sum of the k largest eigenvalues of a stored symmetric matrix.

All iterative eigenvalue methods approach large eigenvalues from below, and a lower bound on an
error needs them from above. So the methods here only *propose*; what is returned follows from a
matrix identity that is checked with plain products, whose rounding is bounded. It holds for any
proposal, however poor: a poor one costs tightness, never truth.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy.linalg import LinAlgError, cholesky, eigh

from orthant.numerics.arrays import Array
from orthant.numerics.rounding import growth, norm_from_above, round_down, round_up

DIRECT_SIDE = 800
"""Up to this side LAPACK's eigenproblem is faster than iterating."""

BLOCKS_PER_CYCLE = 6
MAX_CYCLES = 8
NEGLIGIBLE_LOSS = 1e-6
"""Iterations stop once they can improve the rest of the trace by no more than this part."""

COLUMNS_PER_BLOCK = 256


@dataclass(frozen=True, slots=True)
class Eigenpairs:
    """Approximate leading eigenpairs of a symmetric matrix, largest first.

    ``residual`` estimates ``|B V - V diag(values)|`` over the first k + 1 of them.
    """

    values: Array  # (l,)
    vectors: Array  # (p, l)
    residual: float


def top_sum_upper_bound(matrix: Array, k: int, pairs: Eigenpairs | None = None) -> float | None:
    """A proven upper bound on the sum of the k largest eigenvalues, or None if no check passed.

    ``matrix`` is symmetric (p, p) with k < p, entries in the safe range. ``pairs`` are proposals
    for its leading eigenpairs, at least k + 1 of them; they are found here when not given.

    The sum is the largest <B, Z> over 0 <= Z <= I with trace k (Ky Fan). For any V, any
    c >= 0 and any level t with  t I + V diag(c) V^T - B  positive semidefinite,
    <B, Z> <= k t + sum_j c_j |v_j|^2, with equality for the eigenvectors, c_j = lambda_j - t and
    any t between the k-th and the next eigenvalue. Nothing is asked of V, so it need not be
    orthonormal. With approximate V the cross terms are the residual r, and raising every c_j by
    e makes the matrix semidefinite as soon as e >= |r|^2 / (t - next eigenvalue): what is lost
    is of second order in r.
    """
    if pairs is None:
        pairs = leading_eigenpairs(matrix, k)
    values, vectors = pairs.values[:k], pairs.vectors[:, :k]
    gap = float(pairs.values[k - 1] - pairs.values[k])
    # Below this the factorization would fail by its own rounding.
    floor = growth(4 * len(matrix) + 64) * float(np.abs(pairs.values).max())
    for slack in (1.0, 10.0, 100.0, 1000.0):
        # A level above the k-th value costs k times the excess: only a residual may push it there.
        margin = max(gap / 2.0, slack * max(pairs.residual, floor))
        level = float(pairs.values[k]) + margin
        raised = slack * (2.0 * pairs.residual**2 / margin + floor)
        excess = np.maximum(values - level + raised, 0.0)
        bound = _checked_bound(matrix, k, vectors, excess, level)
        if bound is not None:
            return bound
    return None


def _checked_bound(
    matrix: Array, k: int, vectors: Array, excess: Array, level: float
) -> float | None:
    """The bound that ``vectors``, ``excess`` and ``level`` prove, None if they prove none.

    A Cholesky factor R is a witness for semidefiniteness: with
    E = t I + V diag(c) V^T - B - R^T R  one has  t I + V diag(c) V^T - B >= -E, so that
    <B, Z> <= k t + sum c_j |v_j|^2 + |E| |Z|, and |Z| <= sqrt(k). How R was found does not
    matter. E is computed by blocks of columns; an entry of each of its four terms takes part in
    at most p + 5 roundings, which bounds the norm of what rounding did to E.
    """
    p = len(matrix)
    shifted = (vectors * excess) @ vectors.T
    shifted -= matrix
    shifted.flat[:: p + 1] += level
    try:
        # The transpose of a C-ordered symmetric matrix is in LAPACK's order: no copy is made.
        factor = cholesky(shifted.T, overwrite_a=True, check_finite=False)
    except LinAlgError:
        return None
    defect = 0.0
    for start in range(0, p, COLUMNS_PER_BLOCK):
        stop = min(p, start + COLUMNS_PER_BLOCK)
        block = (vectors[:stop] * excess) @ vectors[start:stop].T
        block -= matrix[:stop, start:stop]
        block[np.arange(start, stop), np.arange(stop - start)] += level
        block -= factor[:stop, :stop].T @ factor[:stop, start:stop]
        # Above the diagonal block every entry stands for its mate below the diagonal, too.
        defect += 2.0 * float(np.vdot(block[:start], block[:start]))
        defect += float(np.vdot(block[start:], block[start:]))
    captured = round_up(float(excess @ np.einsum("ij,ij->j", vectors, vectors)), p + k + 2)
    factor_part = norm_from_above(factor) ** 2
    rounding = growth(p + 5) * (
        captured + norm_from_above(matrix) + factor_part + abs(level) * math.sqrt(p)
    )
    defect_norm = round_up(math.sqrt(defect), p * p + 2) + rounding
    bound = k * level + captured + round_up(math.sqrt(k) * defect_norm, 2)
    return bound + growth(8) * (abs(k * level) + captured + math.sqrt(k) * defect_norm)


def leading_eigenpairs(matrix: Array, k: int, *, max_cycles: int = MAX_CYCLES) -> Eigenpairs:
    """Approximations to the k + 1 or more leading eigenpairs of a symmetric matrix, k < p.

    Direct for small sides, where LAPACK's `evr` stops after the wanted vectors; beyond that by
    restarted block Krylov iterations with full orthogonalization, always from the same start.
    """
    p = len(matrix)
    block = k + 1 + max(8, k // 4)
    if p <= DIRECT_SIDE or block * BLOCKS_PER_CYCLE > p // 2:
        values, vectors = eigh(
            matrix, subset_by_index=[p - k - 1, p - 1], driver="evr", check_finite=False
        )
        values, vectors = values[::-1], vectors[:, ::-1]
        residual = matrix @ vectors - vectors * values
        return Eigenpairs(values, vectors, float(np.linalg.norm(residual)))
    trace = float(np.trace(matrix))
    rng = np.random.default_rng(0)
    start = np.linalg.qr(rng.standard_normal((p, block)))[0]
    for _ in range(max_cycles):
        pairs = _krylov_cycle(matrix, start, k, rng)
        rest = trace - float(pairs.values[:k].sum())
        if _expected_loss(pairs, k) <= NEGLIGIBLE_LOSS * rest:
            break
        start = pairs.vectors
    return pairs


def _expected_loss(pairs: Eigenpairs, k: int) -> float:
    """What `top_sum_upper_bound` will lose to the residual of these pairs."""
    gap = float(pairs.values[k - 1] - pairs.values[k])
    margin = max(gap / 2.0, pairs.residual)
    if margin <= 0.0:
        return 0.0
    return k * (2.0 * pairs.residual**2 / margin + max(0.0, margin - gap))


def _krylov_cycle(matrix: Array, start: Array, k: int, rng: np.random.Generator) -> Eigenpairs:
    """Ritz pairs from span(Q, B Q, B^2 Q, ...), as many as ``start`` (p, b) has columns."""
    p, width = start.shape
    basis = np.empty((p, width * BLOCKS_PER_CYCLE), order="F")
    products = np.empty_like(basis)
    block = start
    for first in range(0, basis.shape[1], width):
        if first:
            block = _new_directions(basis[:, :first], block, rng)
        basis[:, first : first + width] = block
        products[:, first : first + width] = matrix @ block
        block = products[:, first : first + width]
    projected = basis.T @ products
    values, rotation = np.linalg.eigh((projected + projected.T) / 2.0)
    values, rotation = values[: -width - 1 : -1], rotation[:, : -width - 1 : -1]
    vectors = basis @ rotation
    residual = products @ rotation[:, : k + 1] - vectors[:, : k + 1] * values[: k + 1]
    return Eigenpairs(values, vectors, float(np.linalg.norm(residual)))


def _new_directions(past: Array, block: Array, rng: np.random.Generator) -> Array:
    """An orthonormal basis of what ``block`` adds to the orthonormal columns of ``past``."""
    sizes = np.linalg.norm(block, axis=0)
    block, triangle = np.linalg.qr(block - past @ (past.T @ block))
    # Columns that add nothing (multiple eigenvalues, low rank) are rounding noise by now.
    spent = np.abs(np.diagonal(triangle)) <= 1e-10 * sizes.max()
    block[:, spent] = rng.standard_normal((len(block), int(spent.sum())))
    for _ in range(2):
        block = np.linalg.qr(block - past @ (past.T @ block))[0]
    return block


def top_sum_from_squares(matrix: Array, k: int, vectors: Array) -> float | None:
    """A proven upper bound on the sum of the k largest eigenvalues from values below them.

    ``vectors`` (p, l), k <= l < p, may be any. Cheaper than `top_sum_upper_bound`, which needs
    p^3 operations, and weaker: it only uses p^2 l. None when fewer than k values are positive.

    With lower bounds b_1 >= ... >= b_l > 0 on the eigenvalues a_1 >= ... >= a_l,
    a^2 = b^2 + 2 b (a - b) + (a - b)^2 gives, for k <= j <= l,
    F = sum of all a^2 >= sum_{i<=j} b_i^2 + 2 b_j sum_{i<=j} (a_i - b_i) + rest_j, where rest_j
    is the sum of squares beyond j. So the surplus of the first j is at most
    (F - rest_j - sum_{i<=j} b_i^2) / (2 b_j). Cauchy-Schwarz bounds rest_j from below by
    (trace - a_1 - ... - a_j)^2 / (p - j), where the same inequality bounds a_1 + ... + a_j from
    above: the two improve each other. For the first k the division is by 2 b_k.
    """
    p = len(matrix)
    below = _eigenvalues_from_below(matrix, vectors)
    below = below[below > 0.0]
    if len(below) < k:
        return None
    squares = round_up(norm_from_above(matrix) ** 2, 2)
    diagonal = np.diagonal(matrix)
    trace = float(diagonal.sum()) - growth(p) * float(np.abs(diagonal).sum())
    sums = np.cumsum(below)
    spare = squares - np.cumsum(below**2) * (1.0 - growth(len(below) + 2))
    best = math.inf
    for j in range(k, len(below) + 1):
        rest = 0.0
        for _ in range(20):
            missing = max(0.0, float(spare[j - 1]) - rest) * (1.0 + growth(4))
            first_j = round_up(float(sums[j - 1]) + missing / (2.0 * float(below[j - 1])), p)
            left = max(0.0, trace - first_j)
            rest = round_down(left * left / (p - j), 4)
        missing = max(0.0, float(spare[j - 1]) - rest) * (1.0 + growth(4))
        best = min(best, float(sums[k - 1]) + missing / (2.0 * float(below[k - 1])))
    return round_up(best, p)


def _eigenvalues_from_below(matrix: Array, vectors: Array) -> Array:
    """Proven lower bounds on the leading eigenvalues, largest first; those below 0 are worthless.

    For H = V^T B V the j-th eigenvalue of H, when positive, is at most |V^T V| times that of B,
    and |V^T V| <= 1 + |V^T V - I|. The eigenvalues of H differ from its sorted diagonal by no
    more than the norm of the rest of H (Weyl).
    """
    p, count = vectors.shape
    projected = vectors.T @ (matrix @ vectors)
    overlaps = vectors.T @ vectors
    overlaps.flat[:: count + 1] -= 1.0
    size = norm_from_above(vectors) ** 2
    values = np.sort(np.diagonal(projected))[::-1]
    projected.flat[:: count + 1] = 0.0
    spread = norm_from_above(projected) + growth(2 * p + 4) * size * norm_from_above(matrix)
    stretch = 1.0 + norm_from_above(overlaps) + growth(p + 4) * size
    return (values - spread) * (1.0 - growth(6)) / stretch
