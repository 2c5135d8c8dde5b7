"""What is done with one block of a Dask array, in this process or by a worker of a cluster."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from orthonmf.engine.checksums import add_bits
from orthonmf.engine.dask.failures import failures_in
from orthonmf.engine.dask.recipes import follow
from orthonmf.engine.executors import Work, one_blas_thread
from orthonmf.engine.kernels.interface import Kernel
from orthonmf.engine.sources import kernel_of, working_dtype
from orthonmf.errors import InvalidInputError, OrthoNMFError
from orthonmf.typing import Array

# A task brings back no more than this and one result: small sums of many blocks, large ones alone.
MOST_BYTES_BACK = 2**25


@dataclass(frozen=True, slots=True)
class ExpectedBlock:
    """What a block must be; one way to read it, so that its bits are the same everywhere."""

    rows: slice  # of X
    n_columns: int
    dtype: np.dtype  # the working one
    sparse: bool | None  # None while nobody has looked at a block yet
    checked: Callable[[Any], Array | csr_array]  # refuses what is no matrix of real numbers

    def read(self, computed: Any) -> Array | csr_array:
        """The rows that Dask has computed, C-ordered or CSR, aligned, in the working dtype."""
        place = f"rows {self.rows.start}:{self.rows.stop} of X"
        shape = getattr(computed, "shape", None)
        promised = (self.rows.stop - self.rows.start, self.n_columns)
        if shape != promised:
            raise InvalidInputError(
                f"{place} have shape {shape}, but the chunks of X promise {promised}; see "
                "X.compute_chunk_sizes()"
            )
        try:
            rows = self.checked(computed)
        except OrthoNMFError as error:
            raise type(error)(f"{place}, counted from their first: {error}") from error
        sparse = not isinstance(rows, np.ndarray)
        first = sparse if self.sparse is None else self.sparse
        wide = working_dtype(rows.dtype).itemsize > self.dtype.itemsize
        if wide or sparse != first:
            raise InvalidInputError(
                f"{place} are {_kind(sparse)} of dtype {rows.dtype}, but X is {_kind(first)} of "
                f"dtype {self.dtype}; bring all blocks to one kind with X.map_blocks"
            )
        if isinstance(rows, np.ndarray):
            return _align(rows, self.dtype)
        parts = (_align(rows.data, self.dtype), _align(rows.indices), _align(rows.indptr))
        return csr_array(parts, shape=rows.shape)


def _kind(sparse: bool) -> str:
    return "sparse" if sparse else "dense"


def _align(values: Array, dtype: np.dtype | None = None) -> Array:
    """C-ordered values that begin at a multiple of their item size.

    What comes over a network may begin at any byte, and NumPy adds such values in another order.
    """
    return np.require(values, dtype=dtype, requirements=("C_CONTIGUOUS", "ALIGNED"))


@dataclass(frozen=True, slots=True)
class BlockTask:
    """What a task needs to know of one of its blocks.

    Keywords travel as pickled bytes: arrays unpacked from those are aligned, and Dask does not
    search them for collections.
    """

    expected: ExpectedBlock
    slices: bytes  # keywords of this block
    recipe: bytes | None = None  # how the block is made; None where Dask hands it over


def work_on_blocks(
    work: Work, blocks: list[BlockTask], shared: bytes, *computed: Any
) -> list[tuple[Any, int]]:
    """The results of some work on some blocks, one after the other, each with its added bits.

    Blocks without a recipe are ``computed`` already. Ends early once results are many bytes: there
    is at least one of them, and the blocks of the others are to be asked for again.
    """
    work = replace(work, shared=pickle.loads(shared))
    results: list[tuple[Any, int]] = []
    size = 0
    for number, block in enumerate(blocks):
        if size > MOST_BYTES_BACK:
            break
        with failures_in(block.expected.rows):
            made = computed[number] if block.recipe is None else follow(block.recipe)
            rows = block.expected.read(made)
            with one_blas_thread():
                result = work.run(kernel_of(rows), rows, pickle.loads(block.slices))
            results.append((result, add_bits(rows)))
        size += bytes_of(result)
    return results


def bytes_of(result: Any) -> int:
    """How many bytes a result takes on its way back; its arrays are not copied for that."""
    arrays: list[pickle.PickleBuffer] = []
    rest = pickle.dumps(result, protocol=5, buffer_callback=arrays.append)
    return len(rest) + sum(array.raw().nbytes for array in arrays)


def describe_block(kernel: Kernel[Any], rows: Array | csr_array) -> tuple[bool, int]:
    """Whether a block is sparse, and how many entries it stores."""
    return not isinstance(rows, np.ndarray), int(rows.size)
