"""Functions of tensors that arrays on a device are made of: tensors in, tensors out."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import torch

from orthonmf.engine.segments import slices
from orthonmf.errors import TooLargeError
from orthonmf.typing import Array

# Entries that are spread over labels at once.
SPREAD_ENTRIES = 2**25
# Smaller copies are not worth page-locked memory.
WORTH_LOCKING = 2**16

DTYPES: dict[np.dtype, Any] = {
    np.dtype(np.float32): torch.float32,
    np.dtype(np.float64): torch.float64,
    np.dtype(np.int32): torch.int32,
    np.dtype(np.int64): torch.int64,
    np.dtype(np.uint8): torch.uint8,
    np.dtype(np.bool_): torch.bool,
}
OF_TORCH: dict[Any, np.dtype] = {theirs: ours for ours, theirs in DTYPES.items()}


@contextmanager
def told_when_full() -> Iterator[None]:
    """Say in words of our own that a device has no room left."""
    try:
        yield
    except torch.OutOfMemoryError as error:
        raise TooLargeError(
            f"the device has no room for this fit: {str(error).splitlines()[0]} Free memory there, "
            "or stream X from the host with orthonmf.stream_to_device(X.cpu())"
        ) from error


def fetch(tensor: Any) -> Array:
    """A copy of a tensor on the host, through page-locked memory where it is large."""
    if tensor.device.type != "cuda":
        return np.array(tensor.numpy())
    if tensor.numel() < WORTH_LOCKING:
        return np.asarray(tensor.cpu().numpy())
    room = torch.empty(tensor.shape, dtype=tensor.dtype, pin_memory=True)
    room.copy_(tensor, non_blocking=True)
    torch.cuda.current_stream(tensor.device).synchronize()
    return np.asarray(room.numpy())


def ldexp(values: Any, powers: Any) -> Any:
    """``values * 2**powers`` in two steps, so that no power leaves the range of float64."""
    half = torch.div(powers, 2, rounding_mode="floor")
    wide = values.double()
    for part in (half, powers - half):
        wide = wide * torch.exp2(part.double())
    return wide.to(values.dtype)


def sum_by_label(labels: Any, values: Any, k: int) -> Any:
    """(k,) float64 sums of values (n,) over the entries of each label, in a fixed order."""
    sums = torch.zeros(k, dtype=torch.float64, device=labels.device)
    numbers = torch.arange(k, dtype=labels.dtype, device=labels.device)
    for some in slices(len(labels), SPREAD_ENTRIES // max(1, k)):
        members = (labels[some, None] == numbers).double()
        sums += values[some].double() @ members
    return sums
