"""A tensor on a device as a source: its rows, and what has one entry per row, stay there.

A tensor on the host is an array there (`inputs/tensors.py`, `engine/sources.py`).
"""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from typing import Any

import numpy as np

from orthonmf.engine.gpu.arrays import DTYPES, OF_TORCH, as_tensor, fetch
from orthonmf.engine.gpu.kernel import TensorKernel
from orthonmf.engine.kernels.interface import Kernel
from orthonmf.engine.sources import ArraySource, Source, block_rows, working_dtype
from orthonmf.typing import Array

# Large blocks: what is done once for each takes as long as reading many entries. Boundaries are
# multiples of this many rows, so that rows of every block begin where loads are fast.
BLOCK_ENTRIES = 2**31
ALIGNED_ROWS = 1024
# Up to so many bytes columns are read as rows of a copy, on the host, where few long rows are.
MOST_BYTES_TO_FLIP = 2**26


def device_boundaries(n_rows: int, n_columns: int, entries: int = BLOCK_ENTRIES) -> Array:
    """Block boundaries of a matrix of this shape on a device."""
    size = max(1, entries // max(1, n_columns * ALIGNED_ROWS)) * ALIGNED_ROWS
    n_blocks = max(1, -(-n_rows // size))
    even = -(-n_rows // (n_blocks * ALIGNED_ROWS)) * ALIGNED_ROWS
    return np.append(np.arange(0, n_rows, even), n_rows).astype(np.int64)


def kernel_on(device: Any) -> TensorKernel:
    """What reads blocks on a device: fused kernels where it has them."""
    if device.type != "cuda" or find_spec("triton") is None:
        return TensorKernel(device)
    return TensorKernel(device, import_module("orthonmf.engine.gpu.triton_launch"))


class TensorSource(Source):
    """Rows of a 2-D tensor of real numbers on any device."""

    in_memory = True

    def __init__(self, tensor: Any, kernel: Kernel[Any] | None = None) -> None:
        self._tensor = tensor.detach()
        self.shape = (int(tensor.shape[0]), int(tensor.shape[1]))
        self.n_entries = self.shape[0] * self.shape[1]
        self.dtype = working_dtype(OF_TORCH.get(tensor.dtype, np.dtype(np.float64)))
        self._dtype = DTYPES[self.dtype]
        self.boundaries = device_boundaries(*self.shape)
        self.kernel = kernel or kernel_on(tensor.device)
        self.can_transpose = self.n_entries * self.dtype.itemsize <= MOST_BYTES_TO_FLIP

    def block(self, index: int) -> Any:
        """Rows of one block; a copy only where order or dtype asks for one."""
        return self._tensor[block_rows(self, index)].to(self._dtype).contiguous()

    def take(self, rows: Array | slice) -> Array:
        given = rows if isinstance(rows, slice) else as_tensor(rows, self._tensor.device)
        return fetch(self._tensor[given].to(self._dtype).contiguous())

    def transpose(self, many_passes: bool = True) -> ArraySource | TensorSource | None:
        """The columns as rows: on the host while that is small, else a view for a single pass."""
        if self.can_transpose:
            return ArraySource(np.ascontiguousarray(self.take(slice(None)).T))
        return None if many_passes else TensorSource(self._tensor.T, self.kernel)
