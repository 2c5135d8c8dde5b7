"""Lower bounds over one side from a multiplier for groups of points: cost independent of n.

Let B (n, p) >= 0 have one non-zero entry in a row at most and columns of length 1. Then
N = B S B^T is an admissible multiplier (see `all_pairs`) for every S >= 0, entry by entry, of side
p. What it proves needs no matrix of side n: with Y = B^T X and R^T R >= X^T X - Y^T Y in the order
of semidefinite matrices, the k largest eigenvalues of X X^T + B S B^T, those below 0 left out, sum
to no more than those of  F F^T + [S 0; 0 0],  F = [Y; R], of side p + m (docs/theory/bounds.md,
Theorem 9). In its proof X = B Y + Q R, with orthonormal columns Q orthogonal to those of B. Points
of a group should lie close to one line; that decides how tight a bound is, not whether it is true.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.linalg import solve_triangular

from orthonmf.bounds.all_pairs import PRECISION, target_captured
from orthonmf.bounds.allowance import Allowance, proof_seconds
from orthonmf.bounds.eigenvalues import leading_eigenpairs, top_sum_upper_bound
from orthonmf.bounds.relaxation import Aim, Multiplier, raise_matrix, search
from orthonmf.bounds.semidefinite import Cover, check_factor
from orthonmf.certificate import LowerBound
from orthonmf.rounding import (
    WEIGHT_ROUNDINGS,
    growth,
    norm_from_above,
    round_down,
    safe_exponent,
    symmetric,
)
from orthonmf.typing import Array
from orthonmf.vectors import divide, unit_lengths

METHOD = "a dual solution for groups of points"

DIRECTIONS = 30  # leading singular directions in which points are compared
EXTRA = 20  # of these, how many a search keeps next to the groups: what groups cannot see
SWEEPS = 15
PICKED_AT_ONCE = 16


@dataclass(frozen=True, slots=True)
class Reduced:
    """X in coordinates of side p + m: F = [Y; R] with all that is known of its rounding."""

    sums: Array  # (p, m) Y as computed; the exact one differs by ``rounding`` times it, by entry
    factor: Array  # (m, m) R, upper triangular, with R^T R above the exact X^T X - Y^T Y
    rounding: float  # of entries of Y, relatively: of its sums, of weights, of lengths of B


@dataclass(frozen=True, slots=True)
class Directions:
    """Leading singular values and right singular vectors of X (n, m), about."""

    values: Array  # (r,)
    right: Array  # (m, r)


def grouped_bound(
    X: Any,
    inner_gram: Array,
    n_components: int,
    allowance: Allowance,
    *,
    n_groups: int,
    upper: float = math.inf,
    max_iter: int = 200,
) -> LowerBound | None:
    """A bound for a solution with disjoint parts over the rows of X (n, m), entries near 1.

    X is anything non-negative that can be multiplied with arrays, and ``inner_gram`` (m, m) the
    computed X^T X. The search ends as that of `all_pairs_bound` does. None where the points fall
    into so few groups that these cannot tell k parts from each other.
    """
    n, trace = X.shape[0], float(np.trace(inner_gram))
    # Weights may lead out of the safe range.
    if n_components >= n or not trace > 0.0 or safe_exponent(trace):
        return LowerBound(0.0, METHOD)
    directions = leading_directions(inner_gram)
    groups = group_points(X, directions, n_groups)
    reduced = reduce_rows(X, inner_gram, groups)
    if reduced is None:
        return LowerBound(0.0, METHOD)
    extra = extra_rows(reduced.sums, directions)
    # The search is in the coordinates of groups and of the extra directions.
    rows = np.vstack([reduced.sums, extra])
    if len(rows) <= n_components:
        return None
    multiplier = search(
        rows @ rows.T,
        n_components,
        Aim(trace, PRECISION, target_captured(trace, upper), max_iter),
        allowance,
        signed=len(reduced.sums),
        reserve=proof_seconds(len(reduced.sums) + reduced.sums.shape[1]),
    )
    start = start_of_proof(multiplier.vectors, reduced, extra)
    value = prove_grouped(reduced, multiplier, n_components, n, trace, start)
    return LowerBound(max(0.0, value), METHOD)


def reduce_rows(X: Any, inner_gram: Array, groups: Array) -> Reduced | None:
    """Y = B^T X and R with R^T R above X^T X - Y^T Y; None when no factor passes its check.

    An entry of Y is a sum of n non-negative products, each with the roundings of weights, and B is
    divided by the exact lengths of its columns in thought: relatively g(n + w) and twice the error
    d of a length, as 1 / (1 - d) <= 1 + 2 d for the d < 1/2 that are let pass. The computed
    X^T X is within g(n + w) of the exact one, Y^T Y within three times that of an entry of Y and
    the g(p) of its own sums, and the difference is rounded once: all of that in norm is e. A
    checked factor R of H + s I has R^T R >= H + (s - defect) I, so s >= defect + e is enough.
    """
    n, p = groups.shape
    error = length_error(groups)
    if error > 1e-3:
        return None
    sums = np.asarray(groups.T @ X)
    rounding = 2.0 * (growth(n + WEIGHT_ROUNDINGS) + 2.0 * error)
    captured = sums.T @ sums
    whole, taken = norm_from_above(inner_gram), norm_from_above(captured)
    e = growth(n + WEIGHT_ROUNDINGS + 1) * whole + (3.0 * rounding + growth(p + 2)) * taken
    e = (e + growth(1) * (whole + taken)) * (1.0 + growth(8))
    rest = symmetric(inner_gram - captured)
    factor = factor_above(rest, e)
    return None if factor is None else Reduced(sums, factor, rounding)


def factor_above(matrix: Array, error: float) -> Array | None:
    """An upper triangular R with R^T R above all that is within ``error``, in norm, of this."""
    shift, none = 2.0 * error, (np.zeros(0), np.zeros((len(matrix), 0)))
    for _ in range(12):
        checked = check_factor(-matrix, Cover(shift, *none))
        if checked is not None:
            factor, defect = checked
            if (defect + error) * (1.0 + growth(2)) <= shift:
                return factor
            shift = max(shift, 2.0 * (defect + error))
        shift *= 4.0
    return None


def extra_rows(sums: Array, directions: Directions) -> Array:
    """C^T X (r, m) for the leading left singular vectors of X made orthogonal to B, about.

    For U = X V / sigma, B^T U = Y V / sigma and U^T X = sigma V^T. With U - B B^T U = C T the
    triangle is that of I - (B^T U)^T B^T U, and C^T X = T^-T (U^T X - (B^T U)^T Y).
    """
    values, right = directions.values[:EXTRA], directions.right[:, :EXTRA]
    seen = sums @ right / values
    left = np.eye(len(values)) - seen.T @ seen
    spectrum, rotation = np.linalg.eigh((left + left.T) / 2.0)
    new = spectrum > 1e-6
    rows = (right * values).T - seen.T @ sums
    return np.asarray((rotation[:, new] / np.sqrt(spectrum[new])).T @ rows)


def start_of_proof(vectors: Array, reduced: Reduced, extra: Array) -> Array:
    """The vectors of a search in the coordinates of the proof: Q^T C = R^-T (C^T X)^T."""
    p = len(reduced.sums)
    with np.errstate(all="ignore"):
        turned = solve_triangular(reduced.factor, extra.T, trans="T", check_finite=False)
    return np.vstack([vectors[:p], turned @ vectors[p:]])


def prove_grouped(
    reduced: Reduced,
    multiplier: Multiplier,
    k: int,
    n: int,
    trace: float,
    start: Array | None = None,
) -> float:
    """What a stored multiplier S of groups proves for n points, every rounding on the safe side.

    F F^T as computed is off by g(m) |F|^2 in norm, and by three times the rounding of Y times
    |F|^2 for Y itself; S is whatever was added, exactly. A matrix of norm e moves the sum of k
    eigenvalues by sqrt(k) e at most. k zero rows make a sum of positive eigenvalues of it.
    """
    rows = np.vstack([reduced.sums, reduced.factor])
    side, m = rows.shape
    matrix = np.zeros((side + k, side + k))
    np.matmul(rows, rows.T, out=matrix[:side, :side])
    raise_matrix(matrix, multiplier)
    if start is not None:
        start = np.vstack([start, np.zeros((k, start.shape[1]))])
    top = top_sum_upper_bound(matrix, k, start=start)
    size = norm_from_above(rows) ** 2
    e = (growth(m + 2) + 3.0 * reduced.rounding) * size
    captured = (max(0.0, top) + math.sqrt(k) * e) * (1.0 + growth(8))
    # ``trace`` is that of X^T X, whose entries are sums of n products.
    return round_down(trace, n + WEIGHT_ROUNDINGS + m) - captured - growth(4) * trace


def leading_directions(inner_gram: Array) -> Directions:
    """From X^T X (m, m); as many as there are, at most `DIRECTIONS`."""
    if len(inner_gram) <= DIRECTIONS:
        values, vectors = np.linalg.eigh(inner_gram)
        values, vectors = values[::-1], vectors[:, ::-1]
    else:
        pairs = leading_eigenpairs(inner_gram, DIRECTIONS - 1, max_cycles=1)
        values, vectors = pairs.values[:DIRECTIONS], pairs.vectors[:, :DIRECTIONS]
    used = values > 1e-12 * max(float(values[0]), 0.0)
    return Directions(np.sqrt(values[used]), vectors[:, used])


def group_points(X: Any, directions: Directions, n_groups: int) -> Array:
    """B (n, p) for the rows of X, p at most ``n_groups``.

    Weighted k-means of the rows at length 1, in the coordinates of the leading directions; inside
    a group a row counts by its product with the mean. Rows that have none take no part. Where rows
    are no more than groups every row is one of its own.
    """
    n = X.shape[0]
    if n <= n_groups:
        return np.eye(n)
    points = np.asarray(X @ directions.right)
    weights = np.einsum("ij,ij->i", points, points)
    labels, centers = _cluster(divide(points, np.sqrt(weights)[:, None]), weights, n_groups)
    shares = np.maximum(np.einsum("ij,ij->i", points, centers[labels]), 0.0)
    lengths = np.sqrt(np.bincount(labels, shares**2, minlength=n_groups))
    used = np.flatnonzero(lengths > 0.0)
    groups = np.zeros((n, n_groups))
    groups[np.arange(n), labels] = divide(shares, lengths[labels])
    return groups[:, used]


def _cluster(points: Array, weights: Array, k: int) -> tuple[Array, Array]:
    """Labels (n,) and centers (k, r) of weighted k-means, from points drawn by what is missed."""
    rng = np.random.default_rng(0)
    nearest = np.full(len(points), -1.0)  # the largest cosine with a center
    centers = np.empty((0, points.shape[1]))
    while len(centers) < k:
        missed = weights * np.maximum(1.0 - nearest, 0.0) + 1e-300 * (weights > 0.0)
        count = min(PICKED_AT_ONCE if len(centers) else 1, k - len(centers))
        picked = rng.choice(len(points), count, p=missed / missed.sum())
        centers = np.vstack([centers, points[picked]])
        nearest = np.maximum(nearest, (points @ points[picked].T).max(axis=1))
    for _ in range(SWEEPS):
        labels = _nearest(points, centers)
        members = np.zeros((len(points), k))
        members[np.arange(len(points)), labels] = weights
        sums = members.T @ points
        centers = unit_lengths(sums)
    return _nearest(points, centers), centers


def _nearest(points: Array, centers: Array) -> Array:
    return np.asarray((points @ centers.T).argmax(axis=1))


def length_error(groups: Array) -> float:
    """How far the lengths of the columns of B can be from 1."""
    squares = np.einsum("ij,ij->j", groups, groups)
    off = float(np.abs(squares - 1.0).max(initial=0.0))
    return (off + growth(len(groups) + 2) * float(squares.max(initial=0.0))) * (1.0 + growth(4))
