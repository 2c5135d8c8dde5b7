"""Rows on the host, streamed through a device: a block is copied while the one before is at work.

Blocks are smaller than those of a tensor that lies there, and otherwise treated the same: with the
same boundaries the bits are the same. Blocks stay on the device as far as there is room, and are
then copied once for all passes.
"""

from __future__ import annotations

from concurrent.futures import Future, ThreadPoolExecutor
from functools import cached_property
from typing import Any

import numpy as np
import torch

from orthonmf.engine.executors import Executor, Work, available_cores
from orthonmf.engine.gpu.arrays import DTYPES
from orthonmf.engine.gpu.tensor_source import device_boundaries, kernel_on
from orthonmf.engine.segments import slices
from orthonmf.engine.sources import Source, block_rows, in_memory
from orthonmf.typing import Array

# Entries of a block: a few of them are on the way or at work at a time.
STREAMED_ENTRIES = 2**27
# Bytes of page-locked memory that are filled at once.
STAGE_BYTES = 2**26
# Of the device's memory this part is left for work.
PART_LEFT = 4


class DeviceBlocks(Source):
    """The rows of a source on the host, block by block on a device."""

    def __init__(self, host: Source, device: Any, locked: Any = None) -> None:
        """``locked`` is a tensor of the same rows in page-locked memory, where there is one."""
        self._host, self._device, self._locked = host, device, locked
        self.shape, self.dtype, self.n_entries = host.shape, host.dtype, host.n_entries
        self.in_memory, self.can_transpose = host.in_memory, host.can_transpose
        self.boundaries = device_boundaries(*self.shape, STREAMED_ENTRIES)
        self.kernel = kernel_on(device)
        self._dtype = DTYPES[self.dtype]
        self._on_gpu = device.type == "cuda"
        self._kept: dict[int, Any] = {}
        self._coming: dict[int, Future[Any]] = {}

    @cached_property
    def _copying(self) -> ThreadPoolExecutor:
        """The thread that copies."""
        return ThreadPoolExecutor(1, thread_name_prefix="orthonmf-copies")

    @cached_property
    def _stream(self) -> Any:
        """The stream on which the device copies."""
        return torch.cuda.Stream(self._device)

    def block(self, index: int) -> Any:
        """Rows of one block, on the device; the copy of the next one is begun."""
        tensor = self._kept.get(index)
        if tensor is None:
            self._begin(index)
            tensor, arrived = self._coming.pop(index).result()
            if arrived is not None:
                torch.cuda.current_stream(self._device).wait_event(arrived)
            if self._on_gpu:
                free, total = torch.cuda.mem_get_info(self._device)
                if free - 2 * tensor.nbytes > total // PART_LEFT:
                    self._kept[index] = tensor
        if index + 2 < len(self.boundaries):
            self._begin(index + 1)
        return tensor

    def _begin(self, index: int) -> None:
        """Begin to copy a block once all that was asked of the device so far is done."""
        if index in self._kept or index in self._coming:
            return
        span = block_rows(self, index)
        shape = (span.stop - span.start, self.shape[1])
        target = torch.empty(shape, dtype=self._dtype, device=self._device)
        ready = None
        if self._on_gpu:
            ready = torch.cuda.current_stream(self._device).record_event()
        self._coming[index] = self._copying.submit(self._copy, span, target, ready)

    def _copy(self, span: slice, target: Any, ready: Any) -> tuple[Any, Any]:
        """Rows copied to a tensor, and what tells that they have arrived there."""
        if not self._on_gpu:
            self._fill(span, target.numpy())
            return target, None
        with torch.cuda.stream(self._stream):
            self._stream.wait_event(ready)
            if self._locked is not None:
                target.copy_(self._locked[span], non_blocking=True)
            else:
                for some in slices(len(target), STAGE_BYTES // max(1, target[0].nbytes)):
                    # Torch hands out this memory again once it has been sent.
                    stage = torch.empty_like(target[some], device="cpu", pin_memory=True)
                    rows = slice(span.start + some.start, span.start + some.stop)
                    self._fill(rows, stage.numpy())
                    target[some].copy_(stage, non_blocking=True)
            return target, self._stream.record_event()

    def _fill(self, span: slice, room: Array) -> None:
        """Copy rows of the host, in the working dtype, by several threads at a time."""
        work = Work(lambda kernel, rows, room: np.copyto(room, rows), by_row={"room": room})
        rows = in_memory(self._host.take(span))
        Executor(available_cores()).fold(rows, work, lambda rows, nothing: None)

    def take(self, rows: Array | slice) -> Any:
        return self._host.take(rows)

    def transpose(self, many_passes: bool = True) -> Source | None:
        return self._host.transpose(many_passes)
