"""Rows on the host, streamed through a device: a block is copied while the one before is at work.

Blocks are smaller than those of a tensor that lies there, and otherwise treated the same: with the
same boundaries the bits are the same. Blocks stay on the device as far as there is room, and are
then copied once for all passes.
"""

from __future__ import annotations

from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

import numpy as np
import torch

from orthonmf.engine.executors import Executor, Threads, Work, available_cores
from orthonmf.engine.gpu.functions import DTYPES
from orthonmf.engine.gpu.source import DeviceExecutor, device_boundaries, kernel_on
from orthonmf.engine.kernels.interface import Kernel
from orthonmf.engine.sources import Source, block_rows
from orthonmf.typing import Array

# Entries of a block: a few of them are on the way or at work at a time.
STREAMED_ENTRIES = 2**27
# Bytes of page-locked memory that are filled at once, twice.
STAGE_BYTES = 2**26
# Of the device's memory this part is left for work.
PART_LEFT = 4


def copy_block(kernel: Kernel[Any], rows: Array, room: Array) -> None:
    """Copy the rows of a block, in the working dtype, to where they will be sent from."""
    np.copyto(room, rows)


class DeviceBlocks:
    """The rows of a source on the host, block by block on a device."""

    elsewhere = False

    def __init__(
        self, host: Source, device: Any, locked: Any = None, kernel: Kernel[Any] | None = None
    ) -> None:
        """``locked`` is a tensor of the same rows in page-locked memory, where there is one."""
        self._host, self._device, self._locked = host, device, locked
        self.shape, self.dtype, self.n_entries = host.shape, host.dtype, host.n_entries
        self.in_memory, self.can_transpose = host.in_memory, host.can_transpose
        self.boundaries = device_boundaries(*self.shape, STREAMED_ENTRIES)
        self.kernel: Kernel[Any] = kernel or kernel_on(device)
        self._dtype = DTYPES[self.dtype]
        self._kept: dict[int, Any] = {}
        self._coming: dict[int, Future[Any]] = {}
        self._line: _Line | None = None

    def own_executor(self, local: Executor) -> Executor:
        """Who works on the blocks."""
        return DeviceExecutor(local)

    def block(self, index: int) -> Any:
        """Rows of one block, on the device; the copy of the next one is begun."""
        if self._line is None:
            self._line = _Line(self._device)
        tensor = self._kept.get(index)
        if tensor is None:
            self._begin(index)
            tensor, arrived = self._coming.pop(index).result()
            self._line.await_copy(arrived)
            if self._line.has_room(tensor):
                self._kept[index] = tensor
        if index + 2 < len(self.boundaries):
            self._begin(index + 1)
        return tensor

    def _begin(self, index: int) -> None:
        if index in self._kept or index in self._coming:
            return
        assert self._line is not None
        span = block_rows(self, index)
        shape = (span.stop - span.start, self.shape[1])
        target = torch.empty(shape, dtype=self._dtype, device=self._device)
        locked = None if self._locked is None else self._locked[span]
        self._coming[index] = self._line.send(self._host, span, locked, target)

    def rows(self, indices: Array) -> Array:
        """Some rows in float64, on the host."""
        return self._host.rows(indices)

    def part(self, rows: Array | slice) -> Source:
        """A source of some rows, on the host."""
        return self._host.part(rows)

    def transpose(self, many_passes: bool = True) -> Source | None:
        """The columns as rows, on the host."""
        return self._host.transpose(many_passes)


class _Line:
    """One thread that fills page-locked memory and copies it to a device, on its own stream."""

    def __init__(self, device: Any) -> None:
        self._device = device
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="orthonmf-copies")
        self._cuda = device.type == "cuda"
        self._stream: Any = torch.cuda.Stream(device) if self._cuda else None
        self._stages: list[tuple[Any, Any]] = []  # memory, and when it was sent last

    def send(self, host: Source, span: slice, locked: Any, target: Any) -> Future[Any]:
        """Begin to copy some rows once all that was asked of the device so far is done."""
        ready = torch.cuda.current_stream(self._device).record_event() if self._cuda else None
        return self._thread.submit(self._copy, host, span, locked, target, ready)

    def await_copy(self, arrived: Any) -> None:
        """Let the device wait for a copy before it goes on."""
        if arrived is not None:
            torch.cuda.current_stream(self._device).wait_event(arrived)

    def has_room(self, tensor: Any) -> bool:
        """Whether a block may stay on the device."""
        if not self._cuda:
            return False
        free, total = torch.cuda.mem_get_info(self._device)
        return bool(free - 2 * tensor.nbytes > total // PART_LEFT)

    def _copy(self, host: Source, span: slice, locked: Any, target: Any, ready: Any) -> Any:
        if not self._cuda:
            self._fill(host, span, target.numpy())
            return target, None
        with torch.cuda.stream(self._stream):
            self._stream.wait_event(ready)
            if locked is not None:
                target.copy_(locked, non_blocking=True)
            else:
                self._send_by_stages(host, span, target)
            return target, self._stream.record_event()

    def _send_by_stages(self, host: Source, span: slice, target: Any) -> None:
        size = max(1, STAGE_BYTES // (target.shape[1] * target.element_size()))
        if not self._stages:
            room = [torch.empty(STAGE_BYTES, dtype=torch.uint8, pin_memory=True) for _ in "ab"]
            self._stages = [(memory, None) for memory in room]
        for start in range(0, target.shape[0], size):
            some = target[start : start + size]
            memory, sent = self._stages.pop(0)
            if sent is not None:
                sent.synchronize()
            stage = memory[: some.nbytes].view(some.dtype).view(some.shape)
            first = span.start + start
            self._fill(host, slice(first, first + some.shape[0]), stage.numpy())
            some.copy_(stage, non_blocking=True)
            self._stages.append((memory, self._stream.record_event()))

    def _fill(self, host: Source, span: slice, room: Array) -> None:
        """Copy rows of a source on the host, several threads at a time."""
        part = host.part(span)
        work = Work(copy_block, by_row={"room": room})
        Threads(available_cores()).fold(part, work, lambda rows, nothing: None)
