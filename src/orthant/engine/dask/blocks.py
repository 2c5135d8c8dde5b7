"""What is done with one block of a Dask array, in this process or by a worker of a cluster."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from orthant.engine.executors import one_blas_thread
from orthant.engine.kernels.interface import Kernel, Rows
from orthant.engine.sources import kernel_of, working_dtype
from orthant.errors import InvalidInputError, OrthantError
from orthant.numerics.arrays import Array


@dataclass(frozen=True, slots=True)
class ExpectedBlock:
    """What a block must be; one way to read it, so that its bits are the same everywhere."""

    rows: slice  # of X
    n_columns: int
    dtype: np.dtype  # the working one
    sparse: bool | None  # None while nobody has looked at a block yet
    checked: Callable[[Any], Rows]  # refuses what is no matrix of real numbers

    def read(self, found: Any) -> Rows:
        """The rows that Dask has computed, C-ordered or CSR, aligned, in the working dtype."""
        place = f"rows {self.rows.start}:{self.rows.stop} of X"
        if getattr(found, "shape", None) != (self.rows.stop - self.rows.start, self.n_columns):
            raise InvalidInputError(
                f"{place} have shape {getattr(found, 'shape', None)}, but the chunks of X promise "
                f"{(self.rows.stop - self.rows.start, self.n_columns)}; see X.compute_chunk_sizes()"
            )
        try:
            rows = self.checked(found)
        except OrthantError as error:
            raise type(error)(f"{place}, counted from their first: {error}") from error
        sparse = not isinstance(rows, np.ndarray)
        if self.sparse is not None and sparse != self.sparse:
            raise InvalidInputError(
                f"{place} are {_kind(sparse)}, but the first rows are {_kind(self.sparse)}; "
                "bring all blocks to one kind with X.map_blocks"
            )
        if working_dtype(rows.dtype).itemsize > self.dtype.itemsize:
            raise InvalidInputError(
                f"{place} have dtype {rows.dtype}, but X has dtype {self.dtype}; make them equal "
                "with X.map_blocks"
            )
        if isinstance(rows, np.ndarray):
            return _aligned(rows, self.dtype)
        parts = (_aligned(rows.data, self.dtype), _aligned(rows.indices), _aligned(rows.indptr))
        return csr_array(parts, shape=rows.shape)


def _kind(sparse: bool) -> str:
    return "sparse" if sparse else "dense"


def _aligned(values: Array, dtype: np.dtype | None = None) -> Array:
    """C-ordered values that begin at a multiple of their item size.

    What comes over a network may begin at any byte, and NumPy adds such values in another order.
    """
    return np.require(values, dtype=dtype, requirements=("C_CONTIGUOUS", "ALIGNED"))


@dataclass(frozen=True, slots=True)
class BlockTask:
    """Some work on one block, as it is sent to a worker together with the block.

    Keywords travel as pickled bytes: arrays unpacked from those are aligned, and Dask does not
    search them for collections.
    """

    expected: ExpectedBlock
    function: Callable[..., Any]
    slices: bytes  # keywords of this block

    def __call__(self, found: Any, shared: bytes) -> tuple[Any, int]:
        """The result of the work on what Dask has computed, and the added bits of that."""
        rows = self.expected.read(found)
        kernel = kernel_of(rows)
        with one_blas_thread():
            keywords = {**pickle.loads(shared), **pickle.loads(self.slices)}
            result = self.function(kernel, rows, **keywords)
        return result, kernel.add_bits(rows)


@dataclass(frozen=True, slots=True)
class Places:
    """Positions of some rows, ascending, to be sliced like an array with one entry per row."""

    indices: Array

    def __getitem__(self, rows: slice) -> Array:
        """Those inside the slice, counted from its start."""
        start, stop = np.searchsorted(self.indices, (rows.start, rows.stop))
        return self.indices[start:stop] - rows.start


def pick_block(kernel: Kernel, rows: Rows, places: Array) -> Rows:
    """Some rows of a block."""
    return rows[places]


def describe_block(kernel: Kernel, rows: Rows) -> tuple[bool, int]:
    """Whether a block is sparse, and how many entries it stores."""
    return (False, rows.size) if isinstance(rows, np.ndarray) else (True, int(rows.nnz))
