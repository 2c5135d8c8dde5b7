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
from contextlib import contextmanager
from typing import Any

import numpy as np
import torch

from orthonmf.engine.gpu.arrays import DeviceArray, as_tensor
from orthonmf.engine.gpu.functions import DTYPES, fetch, first_of, ldexp, told_when_full
from orthonmf.engine.kernels.dense import DENSE
from orthonmf.engine.kernels.interface import (
    BlockColumns,
    BlockLook,
    BlockSweep,
    Kernel,
    ObservedBlock,
    Penalty,
)
from orthonmf.engine.kernels.missing import ObservedArray
from orthonmf.engine.loadings import ByLabel
from orthonmf.engine.unchanged import add_bits
from orthonmf.engine.units import NO_ENTRIES, SWITCHED_OFF, Units
from orthonmf.errors import InvalidInputError
from orthonmf.numerics.arrays import Array
from orthonmf.numerics.segments import slices

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


class TensorKernel(Kernel):
    """Blocks of rows held as contiguous tensors on one device."""

    on_device = True

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

    def remarks(self, dtype: np.dtype) -> tuple[str, ...]:
        return () if self._fused is not None and dtype == np.float32 else (PLAIN,)

    def _tensor(self, values: Any, dtype: Any = None) -> Any:
        """A tensor on the device; None stays None."""
        if isinstance(values, torch.Tensor):
            return values if dtype is None else values.to(dtype)
        return None if values is None else as_tensor(values, self._device, dtype)

    def _weigh(self, wide: Any, row_weights: Any, some: slice) -> Any:
        """Some rows in float64 times their weights, where there are any."""
        if row_weights is None:
            return wide
        return wide * self._tensor(row_weights[some], torch.float64)[:, None]

    def _is_fused(self, rows: Any) -> bool:
        return self._fused is not None and rows.dtype == torch.float32

    def pieces(self, rows: Any) -> Iterator[slice]:
        return slices(rows.shape[0], CHUNK_ENTRIES // max(1, rows.shape[1]))

    def widen(self, rows: Any) -> Any:
        return rows.double()

    def scale(self, rows: Any, units: Units) -> Any:
        if units.at_rest:
            return rows
        shift = np.asarray(-np.asarray(units.shift()))
        if shift.ndim < 2 or 1 in shift.shape:
            powers = self._tensor(np.atleast_2d(shift))
            return ldexp(rows.double(), powers)
        columns = np.atleast_2d(-units.columns) if units.columns is not None else np.zeros((1, 1))
        alone = Units(units.exponent, units.rows, None)
        return ldexp(self.scale(rows, alone), self._tensor(columns.astype(np.int32)))

    def find_row_powers(self, rows: Any, columns: Array | None) -> Array:
        found = np.empty(rows.shape[0], dtype=np.int32)
        for some in self.pieces(rows):
            mantissas, powers = torch.frexp(rows[some])
            counted = mantissas > 0
            if columns is not None:
                powers = powers - self._tensor(columns)
                counted = counted & self._tensor(columns < SWITCHED_OFF)
            largest = torch.where(counted, powers, NO_ENTRIES).amax(dim=1)
            found[some] = fetch(largest.to(torch.int32))
        return found

    def look(self, rows: Any, column_weights: Array | None) -> BlockLook:
        if self._is_fused(rows):
            squares, largest, bad = self._fused.look(rows, self._tensor(column_weights))
        else:
            squares, largest, bad = self._look(rows, column_weights)
        offense = self._find_offense(rows) if bad else None
        return BlockLook(offense, largest, DeviceArray(squares))

    def _look(self, rows: Any, column_weights: Array | None) -> tuple[Any, float, bool]:
        squares = rows.new_empty(rows.shape[0], dtype=torch.float64)
        found, weights = [], self._tensor(column_weights)
        for some in self.pieces(rows):
            wide = rows[some].double()
            found.append(torch.stack((wide.amin(), wide.amax())))
            wide = wide * wide
            squares[some] = (wide if weights is None else wide * weights).sum(dim=1)
        extremes = fetch(torch.stack(found))
        lowest, largest = extremes[:, 0].min(), extremes[:, 1].max()  # NaN stays NaN
        return squares, float(largest), not (lowest >= 0 and np.isfinite(largest))

    def _find_offense(self, rows: Any) -> tuple[int, int, float]:
        for some in self.pieces(rows):
            bad = ~((rows[some] >= 0) & torch.isfinite(rows[some]))
            found = torch.nonzero(bad.any(dim=1))
            if len(found):
                row = int(found[0, 0])
                column = int(torch.nonzero(bad[row])[0, 0])
                value = float(rows[some.start + row, column])
                return some.start + row, column, value
        raise AssertionError("no entry is bad")

    def square_columns(self, rows: Any, row_weights: Any) -> Any:
        squares = rows.new_zeros(rows.shape[1], dtype=torch.float64)
        for some in self.pieces(rows):
            squares += self._weigh(rows[some].double() ** 2, row_weights, some).sum(dim=0)
        return DeviceArray(squares)

    def multiply_directions(
        self, rows: Any, directions: Any, exact: bool = True, disjoint: bool = False
    ) -> Any:
        dtype = torch.float64 if exact else rows.dtype
        vectors = self._tensor(directions, dtype).T.contiguous()
        products = rows.new_empty((rows.shape[0], vectors.shape[1]), dtype=dtype)
        with float32_as_it_is():
            for some in self.pieces(rows):
                torch.matmul(rows[some].to(dtype), vectors, out=products[some])
        return DeviceArray(products)

    def find_winners(
        self, rows: Any, directions: Any, penalty: Penalty | None = None, disjoint: bool = False
    ) -> tuple[Any, Any]:
        vectors = self._tensor(directions, rows.dtype)
        if penalty is None and self._is_fused(rows):
            labels, best = self._fused.assign(rows, vectors)
            return DeviceArray(labels), DeviceArray(best)
        labels, best = rows.new_empty(len(rows), dtype=torch.int32), rows.new_empty(len(rows))
        with float32_as_it_is():
            for some in self._few_scores(rows, len(vectors)):
                scores = rows[some] @ vectors.T
                if penalty is not None:
                    offsets = self._tensor(penalty.offsets, torch.float64)
                    lengths = self._tensor(penalty.lengths[some], torch.float64)
                    scores -= (lengths[:, None] * offsets).to(rows.dtype)
                best[some] = scores.amax(dim=1)
                labels[some] = first_of(scores, best[some, None])
        return DeviceArray(labels), DeviceArray(best)

    def _few_scores(self, rows: Any, k: int) -> Iterator[slice]:
        """Slices whose products with k directions, and who wins, take little room."""
        return slices(rows.shape[0], CHUNK_ENTRIES // max(1, k, rows.shape[1] // 4))

    def sweep(
        self,
        rows: Any,
        directions: Any,
        penalty: Penalty | None = None,
        row_weights: Any = None,
        disjoint: bool = False,
        by_row: bool = True,
    ) -> BlockSweep:
        if penalty is not None or not self._is_fused(rows):
            return super().sweep(rows, directions, penalty, row_weights, disjoint, by_row)
        vectors = self._tensor(directions, rows.dtype)
        labels, best, sums = self._fused.sweep(rows, vectors, self._tensor(row_weights), by_row)
        if not by_row:
            return BlockSweep(None, None, DeviceArray(sums))
        return BlockSweep(DeviceArray(labels), DeviceArray(best), DeviceArray(sums))

    def update(
        self, rows: Any, directions: Any, labels: Any, row_weights: Any = None
    ) -> BlockSweep:
        given = self._tensor(labels)
        places = given.clamp(min=0)
        products = rows.new_empty(rows.shape[0])
        vectors = self._tensor(directions, rows.dtype)
        for some in self.pieces(rows):
            own = vectors[places[some].long()]
            products[some] = (rows[some] * own).sum(dim=1)
        found = DeviceArray(torch.where(given >= 0, products, 0))
        coefficients = found if row_weights is None else found * row_weights
        sums = self.sum_rows(rows, DeviceArray(places), coefficients, len(directions))
        return BlockSweep(labels, found, sums)

    def sum_rows(self, rows: Any, labels: Any, coefficients: Any, k: int) -> Any:
        given, factors = self._tensor(labels), self._tensor(coefficients).to(rows.dtype)
        if self._is_fused(rows):
            return DeviceArray(self._fused.sum_rows(rows, given, factors, k))
        sums = rows.new_zeros((k, rows.shape[1]), dtype=torch.float64)
        numbers = torch.arange(k, dtype=given.dtype, device=rows.device)
        with float32_as_it_is():
            for some in self._few_scores(rows, k):
                members = torch.where(given[some, None] == numbers, factors[some, None], 0)
                sums += members.T @ rows[some]
        return DeviceArray(sums)

    def normalize(self, rows: Any, lengths: Any, column_factors: Array | None) -> Any:
        factors = 1.0 if column_factors is None else self._tensor(column_factors)
        wide = rows.double() * factors / self._tensor(lengths, torch.float64)[:, None]
        return wide.to(rows.dtype)

    def multiply(self, rows: Any, row_scales: Any, column_scales: Any) -> Any:
        scales = self._tensor(row_scales, torch.float64)[:, None]
        return rows.double() * scales * self._tensor(column_scales, torch.float64)

    def stack(self, blocks: list[Any], transposed: bool) -> Array:
        """Blocks joined to one on the host: it is for code that wants all of it there."""
        return DENSE.stack([fetch(block) for block in blocks], transposed)

    def multiply_combinations(self, rows: Any, combinations: Any, row_weights: Any) -> BlockColumns:
        vectors = self._tensor(combinations, rows.dtype)
        products = rows.new_zeros(vectors.shape, dtype=torch.float64)
        squares = rows.new_zeros(len(vectors), dtype=torch.float64)
        with float32_as_it_is():
            for some in self.pieces(rows):
                combined = rows[some] @ vectors.T
                weighted = self._weigh(combined.double(), row_weights, some)
                squares += (weighted * combined).sum(dim=0)
                products += weighted.to(rows.dtype).T @ rows[some]
        return BlockColumns(DeviceArray(products), DeviceArray(squares))

    def square_residuals(
        self, rows: Any, loadings: Any, components: Any, column_factors: Array | None
    ) -> Any:
        vectors = self._tensor(components, torch.float64)
        factors = self._tensor(column_factors, torch.float64)
        if isinstance(loadings, ByLabel):
            labels, scales = self._tensor(loadings.labels), self._tensor(loadings.scales)
            if self._is_fused(rows):
                return DeviceArray(self._fused.residual(rows, labels, scales, vectors, factors))
        else:
            refuse_emulation()
            dense = self._tensor(loadings, torch.float64)
        squares = rows.new_empty(rows.shape[0], dtype=torch.float64)
        for some in self.pieces(rows):
            if isinstance(loadings, ByLabel):
                own = vectors[labels[some].clamp(min=0).long()] if len(vectors) else 0.0
                fitted = scales[some, None].double() * own
            else:
                fitted = dense[some] @ vectors
            difference = rows[some].double() - fitted
            if factors is not None:
                difference *= factors
            squares[some] = difference.square_().sum(dim=1)
        return DeviceArray(squares)

    def gram(self, rows: Any, column_factors: Any, row_weights: Any, exact: bool = True) -> Any:
        factors = self._tensor(column_factors, torch.float64)
        gram = rows.new_zeros((rows.shape[1],) * 2, dtype=torch.float64)
        plain = bool((factors == 1.0).all())
        for some in self.pieces(rows):
            wide = rows[some].double()
            if row_weights is not None:
                wide = wide * self._tensor(row_weights[some], torch.float64).sqrt()[:, None]
            self._add_gram(wide if plain else wide * factors, gram)
        return DeviceArray(gram)

    def add_gram(self, rows: Any, gram: Array) -> None:
        found = rows.new_zeros(gram.shape, dtype=torch.float64)
        self._add_gram(rows.double(), found)
        gram += fetch(found)

    def _add_gram(self, wide: Any, gram: Any) -> None:
        refuse_emulation()
        gram += wide.T @ wide

    def gram_rows(self, rows: Any) -> Array:
        refuse_emulation()
        wide = self._tensor(rows)
        return fetch(wide @ wide.T)

    def take_dense(self, rows: Any, indices: Any) -> Array:
        given = indices if isinstance(indices, slice) else as_tensor(indices, self._device)
        return fetch(self._tensor(rows)[given].double())

    def find_filled(self, rows: Any) -> Array:
        return fetch((rows != 0).any(dim=1))

    def list_entries(self, rows: Any) -> tuple[Array, Array, Array]:
        return DENSE.list_entries(fetch(rows))

    def count_entries(self, rows: Any) -> Array:
        return np.full(rows.shape[1], rows.shape[0])

    def sum_squares(self, rows: Any, down: Any, across: Any) -> Array:
        return DENSE.sum_squares(fetch(rows), down, across)

    def add_bits(self, rows: Any) -> int:
        return add_bits(fetch(rows))

    def observe(self, rows: Any) -> ObservedBlock:
        return ObservedArray(fetch(rows))

    def fill(self, rows: Any) -> Any:
        return torch.nan_to_num(rows, nan=0.0, posinf=torch.inf, neginf=-torch.inf)

    def any_missing(self, rows: Any) -> bool:
        return any(bool(torch.isnan(rows[some]).any()) for some in self.pieces(rows))
