"""Fused passes over a block of float32 rows: tensors in, tensors out, tiles by the table."""

from __future__ import annotations

import os
from typing import Any

import torch
import triton
import triton.language as tl

from orthant.engine.kernels import triton_sweep as kernels
from orthant.engine.kernels.triton_table import (
    CHUNK,
    MOST_SCALED,
    WIDEST,
    Plan,
    Tiles,
    assign_tiles,
    look_tiles,
    padded,
    residual_tiles,
    slab_rows,
    sum_plan,
    sweep_plan,
)

VERSION = f"Triton {triton.__version__}"
# An interpreter multiplies halves as integers, and cuts nothing off: there they are float32.
INTERPRETED = os.environ.get("TRITON_INTERPRET", "0") == "1"
ARITHMETIC = {"HALF": tl.float32 if INTERPRETED else tl.bfloat16, "CUT": INTERPRETED}


def _grid(n: int, size: int) -> int:
    return -(-n // size)


def _split(vectors: Any, shape: tuple[int, int], halves: bool, exact: bool) -> tuple[Any, Any]:
    """Directions (k, m), padded to a shape, as kernels multiply by them."""
    whole = torch.zeros(shape, dtype=torch.float32, device=vectors.device)
    whole[: vectors.shape[0], : vectors.shape[1]] = vectors
    if exact:
        return whole, whole
    if not halves:
        rounded = ((whole.view(torch.int32) + 4096) & -8192).view(torch.float32)
        return rounded, rounded
    kept = torch.float32 if INTERPRETED else torch.bfloat16
    upper = whole.bfloat16()
    lower = (whole - upper.float()).bfloat16()
    return upper.to(kept), lower.to(kept)


def look(rows: Any, column_weights: Any) -> tuple[Any, float, bool]:
    """Squares of rows (b,) float64, the largest entry, and whether any cannot be used."""
    n, m = rows.shape
    tiles = look_tiles(m)
    programs = _grid(n, tiles.rows)
    squares = torch.empty(n, dtype=torch.float64, device=rows.device)
    largest = torch.empty(programs, dtype=torch.float32, device=rows.device)
    bad = torch.empty(programs, dtype=torch.int32, device=rows.device)
    kernels.look_at_rows[(programs,)](
        rows,
        rows if column_weights is None else column_weights,
        squares,
        largest,
        bad,
        n,
        M=m,
        ROWS=tiles.rows,
        COLUMNS=tiles.columns,
        WEIGHTED=column_weights is not None,
        num_warps=tiles.warps,
        num_stages=tiles.stages,
    )
    found = torch.stack((largest.amax().double(), bad.sum().double())).tolist()
    return squares, found[0], found[1] > 0


def assign(rows: Any, vectors: Any) -> tuple[Any, Any]:
    """Labels (b,) int32 and products (b,) with the best of k directions, by all their digits."""
    return _assign(rows, vectors, assign_tiles(len(vectors)), halves=False, exact=True)


def _assign(rows: Any, vectors: Any, tiles: Tiles, halves: bool, exact: bool) -> tuple[Any, Any]:
    (n, m), k = rows.shape, len(vectors)
    many = padded(k)
    wide = _grid(m, tiles.columns) * tiles.columns
    high, low = _split(vectors, (many, wide), halves, exact)
    labels = torch.empty(n, dtype=torch.int32, device=rows.device)
    best = torch.empty(n, dtype=torch.float32, device=rows.device)
    kernels.assign_rows[(_grid(n, tiles.rows),)](
        rows,
        high,
        low,
        labels,
        best,
        n,
        1.0,
        M=m,
        K=k,
        MP=wide,
        KP=many,
        ROWS=tiles.rows,
        COLUMNS=tiles.columns,
        WIDTH=min(many, WIDEST),
        HALVES=halves,
        EXACT=exact,
        num_warps=tiles.warps,
        num_stages=tiles.stages,
        **ARITHMETIC,
    )
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
    (n, m), k = rows.shape, len(vectors)
    wide, many = padded(m), padded(k)
    slab = slab_rows(n, k, tiles.rows)
    labels = torch.empty(n, dtype=torch.int32, device=rows.device)
    best = torch.empty(n, dtype=torch.float32, device=rows.device)
    kernels.assign_short_rows[(_grid(n, slab),)](
        rows,
        vectors.contiguous(),
        labels,
        best,
        n,
        slab,
        M=m,
        K=k,
        MP=wide,
        KP=many,
        ROWS=tiles.rows,
        CUT=ARITHMETIC["CUT"],
        num_warps=tiles.warps,
        num_stages=tiles.stages,
    )
    return labels, best


def _fused_sweep(
    rows: Any, vectors: Any, weights: Any, by_row: bool, tiles: Tiles
) -> tuple[Any, Any, Any]:
    (n, m), k = rows.shape, len(vectors)
    wide, many = padded(m), padded(k)
    slab = slab_rows(n, k, tiles.rows)
    sums = torch.empty((_grid(n, slab), many, wide), dtype=torch.float32, device=rows.device)
    labels = torch.empty(n if by_row else 1, dtype=torch.int32, device=rows.device)
    best = torch.empty(n if by_row else 1, dtype=torch.float32, device=rows.device)
    kernels.fused_sweep[(len(sums),)](
        rows,
        vectors.contiguous(),
        rows if weights is None else weights,
        sums,
        labels,
        best,
        n,
        slab,
        M=m,
        K=k,
        MP=wide,
        KP=many,
        ROWS=tiles.rows,
        WEIGHTED=weights is not None,
        BY_ROW=by_row,
        num_warps=tiles.warps,
        num_stages=tiles.stages,
        HALF=ARITHMETIC["HALF"],
        SCALED=many <= MOST_SCALED,
    )
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
    many = padded(k)
    slab, across = slab_rows(n, k, tiles.rows), _grid(m, tiles.columns)
    shape = (_grid(n, slab), many, across * tiles.columns)
    sums = torch.empty(shape, dtype=torch.float32, device=rows.device)
    kernels.indicated_sums[(across, len(sums))](
        rows,
        labels,
        coefficients,
        rows if weights is None else weights,
        sums,
        n,
        slab,
        M=m,
        MP=shape[2],
        KP=many,
        ROWS=tiles.rows,
        COLUMNS=tiles.columns,
        WEIGHTED=weights is not None,
        HALF=ARITHMETIC["HALF"],
        num_warps=tiles.warps,
        num_stages=tiles.stages,
    )
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
    shape = (len(owners), across * tiles.columns)
    sums = torch.empty(shape, dtype=torch.float32, device=rows.device)
    kernels.sorted_sums[(across, len(owners))](
        rows,
        order,
        coefficients,
        rows if weights is None else weights,
        starts,
        stops,
        sums,
        M=m,
        MP=shape[1],
        ROWS=tiles.rows,
        COLUMNS=tiles.columns,
        WEIGHTED=weights is not None,
        num_warps=tiles.warps,
        num_stages=tiles.stages,
    )
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
    squares = torch.empty(n, dtype=torch.float64, device=rows.device)
    tiles = residual_tiles(m)
    if len(components) == 0:
        components = torch.zeros((1, m), dtype=torch.float64, device=rows.device)
    kernels.square_residuals[(_grid(n, tiles.rows),)](
        rows,
        labels,
        scales,
        components.contiguous(),
        rows if column_factors is None else column_factors,
        squares,
        n,
        M=m,
        ROWS=tiles.rows,
        COLUMNS=tiles.columns,
        WEIGHTED=column_factors is not None,
        num_warps=tiles.warps,
        num_stages=tiles.stages,
    )
    return squares
