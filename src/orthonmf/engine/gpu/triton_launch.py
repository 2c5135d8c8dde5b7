"""Fused passes over a block of float32 rows: tensors in, tensors out, tiles by the table."""

from __future__ import annotations

from typing import Any

import torch
import triton

from orthonmf.engine.gpu import triton_sweep as kernels
from orthonmf.engine.gpu.triton_table import (
    CHUNK,
    MOST_SCALED,
    WIDEST,
    Plan,
    Tiles,
    assign_tiles,
    look_tiles,
    pad,
    residual_tiles,
    slab_rows,
    sum_plan,
    sweep_plan,
)

VERSION = f"Triton {triton.__version__}"


def _launch(
    kernel: Any, grid: tuple[int, ...], tiles: Tiles, given: tuple[Any, ...], **constants: Any
) -> None:
    """Run a kernel on what is given, rows (b, m) first, cut into tiles."""
    kernel[grid](
        *given,
        **constants,
        M=given[0].shape[1],
        ROWS=tiles.rows,
        COLUMNS=tiles.columns,
        num_warps=tiles.warps,
        num_stages=tiles.stages,
    )


def _grid(n: int, size: int) -> int:
    return -(-n // size)


def _winners(rows: Any) -> tuple[Any, Any]:
    """Room for a label of every row, and for the product with the direction it names."""
    return rows.new_empty(len(rows), dtype=torch.int32), rows.new_empty(len(rows))


def _slabs(rows: Any, k: int, tiles: Tiles) -> tuple[int, Any]:
    """How many rows a slab has, and room for the sums of every slab, padded."""
    n, m = rows.shape
    slab, wide = slab_rows(n, k, tiles.rows), _grid(m, tiles.columns) * tiles.columns
    return slab, rows.new_empty((_grid(n, slab), pad(k), wide))


def _split(vectors: Any, shape: tuple[int, int], halves: bool, exact: bool) -> tuple[Any, Any]:
    """Directions (k, m), padded to a shape, as kernels multiply by them."""
    whole = vectors.new_zeros(shape, dtype=torch.float32)
    whole[: vectors.shape[0], : vectors.shape[1]] = vectors
    if exact:
        return whole, whole
    if not halves:
        rounded = ((whole.view(torch.int32) + 4096) & -8192).view(torch.float32)
        return rounded, rounded
    kept = torch.float32 if kernels.INTERPRETED else torch.bfloat16
    upper = whole.bfloat16()
    lower = (whole - upper.float()).bfloat16()
    return upper.to(kept), lower.to(kept)


def look(rows: Any, column_weights: Any) -> tuple[Any, float, bool]:
    """Squares of rows (b,) float64, the largest entry, and whether any cannot be used."""
    n, tiles = len(rows), look_tiles(rows.shape[1])
    programs = _grid(n, tiles.rows)
    squares = rows.new_empty(n, dtype=torch.float64)
    largest, bad = rows.new_empty(programs), rows.new_empty(programs, dtype=torch.int32)
    given = (rows, column_weights, squares, largest, bad, n)
    _launch(kernels.look_at_rows, (programs,), tiles, given)
    totals = torch.stack((largest.amax().double(), bad.sum().double())).tolist()
    return squares, totals[0], totals[1] > 0


def assign(rows: Any, vectors: Any) -> tuple[Any, Any]:
    """Labels (b,) int32 and products (b,) with the best of k directions, by all their digits."""
    return _assign(rows, vectors, assign_tiles(len(vectors)), halves=False, exact=True)


def _assign(rows: Any, vectors: Any, tiles: Tiles, halves: bool, exact: bool) -> tuple[Any, Any]:
    (n, m), k = rows.shape, len(vectors)
    many, wide = pad(k), _grid(m, tiles.columns) * tiles.columns
    high, low = _split(vectors, (many, wide), halves, exact)
    labels, best = _winners(rows)
    given = (rows, high, low, labels, best, n, 1.0)
    sizes = {"K": k, "MP": wide, "KP": many, "WIDTH": min(many, WIDEST)}
    grid = (_grid(n, tiles.rows),)
    _launch(kernels.assign_rows, grid, tiles, given, **sizes, HALVES=halves, EXACT=exact)
    return labels, best


def sweep(rows: Any, vectors: Any, weights: Any, by_row: bool) -> tuple[Any, Any, Any]:
    """Labels and products (b,) where wanted, and the sums (k, m) float64 of product times row."""
    plan = sweep_plan(rows.shape[1], len(vectors))
    if plan.kind == "fused":
        return _fused_sweep(rows, vectors, weights, by_row, plan.sums)
    if plan.held:
        labels, best = _assign_short_rows(rows, vectors, plan.assign)
    else:
        labels, best = _assign(rows, vectors, plan.assign, plan.halves, exact=False)
    return labels, best, _sum(rows, labels, best, weights, len(vectors), plan)


def _assign_short_rows(rows: Any, vectors: Any, tiles: Tiles) -> tuple[Any, Any]:
    n, k = len(rows), len(vectors)
    slab = slab_rows(n, k, tiles.rows)
    labels, best = _winners(rows)
    given = (rows, vectors.contiguous(), labels, best, n, slab)
    _launch(kernels.assign_short_rows, (_grid(n, slab),), tiles, given, K=k, KP=pad(k))
    return labels, best


def _fused_sweep(
    rows: Any, vectors: Any, weights: Any, by_row: bool, tiles: Tiles
) -> tuple[Any, Any, Any]:
    (n, m), k = rows.shape, len(vectors)
    slab, sums = _slabs(rows, k, tiles)
    labels, best = _winners(rows) if by_row else (None, None)
    given = (rows, vectors.contiguous(), weights, sums, labels, best, n, slab)
    sizes = {"K": k, "KP": pad(k), "SCALED": pad(k) <= MOST_SCALED}
    _launch(kernels.fused_sweep, (len(sums),), tiles, given, **sizes)
    return labels, best, sums.sum(dim=0, dtype=torch.float64)[:k, :m]


def sum_rows(rows: Any, labels: Any, coefficients: Any, k: int) -> Any:
    """Sums (k, m) float64 of coefficient times row over the rows of each label (b,)."""
    return _sum(rows, labels, coefficients, None, k, sum_plan(rows.shape[1], k))


def _sum(rows: Any, labels: Any, coefficients: Any, weights: Any, k: int, plan: Plan) -> Any:
    way = _sorted_sums if plan.kind == "sorted" else _indicated_sums
    return way(rows, labels, coefficients.contiguous(), weights, k, plan.sums)


def _indicated_sums(
    rows: Any, labels: Any, coefficients: Any, weights: Any, k: int, tiles: Tiles
) -> Any:
    n, m = rows.shape
    slab, sums = _slabs(rows, k, tiles)
    given = (rows, labels, coefficients, weights, sums, n, slab)
    grid = (_grid(m, tiles.columns), len(sums))
    _launch(kernels.indicated_sums, grid, tiles, given, MP=sums.shape[2], KP=sums.shape[1])
    return sums.sum(dim=0, dtype=torch.float64)[:k, :m]


def _sorted_sums(
    rows: Any, labels: Any, coefficients: Any, weights: Any, k: int, tiles: Tiles
) -> Any:
    """Rows in the order of their labels, by chunks of one label; chunks joined in float64."""
    m = rows.shape[1]
    short = labels.to(torch.uint8 if k <= 256 else torch.int32)
    in_order, order = torch.sort(short, stable=True)
    owners, starts, stops = _chunks(in_order, k)
    across = _grid(m, tiles.columns)
    sums = rows.new_empty((len(owners), across * tiles.columns))
    given = (rows, order, coefficients, weights, starts, stops, sums)
    _launch(kernels.sorted_sums, (across, len(owners)), tiles, given, MP=sums.shape[1])
    members = (owners[None, :] == torch.arange(k, device=rows.device)[:, None]).double()
    return (members @ sums.double())[:, :m]


def _chunks(in_order: Any, k: int) -> tuple[Any, Any, Any]:
    """The label of every chunk of sorted rows, and where it starts and stops; some are empty.

    How many there are follows from n and k, so that the device need not be waited for.
    """
    every = torch.arange(k, device=in_order.device)
    ends = torch.searchsorted(in_order, every.to(in_order.dtype), right=True)
    counts = torch.diff(ends, prepend=ends.new_zeros(1))
    pieces = (counts + (CHUNK - 1)) // CHUNK
    last = torch.cumsum(pieces, 0)
    numbers = torch.arange(len(in_order) // CHUNK + k, device=in_order.device)
    owners = torch.searchsorted(last, numbers, right=True).clamp(max=k - 1)
    inside = numbers - (last - pieces)[owners]
    starts = (ends - counts)[owners] + inside * CHUNK
    stops = torch.minimum(starts + CHUNK, ends[owners])
    return owners, starts, torch.maximum(starts, stops)


def residual(rows: Any, labels: Any, scales: Any, components: Any, column_factors: Any) -> Any:
    """(b,) float64 squared distances of rows to the scaled components (k, m) of their labels."""
    n, m = rows.shape
    tiles = residual_tiles(m)
    squares = rows.new_empty(n, dtype=torch.float64)
    stored = components.contiguous() if len(components) else components.new_zeros((1, m))
    given = (rows, labels, scales, stored, column_factors, squares, n)
    _launch(kernels.square_residuals, (_grid(n, tiles.rows),), tiles, given)
    return squares
