"""Approximate leading eigenpairs of a stored symmetric matrix: proposals, nothing proven."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.linalg import eigh

from orthonmf.numerics.arrays import Array

DIRECT_SIDE = 800  # up to this side LAPACK's eigenproblem is faster than iterating
ROWS = 256  # rows of a float32 matrix that are converted at once
BLOCKS_PER_CYCLE = 6
MAX_CYCLES = 4


@dataclass(frozen=True, slots=True)
class Eigenpairs:
    """Approximate leading eigenpairs of a symmetric matrix B, largest first.

    ``errors`` estimates R^T R for the residuals R = B V - V diag(values).
    """

    values: Array  # (l,)
    vectors: Array  # (p, l), about orthonormal
    errors: Array  # (l, l)


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
        residuals = _times(matrix, vectors) - vectors * values
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
    p, matrix = len(matrix), matrix.astype(np.float64, copy=False)
    values, vectors = eigh(
        matrix, subset_by_index=[p - count, p - 1], driver="evr", check_finite=False
    )
    if len(values) < count:  # `evr` may find none in a cluster of equal ones, and not say so
        values, vectors = np.linalg.eigh(matrix)
    return values[::-1][:count], vectors[:, ::-1][:, :count]


def _times(matrix: Array, vectors: Array) -> Array:
    """A product in float64; of a float32 matrix never more than a few rows are converted."""
    if matrix.dtype == vectors.dtype:
        return np.asarray(matrix @ vectors)
    parts = [
        matrix[start : start + ROWS].astype(vectors.dtype) @ vectors
        for start in range(0, len(matrix), ROWS)
    ]
    return np.concatenate(parts)


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
        products[:, first : first + width] = _times(matrix, block)
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
