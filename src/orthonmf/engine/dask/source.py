"""A Dask array as a source: its chunks are the blocks, and only passes reach its rows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from orthonmf.engine.dask.blocks import describe_block
from orthonmf.engine.dask.chunks import Chunks
from orthonmf.engine.dask.executor import DaskExecutor, current_client
from orthonmf.engine.dask.recipes import recipes_of
from orthonmf.engine.executors import Executor, Serial, Work
from orthonmf.engine.sources import ArraySource, CsrSource, in_memory, stack, to_dense
from orthonmf.typing import Array


class DaskSource(Chunks):
    """Rows of a Dask array of NumPy or SciPy blocks, on the cluster of the current client.

    Without a client, blocks are computed in this process. What Dask knows about the kind of its
    blocks is a guess of whoever made the array, so the first block is looked at and, if it is
    sparse, the entries of all blocks are counted in one pass.
    """

    in_memory = False
    elsewhere = True
    can_transpose = False

    def __init__(self, array: Any, checked: Callable[[Any], Array | csr_array]) -> None:
        super().__init__(array, checked)
        self.shape = (int(array.shape[0]), int(array.shape[1]))
        self._client = current_client()
        if self._client is not None:
            self.recipes = recipes_of(array, self.delayed)
        ((self._kind, n_entries),) = self._describe(np.arange(1))
        if self._kind:
            rest = self._describe(np.arange(1, self.n_blocks))
            self.n_entries = n_entries + sum(count for _, count in rest)
        else:
            self.n_entries = self.shape[0] * self.shape[1]

    def _describe(self, numbers: Array) -> list[tuple[bool, int]]:
        return self._gather(self.only(numbers), Work(describe_block))

    def _gather(self, some: DaskSource, work: Work) -> list[Any]:
        """The results of some work on some blocks."""
        results: list[Any] = []
        executor = self.own_executor(Serial()) or Serial()
        executor.fold(some, work, lambda rows, result: results.append(result))
        return results

    def own_executor(self, local: Executor) -> Executor | None:
        """Who works on the blocks where they lie; None without a client."""
        return None if self._client is None else DaskExecutor(self._client, local)

    def rows(self, indices: Array) -> Array:
        """Some rows, dense, in float64: picked by the workers in the blocks that hold them."""
        return to_dense(self._pick(indices))

    def part(self, rows: Array | slice) -> ArraySource | CsrSource:
        """A source of some rows, brought into this process."""
        return in_memory(self._pick(np.arange(self.shape[0])[rows]))

    def _pick(self, indices: Array) -> Array | csr_array:
        wanted, order = np.unique(np.asarray(indices, dtype=np.int64), return_inverse=True)
        if not len(wanted):
            nothing = (0, self.shape[1])
            return (csr_array if self._kind else np.empty)(nothing, dtype=self.dtype)
        blocks = np.searchsorted(self.boundaries, wanted, side="right") - 1
        numbers, ranks = np.unique(blocks, return_inverse=True)
        some = self.only(numbers)
        mask = np.zeros(some.boundaries[-1], dtype=bool)
        mask[wanted - self.boundaries[blocks] + some.boundaries[ranks]] = True
        return stack(self._gather(some, Work("take", by_row={"indices": mask})))[order]

    def transpose(self, many_passes: bool = True) -> None:
        """None: only passes reach the rows, so columns are had by passes as well."""
