"""A Dask array as a source: its chunks are the blocks, and only passes reach its rows."""

from __future__ import annotations

import copy
from collections.abc import Callable
from itertools import pairwise
from typing import Any, Self

import numpy as np
from scipy.sparse import csr_array

from orthonmf.engine.checksums import Checksums, add_bits
from orthonmf.engine.dask.blocks import ExpectedBlock, describe_block
from orthonmf.engine.dask.executor import DaskExecutor, current_client
from orthonmf.engine.dask.recipes import recipes_of
from orthonmf.engine.executors import Executor, Work
from orthonmf.engine.kernels.dense import DENSE
from orthonmf.engine.kernels.interface import Kernel
from orthonmf.engine.kernels.sparse import SPARSE
from orthonmf.engine.sources import Source, stack, working_dtype
from orthonmf.errors import InvalidInputError
from orthonmf.extras import import_extra
from orthonmf.typing import Array


class DaskSource(Source):
    """Rows of a Dask array of NumPy or SciPy blocks, on the cluster of the current client.

    Without a client, blocks are computed in this process; chunks without rows are left out. What
    Dask knows about the kind of its blocks is a guess of whoever made the array, so the first block
    is looked at and, if it is sparse, the entries of all blocks are counted in one pass.
    """

    kernel: Kernel[Any] = DENSE  # until one of the blocks has been seen to be sparse
    elsewhere = True

    def __init__(self, array: Any, checked: Callable[[Any], Array | csr_array]) -> None:
        check_chunks(array)
        dask = import_extra("dask", "dask")
        self.shape = (int(array.shape[0]), int(array.shape[1]))
        self.dtype = working_dtype(array.dtype)
        self._sparse: bool | None = None  # whether blocks are, once one has been seen
        self._checked, self._checksums = checked, Checksums()
        edges = np.unique(np.concatenate(([0], np.cumsum(array.chunks[0])))).tolist()
        self._rows = [slice(*edge) for edge in pairwise(edges)]
        # Each with the part of the graph that it needs: looked up once, not in every pass.
        blocks = array.to_delayed()[np.flatnonzero(array.chunks[0]), 0]
        self.delayed = [dask.optimize(block)[0] for block in blocks]
        self.boundaries = _boundaries(self._rows)
        self._client = current_client()
        self.recipes = None if self._client is None else recipes_of(array, self.delayed)
        ((self._sparse, n_entries),) = self._gather(np.arange(1), Work(describe_block))
        if self._sparse:
            self.kernel = SPARSE
            rest = self._gather(np.arange(1, len(self._rows)), Work(describe_block))
            self.n_entries = n_entries + sum(count for _, count in rest)
        else:
            self.n_entries = self.shape[0] * self.shape[1]

    def own_executor(self, n_threads: int) -> Executor | None:
        return None if self._client is None else DaskExecutor(self._client, n_threads)

    def expect(self, index: int) -> ExpectedBlock:
        """What a block must be, and how it is read."""
        return ExpectedBlock(
            self._rows[index], self.shape[1], self.dtype, self._sparse, self._checked
        )

    def block(self, index: int) -> Array | csr_array:
        """Rows of one block, computed in this thread."""
        dask = import_extra("dask", "dask")
        (computed,) = dask.compute(self.delayed[index], scheduler="synchronous")
        rows = self.expect(index).read(computed)
        self.check(index, add_bits(rows))
        return rows

    def check(self, index: int, checksum: int) -> None:
        """Refuse a block whose added bits are not those of its first read."""
        self._checksums.check_block(self._rows[index], checksum)

    def take(self, rows: Array | slice) -> Array | csr_array:
        """Some rows, picked by the workers in the blocks that hold them."""
        wanted, order = np.unique(np.arange(self.shape[0])[rows], return_inverse=True)
        if not len(wanted):
            nothing = (0, self.shape[1])
            return (csr_array if self._sparse else np.empty)(nothing, dtype=self.dtype)
        blocks = np.searchsorted(self.boundaries, wanted, side="right") - 1
        numbers, ranks = np.unique(blocks, return_inverse=True)
        starts = _boundaries([self._rows[number] for number in numbers])
        mask = np.zeros(starts[-1], dtype=bool)
        mask[wanted - self.boundaries[blocks] + starts[ranks]] = True
        return stack(self._gather(numbers, Work("take", by_row={"indices": mask})))[order]

    def _gather(self, numbers: Array, work: Work) -> list[Any]:
        """The results of some work on some blocks."""
        results: list[Any] = []
        executor = self.own_executor(1) or Executor()
        executor.fold(self._only(numbers), work, lambda rows, result: results.append(result))
        return results

    def _only(self, numbers: Array) -> Self:
        """Some of the blocks, laid end to end: row numbers count from the first of them."""
        some = copy.copy(self)
        some._rows = [self._rows[number] for number in numbers]
        some.boundaries = _boundaries(some._rows)
        some.delayed = [self.delayed[number] for number in numbers]
        if self.recipes is not None:
            some.recipes = [self.recipes[number] for number in numbers]
        return some


def _boundaries(blocks: list[slice]) -> Array:
    """Where the rows of some blocks begin and end when they are laid end to end."""
    return np.cumsum([0, *(rows.stop - rows.start for rows in blocks)], dtype=np.int64)


def check_chunks(array: Any) -> None:
    """Refuse a Dask array whose rows cannot be counted or are split."""
    if any(np.isnan(length) for lengths in array.chunks for length in lengths):
        raise InvalidInputError(
            "the chunks of X have unknown sizes; find them with X.compute_chunk_sizes()"
        )
    if len(array.chunks[1]) > 1:
        raise InvalidInputError(
            f"X is split into {len(array.chunks[1])} chunks along its features, but a block must "
            "hold whole rows; join them with X.rechunk({1: -1})"
        )
