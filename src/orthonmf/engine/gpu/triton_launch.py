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


def _winners(rows: Any) -> tuple[Any, Any]:
    """Room for a label of every row, and for the product with the direction it names."""
    return rows.new_empty(len(rows), dtype=torch.int32), rows.new_empty(len(rows))


def look(rows: Any, column_weights: Any) -> tuple[Any, float, bool]:
    """Squares of rows (b,) float64, the largest entry, and whether any cannot be used."""
    n, tiles = len(rows), look_tiles(rows.shape[1])
    programs = triton.cdiv(n, tiles.rows)
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
    n, (k, m) = len(rows), vectors.shape
    many, across = pad(k), triton.cdiv(m, tiles.columns) * tiles.columns
    high = low = torch.nn.functional.pad(vectors, (0, across - m, 0, many - k))
    if halves:
        high, low = _split(high)
    elif not exact:
        high = low = ((high.view(torch.int32) + 4096) & -8192).view(torch.float32)
    labels, best = _winners(rows)
    given = (rows, high, low, labels, best, n, 1.0)
    sizes = {"K": k, "MP": across, "KP": many, "WIDTH": min(many, WIDEST)}
    grid = (triton.cdiv(n, tiles.rows),)
    _launch(kernels.assign_rows, grid, tiles, given, **sizes, HALVES=halves, EXACT=exact)
    return labels, best


def _split(whole: Any) -> tuple[Any, Any]:
    """The first 8 digits, and the next 8, as kernels multiply by them."""
    kept = torch.float32 if kernels.INTERPRETED else torch.bfloat16
    upper = whole.bfloat16()
    return upper.to(kept), (whole - upper.float()).bfloat16().to(kept)


def sweep(rows: Any, vectors: Any, weights: Any, by_row: bool) -> tuple[Any, Any, Any]:
    """Labels and products (b,) where wanted, and the sums (k, m) float64 of product times row."""
    k = len(vectors)
    plan = sweep_plan(rows.shape[1], k)
    if plan.kind == "fused":
        labels, best = _winners(rows) if by_row else (None, None)
        return labels, best, _sweep_slabs(rows, k, plan.sums, vectors, weights, labels, best)
    if plan.held:
        labels, best = _winners(rows)
        _sweep_slabs(rows, k, plan.assign, vectors, None, labels, best, summed=False)
    else:
        labels, best = _assign(rows, vectors, plan.assign, plan.halves, exact=False)
    return labels, best, _sum(rows, labels, best, weights, k, plan)


def sum_rows(rows: Any, labels: Any, coefficients: Any, k: int) -> Any:
    """Sums (k, m) float64 of coefficient times row over the rows of each label (b,)."""
    return _sum(rows, labels, coefficients.contiguous(), None, k, sum_plan(rows.shape[1], k))


def _sum(rows: Any, labels: Any, coefficients: Any, weights: Any, k: int, plan: Plan) -> Any:
    if plan.kind == "sorted":
        return _sorted_sums(rows, labels, coefficients, weights, k, plan.sums)
    return _sweep_slabs(rows, k, plan.sums, None, weights, labels, coefficients)


def _sweep_slabs(
    rows: Any,
    k: int,
    tiles: Tiles,
    vectors: Any,
    weights: Any,
    labels: Any,
    best: Any,
    summed: bool = True,
) -> Any:
    """Sums (k, m) float64, unless only assigned is; labels and products are given or filled in."""
    n, m = rows.shape
    slab, across = slab_rows(n, k, tiles.rows), triton.cdiv(m, tiles.columns)
    slabs, many, wide = triton.cdiv(n, slab), pad(k), across * tiles.columns
    sums = rows.new_empty((slabs, many, wide)) if summed else None
    vectors = None if vectors is None else vectors.contiguous()
    scaled = vectors is not None and many <= MOST_SCALED
    given = (rows, vectors, weights, sums, labels, best, n, slab)
    sizes = {"K": k, "KP": many, "MP": wide, "SCALED": scaled}
    _launch(kernels.sweep_slab, (across, slabs), tiles, given, **sizes)
    return None if sums is None else sums.sum(dim=0, dtype=torch.float64)[:k, :m]


def _sorted_sums(
    rows: Any, labels: Any, coefficients: Any, weights: Any, k: int, tiles: Tiles
) -> Any:
    """Rows in the order of their labels, by chunks of one label; chunks joined in float64."""
    m = rows.shape[1]
    short = labels.to(torch.uint8 if k <= 256 else torch.int32)
    in_order, order = torch.sort(short, stable=True)
    owners, starts, stops = _chunks(in_order, k)
    across = triton.cdiv(m, tiles.columns)
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
    _launch(kernels.square_residuals, (triton.cdiv(n, tiles.rows),), tiles, given)
    return squares
