"""Blocks that were slow to read stay in memory between passes, as far as there is room."""

from __future__ import annotations

import threading

from orthonmf.numerics.arrays import Array


class KeptBlocks:
    """The first blocks that are offered, until they take as many bytes as are allowed.

    Passes read all blocks in the same order again and again: throwing out what was used longest
    ago would throw out every block just before it is wanted.
    """

    def __init__(self) -> None:
        self._blocks: dict[int, Array] = {}
        self._room = 0
        self._lock = threading.Lock()

    def allow(self, n_bytes: int) -> None:
        """Set how many bytes may be kept from now on, in addition to those that are."""
        self._room = n_bytes

    def find(self, index: int) -> Array | None:
        """A block that was kept."""
        return self._blocks.get(index)

    def offer(self, index: int, rows: Array) -> Array | None:
        """The block as it is kept, which nobody else can write to; None where there is no room."""
        with self._lock:
            if index in self._blocks or rows.nbytes > self._room:
                return self._blocks.get(index)
            self._room -= rows.nbytes
            # A store may hand out a view of what is its own.
            self._blocks[index] = rows if rows.flags.owndata else rows.copy()
            return self._blocks[index]
