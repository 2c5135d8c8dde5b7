"""Digests: a few bytes that two different contents share by accident about never.

Files hold them (checkpoints, results of a selection), so the same content must give the same
digest in every version.
"""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np

from orthonmf.typing import Array


def digest(*arrays: Array | None) -> str:
    """A digest of some arrays and of where each one ends; None counts, shapes and dtypes do not."""
    state = hashlib.sha256()
    for array in arrays:
        content = b"none" if array is None else np.ascontiguousarray(array).tobytes()
        state.update(len(content).to_bytes(8, "little") + content)
    return state.hexdigest()[:32]


def digest_bytes(*contents: Any) -> bytes:
    """16 bytes for some contents (bytes or contiguous arrays), read as one after the other."""
    state = hashlib.blake2b(digest_size=16)
    for content in contents:
        state.update(content)
    return state.digest()
