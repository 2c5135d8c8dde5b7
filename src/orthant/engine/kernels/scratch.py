"""Room for what a kernel computes on the way and throws away.

Fresh memory for every block costs more than filling it: the system hands it out page by page.
Each thread keeps what it used last and uses it again.
"""

from __future__ import annotations

import threading
from math import prod
from typing import Any

import numpy as np

from orthant.numerics.arrays import Array

# Larger arrays are not kept, so that a thread holds on to a few megabytes at most.
MOST_BYTES_KEPT = 2**24


class _Kept(threading.local):
    def __init__(self) -> None:
        self.arrays: dict[str, Array] = {}


_kept = _Kept()


def scratch(name: str, shape: tuple[int, ...], dtype: Any) -> Array:
    """An array of this shape with any content, until this thread asks for the name again."""
    n_bytes = prod(shape) * np.dtype(dtype).itemsize
    if n_bytes > MOST_BYTES_KEPT:
        return np.empty(shape, dtype)
    room = _kept.arrays.get(name)
    if room is None or len(room) < n_bytes:
        room = _kept.arrays[name] = np.empty(n_bytes, np.uint8)
    return room[:n_bytes].view(dtype).reshape(shape)
