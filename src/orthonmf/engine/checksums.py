"""Checksums of rows that are read again and again, and digests that tell contents apart.

A source that changed between two reads is told by sums of integers: they are exact whoever adds
them in what order, so an unchanged row is never blamed. Digests are a few bytes that two different
contents share by accident about never; files hold them (checkpoints, results of a selection), so
the same content must give the same digest in every version.
"""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from orthonmf.errors import SourceChangedError
from orthonmf.typing import Array

REMEDY = "keep X as it is while it is fitted, or fit a copy of it"

LANES = 1021
FACTORS = np.arange(1, 2 * LANES, 2, dtype=np.uint64)


class Checksums:
    """What was found at the first read of every block, by the number of its first row."""

    def __init__(self) -> None:
        self._blocks: dict[int, int] = {}
        self._rows: dict[int, Array] = {}

    def check_rows(self, first: int, rows: Array) -> None:
        """Refuse the first row of a dense block that changed since the block was first read."""
        if first not in self._rows:
            self._rows[first] = _by_row(rows)
        if self._same(first, add_bits(rows)):
            return
        changed = np.flatnonzero(self._rows[first] != _by_row(rows))
        raise SourceChangedError(
            f"row {first + int(changed[0]):,} of X changed since the first read; {REMEDY}"
        )

    def check_block(self, rows: slice, checksum: int) -> None:
        """Refuse a block whose bits, added up where it was read, changed since the first read."""
        if not self._same(rows.start, checksum):
            raise SourceChangedError(
                f"rows {rows.start:,} to {rows.stop - 1:,} of X changed since the first read; "
                f"{REMEDY}"
            )

    def _same(self, first: int, checksum: int) -> bool:
        return self._blocks.setdefault(first, checksum) == checksum


def add_bits(rows: Array | csr_array) -> int:
    """The sum of the bits of an array, and of where its entries stand, exact in any order."""
    if isinstance(rows, np.ndarray):
        return _add_bits(rows)
    return _add_bits(rows.data) + _add_bits(rows.indices) + _add_bits(rows.indptr)


def _add_bits(values: Array) -> int:
    """The sum of the bits of an array, weighted by where they stand.

    Added up as the longest integers that fit, many times faster than row by row.

    A prime number of lanes with different factors: what moves to another place counts too.
    """
    flat = values.reshape(-1)
    longest = next(size for size in (8, 4) if flat.nbytes % size == 0)
    flat = flat.view(f"u{longest}")
    whole = len(flat) // LANES * LANES
    lanes = flat[:whole].reshape(-1, LANES).sum(axis=0, dtype=np.uint64)
    lanes[: len(flat) - whole] += flat[whole:]
    return int((lanes * FACTORS).sum())


def _by_row(rows: Array) -> Array:
    return rows.view(f"u{rows.itemsize}").sum(axis=1, dtype=np.uint64)


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
