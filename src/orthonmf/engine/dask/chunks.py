"""Chunks: the blocks of a Dask array that hold rows, not yet computed."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any, Self

import numpy as np
from scipy.sparse import csr_array

from orthonmf.engine.checksums import Checksums, add_bits
from orthonmf.engine.dask.blocks import ExpectedBlock
from orthonmf.engine.kernels.dense import DENSE
from orthonmf.engine.kernels.interface import Kernel
from orthonmf.engine.kernels.sparse import SPARSE
from orthonmf.engine.sources import working_dtype
from orthonmf.errors import InvalidInputError
from orthonmf.extras import import_extra
from orthonmf.typing import Array


class Chunks:
    """Blocks of rows in the order of X; chunks without rows are left out."""

    def __init__(self, array: Any, checked: Callable[[Any], Array | csr_array]) -> None:
        check_chunks(array)
        dask = import_extra("dask", "dask")
        self.dtype = working_dtype(array.dtype)
        self._kind: bool | None = None  # whether blocks are sparse, once one has been seen
        self._n_columns = int(array.shape[1])
        self._checked = checked
        self._checksums = Checksums()
        edges = np.concatenate(([0], np.cumsum(array.chunks[0]))).astype(np.int64)
        numbers = np.flatnonzero(np.diff(edges))
        self._rows = [slice(int(edges[number]), int(edges[number + 1])) for number in numbers]
        # Each with the part of the graph that it needs: looked up once, not in every pass.
        blocks = array.to_delayed()[:, 0]
        self.delayed = [dask.optimize(blocks[number])[0] for number in numbers]
        self.recipes: list[bytes] | None = None
        self.boundaries = self._boundaries()

    def _boundaries(self) -> Array:
        lengths = [rows.stop - rows.start for rows in self._rows]
        return np.concatenate(([0], np.cumsum(lengths))).astype(np.int64)

    @property
    def kernel(self) -> Kernel[Any]:
        """What reads the blocks; dense until one of them has been seen to be sparse."""
        return SPARSE if self._kind else DENSE

    @property
    def n_blocks(self) -> int:
        """How many blocks hold rows."""
        return len(self.delayed)

    def span(self, index: int) -> slice:
        """Where the rows of a block lie in keywords with one entry per row."""
        return slice(int(self.boundaries[index]), int(self.boundaries[index + 1]))

    def expect(self, index: int) -> ExpectedBlock:
        """What a block must be, and how it is read."""
        return ExpectedBlock(
            self._rows[index], self._n_columns, self.dtype, self._kind, self._checked
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

    def only(self, numbers: Array) -> Self:
        """Some of the blocks, laid end to end: row numbers count from the first of them."""
        some = copy.copy(self)
        some.delayed = [self.delayed[number] for number in numbers]
        if self.recipes is not None:
            some.recipes = [self.recipes[number] for number in numbers]
        some._rows = [self._rows[number] for number in numbers]
        some.boundaries = some._boundaries()
        return some


def is_dask_array(X: Any) -> bool:
    """Whether a collection of Dask is an array."""
    return isinstance(X, import_extra("dask.array", "dask").Array)


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
