"""Kernels for blocks of rows held as tensors, usually on a GPU.

What has one entry per row goes in and comes out as arrays on the device; k x m arrays go in as
NumPy. Fused kernels (`triton_launch.py`) do the passes that read float32 rows as they are stored;
all else, and all of it where they cannot run, is composed of products here.

Products that a sweep needs may be rounded to fewer digits, without bias. Those that are published
have the digits of float32, and all that is proven is computed in IEEE float64.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any

import numpy as np
import torch

from orthonmf.engine.gpu.arrays import (
    DTYPES,
    DeviceArray,
    as_tensor,
    fetch,
    ldexp,
    told_when_full,
)
from orthonmf.engine.kernels.interface import BlockLook, BlockSweep, Kernel
from orthonmf.engine.loadings import Projection
from orthonmf.engine.segments import slices
from orthonmf.errors import InvalidInputError
from orthonmf.typing import Array

# Entries of temporary copies: at most 128 MB of float64.
CHUNK_ENTRIES = 2**24
PLAIN = "plain torch"
EMULATION = "CUBLAS_EMULATE_DOUBLE_PRECISION"


@contextmanager
def float32_as_it_is() -> Iterator[None]:
    """Products of float32 in float32 inside, whatever the user set for the process."""
    settings = torch.backends.cuda.matmul
    before = settings.fp32_precision
    settings.fp32_precision = "ieee"
    try:
        yield
    finally:
        settings.fp32_precision = before


def refuse_emulation() -> None:
    """Refuse to prove anything by products that are not those of IEEE float64."""
    if os.environ.get(EMULATION, "0") not in ("", "0"):
        raise InvalidInputError(
            f"{EMULATION} is set, so products in float64 are emulated and prove nothing; unset "
            "it, or pass certificate=None"
        )


class TensorKernel(Kernel[Any]):
    """Blocks of rows held as contiguous tensors on one device."""

    on_device = True
    fills_gaps = False

    def __init__(self, device: Any, fused: Any = None) -> None:
        """On a device, with the module of fused kernels where they can run there."""
        self._device, self._fused = device, fused
        versions = [f"torch {torch.__version__}", getattr(fused, "VERSION", "no Triton")]
        if device.type == "cuda":
            versions.append(torch.cuda.get_device_name(device))
        self.made_by = ", ".join(versions)

    @told_when_full()
    def room(self, shape: tuple[int, ...], dtype: Any = np.float64) -> Any:
        wanted = DTYPES[np.dtype(dtype)]
        return DeviceArray(torch.zeros(shape, dtype=wanted, device=self._device))

    def place(self, values: Array | None) -> Any:
        return None if values is None else DeviceArray(as_tensor(values, self._device))

    def errors(self) -> AbstractContextManager[None]:
        return told_when_full()

    def remarks(self, dtype: np.dtype) -> tuple[str, ...]:
        return () if self._fused is not None and dtype == np.float32 else (PLAIN,)

    def _tensor(self, values: Any, dtype: Any = None) -> Any:
        """A tensor on the device; None stays None."""
        return None if values is None else as_tensor(values, self._device, dtype)

    def _weigh(self, wide: Any, row_weights: Any, some: slice) -> Any:
        """Some rows in float64 times their weights, where there are any."""
        if row_weights is None:
            return wide
        return wide * self._tensor(row_weights[some], torch.float64)[:, None]

    def _is_fused(self, rows: Any) -> bool:
        return self._fused is not None and rows.dtype == torch.float32

    def _pieces(self, rows: Any) -> Iterator[slice]:
        """Slices of a block whose float64 copies are small."""
        return slices(rows.shape[0], CHUNK_ENTRIES // max(1, rows.shape[1]))

    def scale(self, rows: Any, exponent: int) -> Any:
        if exponent == 0:
            return rows
        return ldexp(rows.double(), torch.full((1, 1), -exponent, device=rows.device))

    def look(self, rows: Any, column_weights: Array | None = None) -> BlockLook:
        if self._is_fused(rows):
            squares, largest, bad = self._fused.look(rows, self._tensor(column_weights))
        else:
            squares, largest, bad = self._look(rows, column_weights)
        offense = self._find_offense(rows) if bad else None
        return BlockLook(offense, largest, DeviceArray(squares))

    def _look(self, rows: Any, column_weights: Array | None) -> tuple[Any, float, bool]:
        squares, weights = [], self._tensor(column_weights)
        ranges = []
        for some in self._pieces(rows):
            wide = rows[some].double()
            ranges.append(torch.stack(torch.aminmax(wide)))
            wide = wide * wide
            squares.append((wide if weights is None else wide * weights).sum(dim=1))
        extremes = fetch(torch.stack(ranges))
        lowest, largest = extremes[:, 0].min(), extremes[:, 1].max()  # NaN stays NaN
        return torch.cat(squares), float(largest), not (lowest >= 0 and np.isfinite(largest))

    def _find_offense(self, rows: Any) -> tuple[int, int, float]:
        for some in self._pieces(rows):
            bad = torch.nonzero(~((rows[some] >= 0) & torch.isfinite(rows[some])))
            if len(bad):
                row, column = bad[0].tolist()
                return some.start + row, column, float(rows[some.start + row, column])
        raise AssertionError("no entry is bad")

    def square_columns(self, rows: Any, row_weights: Any = None) -> Any:
        squares = rows.new_zeros(rows.shape[1], dtype=torch.float64)
        for some in self._pieces(rows):
            squares += self._weigh(rows[some].double() ** 2, row_weights, some).sum(dim=0)
        return DeviceArray(squares)

    def multiply_directions(self, rows: Any, directions: Any, exact: bool = True) -> Any:
        dtype = torch.float64 if exact else rows.dtype
        vectors = self._tensor(directions, dtype).T.contiguous()
        products = rows.new_empty((rows.shape[0], vectors.shape[1]), dtype=dtype)
        with float32_as_it_is():
            for some in self._pieces(rows):
                torch.matmul(rows[some].to(dtype), vectors, out=products[some])
        return DeviceArray(products)

    def find_winners(
        self, rows: Any, directions: Array, offsets: Array | None = None, lengths: Any = None
    ) -> tuple[Any, Any]:
        vectors = self._tensor(directions, rows.dtype)
        if offsets is None and self._is_fused(rows):
            labels, best = self._fused.assign(rows, vectors)
            return DeviceArray(labels), DeviceArray(best)
        labels, best = rows.new_empty(len(rows), dtype=torch.int32), rows.new_empty(len(rows))
        with float32_as_it_is():
            for some in self._few_scores(rows, len(vectors)):
                scores = rows[some] @ vectors.T
                if offsets is not None:
                    off = self._tensor(offsets, torch.float64)
                    long = self._tensor(lengths[some], torch.float64)
                    scores -= (long[:, None] * off).to(rows.dtype)
                best[some], labels[some] = scores.max(dim=1)  # the first of equals, torch promises
        return DeviceArray(labels), DeviceArray(best)

    def _few_scores(self, rows: Any, k: int) -> Iterator[slice]:
        """Slices whose products with k directions, and who wins, take little room."""
        return slices(rows.shape[0], CHUNK_ENTRIES // max(1, k, rows.shape[1] // 4))

    def sweep(
        self,
        rows: Any,
        directions: Array,
        offsets: Array | None = None,
        lengths: Any = None,
        row_weights: Any = None,
        by_row: bool = True,
    ) -> BlockSweep:
        if offsets is not None or not self._is_fused(rows):
            return super().sweep(rows, directions, offsets, lengths, row_weights, by_row)
        vectors = self._tensor(directions, rows.dtype)
        labels, best, sums = self._fused.sweep(rows, vectors, self._tensor(row_weights), by_row)
        if not by_row:
            return BlockSweep(sums=DeviceArray(sums))
        return BlockSweep(DeviceArray(labels), DeviceArray(best), DeviceArray(sums))

    def multiply_own(self, rows: Any, directions: Any, labels: Any) -> Any:
        places, vectors = self._tensor(labels), self._tensor(directions, rows.dtype)
        products = [
            (rows[some] * vectors[places[some].long()]).sum(dim=1) for some in self._pieces(rows)
        ]
        return DeviceArray(torch.cat(products))

    def sum_rows(
        self, rows: Any, labels: Any, coefficients: Any, k: int, exact: bool = False
    ) -> Any:
        dtype = torch.float64 if exact else rows.dtype
        given, factors = self._tensor(labels), self._tensor(coefficients, dtype)
        if self._is_fused(rows) and not exact:
            return DeviceArray(self._fused.sum_rows(rows, given, factors, k))
        sums = rows.new_zeros((k, rows.shape[1]), dtype=torch.float64)
        numbers = torch.arange(k, dtype=given.dtype, device=rows.device)
        with float32_as_it_is():
            for some in self._few_scores(rows, k):
                members = torch.where(given[some, None] == numbers, factors[some, None], 0)
                sums += members.T @ rows[some].to(dtype)
        return DeviceArray(sums)

    def combine_columns(
        self, rows: Any, combinations: Array, row_weights: Any, exact: bool
    ) -> tuple[Any, Any]:
        dtype = torch.float64 if exact else rows.dtype
        vectors = self._tensor(combinations, dtype)
        products = rows.new_zeros(vectors.shape, dtype=torch.float64)
        squares = rows.new_zeros(len(vectors), dtype=torch.float64)
        with float32_as_it_is():
            for some in self._pieces(rows):
                piece = rows[some].to(dtype)
                combined = piece @ vectors.T
                weighted = self._weigh(combined.double(), row_weights, some)
                squares += (weighted * combined).sum(dim=0)
                products += weighted.to(dtype).T @ piece
        return DeviceArray(products), DeviceArray(squares)

    def square_residuals(
        self, rows: Any, fitted: Projection, components: Any, column_factors: Array | None
    ) -> Any:
        vectors = self._tensor(components, torch.float64)
        factors = self._tensor(column_factors, torch.float64)
        labels, scales = self._tensor(fitted.labels), self._tensor(fitted.scales)
        if labels is None:
            refuse_emulation()
        elif self._is_fused(rows):
            return DeviceArray(self._fused.residual(rows, labels, scales, vectors, factors))
        dense = self._tensor(fitted.dense, torch.float64)
        squares = rows.new_empty(rows.shape[0], dtype=torch.float64)
        for some in self._pieces(rows):
            if labels is not None:
                own = vectors[labels[some].clamp(min=0).long()] if len(vectors) else 0.0
                product = scales[some, None].double() * own
            else:
                product = dense[some] @ vectors
            difference = rows[some].double() - product
            if factors is not None:
                difference *= factors
            squares[some] = difference.square_().sum(dim=1)
        return DeviceArray(squares)

    def divergences(
        self, rows: Any, column_weights: Array, labels: Any, scales: Any, profiles: Array
    ) -> Any:
        weights, vectors = self._tensor(column_weights), self._tensor(profiles, torch.float64)
        vectors = torch.nn.functional.pad(vectors, (0, 0, 0, 1))  # the last one is that of label -1
        own, factors, sums = self._tensor(labels).long(), self._tensor(scales), []
        for some in self._pieces(rows):
            x = rows[some].double()
            ratios = x / (factors[some, None] * vectors[own[some]])
            counted = (x > 0) & (weights > 0)
            sums.append((weights * x * torch.where(counted, ratios, 1.0).log()).sum(dim=1))
        return DeviceArray(torch.cat(sums))

    def gram(self, rows: Any, row_scales: Any, column_scales: Array) -> Any:
        refuse_emulation()
        gram = rows.new_zeros((rows.shape[1],) * 2, dtype=torch.float64)
        for some in self._pieces(rows):
            scaled = self._multiply(rows[some], row_scales[some], column_scales)
            gram += scaled.T @ scaled
        return DeviceArray(gram)

    def multiply(self, rows: Any, row_scales: Any, column_scales: Array) -> Array:
        return fetch(self._multiply(rows, row_scales, column_scales))

    def _multiply(self, rows: Any, row_scales: Any, column_scales: Array) -> Any:
        scales = self._tensor(row_scales, torch.float64)[:, None]
        return rows.double() * scales * self._tensor(column_scales, torch.float64)

    def take(self, rows: Any, indices: Array | slice) -> Array:
        given = indices if isinstance(indices, slice) else as_tensor(indices, self._device)
        return fetch(rows[given].contiguous())
