"""Where the rows lie: a source hands out blocks of rows and owns their boundaries.

Blocks come in a form that the kernel of the source decodes: of the sources here C-ordered
(or as CSR), in float32 or float64, in native byte order.

Boundaries follow from the shape, the item size and, for sparse data, the number of entries: never
from the number of threads or a memory budget. That is what makes results equal bit for bit
whoever works on the blocks.
"""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.sparse import csr_array, vstack

from orthonmf.engine.checksums import Checksums, digest_bytes
from orthonmf.engine.kernels.dense import DENSE
from orthonmf.engine.kernels.interface import Kernel
from orthonmf.engine.kernels.sparse import SPARSE
from orthonmf.errors import InvalidInputError
from orthonmf.typing import Array

if TYPE_CHECKING:
    from orthonmf.engine.executors import Executor

# A block should be large enough to hide the cost of handing it to a thread and small enough that
# the products of one block stay in cache while the next step reads them.
FEWEST_ENTRIES = 2**19
MOST_ENTRIES = 2**23
MOST_ROWS = 2**14
BLOCKS_WANTED = 16
FEWEST_SPARSE_ENTRIES = 2**18
SPARSE_ENTRIES = 2**20
MOST_BYTES_TO_COPY = 2**28
# Fewer rows of a block than this are read one by one.
FEW_ROWS = 8


class Source(ABC):
    """What the engine needs to know about a matrix."""

    kernel: Kernel[Any]  # what reads the blocks
    shape: tuple[int, int]
    dtype: np.dtype
    n_entries: int  # how many numbers one pass reads
    boundaries: Array  # (blocks + 1,), block b holds rows boundaries[b] up to boundaries[b + 1]
    in_memory = False  # whether single rows can be had without reading blocks from disk
    elsewhere = False  # whether only passes reach the rows: fetching some costs a pass of its own
    can_transpose = False  # whether its columns can be read as rows, again and again

    @abstractmethod
    def block(self, index: int) -> Any:
        """Rows of one block, in the form that the kernel decodes (`Kernel.scale`)."""

    @abstractmethod
    def take(self, rows: Array | slice) -> Array | csr_array:
        """Some rows in the order asked for, as an array or CSR array in memory on the host."""

    def rows(self, indices: Array) -> Array:
        """Some rows as a dense float64 array."""
        return to_dense(self.take(indices))

    def own_executor(self, n_threads: int) -> Executor | None:
        """Who works on blocks that lie on a cluster, and by threads on others; None elsewhere."""
        return None

    def transpose(self, many_passes: bool = True) -> Source | None:
        """A source whose rows are the columns; None where its passes would be slow.

        That is a matrix on disk, or, unless one pass is all that is wanted, an array too large
        to be copied.
        """
        return None


def block_rows(source: Source, index: int) -> slice:
    """The rows that a block holds."""
    return slice(int(source.boundaries[index]), int(source.boundaries[index + 1]))


def working_dtype(dtype: np.dtype) -> np.dtype:
    """Float32, in any byte order, stays float32; every other real type becomes float64."""
    return np.dtype(np.float32 if dtype.kind == "f" and dtype.itemsize == 4 else np.float64)


class ArraySource(Source):
    """Rows of an array in memory or of a memory map, in any order of storage."""

    kernel = DENSE

    def __init__(self, array: Array) -> None:
        self._array = array
        self.n_entries = array.shape[0] * array.shape[1]
        self.in_memory = not isinstance(array, np.memmap)
        self.shape = (int(array.shape[0]), int(array.shape[1]))
        self.dtype = working_dtype(array.dtype)
        self.boundaries = dense_boundaries(*self.shape)
        self.can_transpose = self.in_memory and array.nbytes <= MOST_BYTES_TO_COPY
        # Others may write to a file; what is in memory is the caller's to keep.
        self._checksums = None if self.in_memory else Checksums()

    def block(self, index: int) -> Array:
        """Rows of one block; a copy only where order or dtype asks for one."""
        span = block_rows(self, index)
        rows = np.ascontiguousarray(np.asarray(self._array[span]), dtype=self.dtype)
        if self._checksums is not None:
            self._checksums.check_rows(span.start, rows)
        return rows

    def take(self, rows: Array | slice) -> Array:
        return np.asarray(self._array[rows])

    def transpose(self, many_passes: bool = True) -> ArraySource | None:
        """The columns as rows: a copy while that is small, else a view for a single pass."""
        if not self.in_memory or (many_passes and not self.can_transpose):
            return None
        flipped = self._array.T
        return ArraySource(np.ascontiguousarray(flipped) if self.can_transpose else flipped)


class SlicedSource(Source):
    """Rows of anything with a shape, a dtype and slices of rows: HDF5, zarr and their like.

    Unpacking a block may cost many times what a pass computes of it, so the first blocks are kept,
    until they take the room there is. (Passes read all blocks in the same order again and again:
    throwing out what was used longest ago would throw out every block just before it is wanted.)
    """

    kernel = DENSE

    def __init__(self, stored: Any) -> None:
        self._stored = stored
        self.shape = (int(stored.shape[0]), int(stored.shape[1]))
        self.n_entries = self.shape[0] * self.shape[1]
        self.dtype = working_dtype(stored.dtype)
        self.boundaries = dense_boundaries(*self.shape)
        self._checksums = Checksums()
        self.kept: dict[int, Array] = {}
        self.room = 0  # bytes that further blocks may take
        self._lock = threading.Lock()

    def block(self, index: int) -> Array:
        """Rows of one block, kept or read from where they are stored."""
        if index in self.kept:
            return self.kept[index]
        rows = block_rows(self, index)
        content = self._read(rows)
        with self._lock:
            if content.nbytes <= self.room:
                self.room -= content.nbytes
                # A store may hand out a view of what is its own.
                self.kept[index] = content if content.flags.owndata else content.copy()
                return self.kept[index]
        self._checksums.check_rows(rows.start, content)
        return content

    def _read(self, rows: slice) -> Array:
        content = np.asarray(self._stored[rows])
        if content.shape != (rows.stop - rows.start, self.shape[1]):
            raise InvalidInputError(
                f"X[{rows.start}:{rows.stop}] has shape {content.shape}, but X has shape "
                f"{self.shape}"
            )
        return np.ascontiguousarray(content, dtype=self.dtype)

    def take(self, rows: Array | slice) -> Array:
        """Some rows: whole blocks are read where many of their rows are wanted."""
        indices = np.arange(self.shape[0])[rows]
        picked = np.empty((len(indices), self.shape[1]), self.dtype)
        places = np.searchsorted(self.boundaries, indices, side="right") - 1
        for number in np.unique(places):
            wanted = np.flatnonzero(places == number)
            if len(wanted) > FEW_ROWS or number in self.kept:
                picked[wanted] = self.block(number)[indices[wanted] - self.boundaries[number]]
                continue
            for place in wanted:
                row = int(indices[place])
                picked[place] = np.asarray(self._stored[row : row + 1])[0]
        return picked


class CsrSource(Source):
    """Rows of a CSR array with 32- or 64-bit indices; values are held as floats."""

    kernel = SPARSE
    in_memory = can_transpose = True

    def __init__(self, matrix: csr_array) -> None:
        self.shape = (int(matrix.shape[0]), int(matrix.shape[1]))
        self.dtype = working_dtype(matrix.data.dtype)
        values = np.asarray(matrix.data, dtype=self.dtype)
        self._matrix = csr_array((values, matrix.indices, matrix.indptr), shape=self.shape)
        self.n_entries = int(self._matrix.nnz)
        self.boundaries = sparse_boundaries(self._matrix.indptr)
        self._blocks = [self._view(index) for index in range(len(self.boundaries) - 1)]

    def _view(self, index: int) -> csr_array:
        start, stop = self.boundaries[index], self.boundaries[index + 1]
        indptr = self._matrix.indptr[start : stop + 1]
        entries = slice(indptr[0], indptr[-1])
        parts = (self._matrix.data[entries], self._matrix.indices[entries], indptr - indptr[0])
        return csr_array(parts, shape=(stop - start, self.shape[1]))

    def block(self, index: int) -> csr_array:
        return self._blocks[index]

    def take(self, rows: Array | slice) -> csr_array:
        return self._matrix[rows]

    def transpose(self, many_passes: bool = True) -> CsrSource:
        return CsrSource(self._matrix.T.tocsr())


def kernel_of(rows: Array | csr_array) -> Kernel[Any]:
    """What reads an array or CSR array."""
    return DENSE if isinstance(rows, np.ndarray) else SPARSE


def stack(blocks: list[Any]) -> Array | csr_array:
    """Arrays, or CSR arrays, below each other."""
    if len(blocks) == 1:
        return blocks[0]
    if isinstance(blocks[0], np.ndarray):
        return np.concatenate(blocks)
    return vstack(blocks, format="csr")


def to_dense(rows: Array | csr_array) -> Array:
    """Rows as a dense float64 array."""
    dense = rows if isinstance(rows, np.ndarray) else rows.toarray()
    return dense.astype(np.float64, copy=False)


def digest_rows(rows: Array | csr_array) -> str:
    """A digest of an array or a CSR array, its shape and its dtype."""
    arrays: tuple[Array, ...] = (rows,)
    if not isinstance(rows, np.ndarray):
        arrays = (rows.data, rows.indices, rows.indptr)
    about = repr((rows.shape, str(rows.dtype))).encode()
    return digest_bytes(about, *map(np.ascontiguousarray, arrays)).hex()


def in_memory(rows: Array | csr_array) -> ArraySource | CsrSource:
    """The source of an array or CSR array."""
    return ArraySource(rows) if isinstance(rows, np.ndarray) else CsrSource(rows)


def dense_boundaries(n_rows: int, n_columns: int) -> Array:
    """Block boundaries of a dense matrix of this shape."""
    fewest = max(1, FEWEST_ENTRIES // max(n_columns, 1))
    most = max(1, min(MOST_ROWS, MOST_ENTRIES // max(n_columns, 1)))
    size = int(np.clip(-(-n_rows // BLOCKS_WANTED), min(fewest, most), most))
    n_blocks = max(1, -(-n_rows // size))
    return np.linspace(0, n_rows, n_blocks + 1).astype(np.int64)


def sparse_boundaries(indptr: Array) -> Array:
    """Block boundaries that give every block about the same number of entries."""
    n_rows, n_entries = len(indptr) - 1, int(indptr[-1])
    fewest = 1 if n_entries < FEWEST_SPARSE_ENTRIES else 2
    n_blocks = min(max(1, n_rows), max(fewest, -(-n_entries // SPARSE_ENTRIES)))
    wanted = np.arange(1, n_blocks) * (n_entries / n_blocks)
    inner = np.searchsorted(indptr, wanted)
    return np.unique(np.concatenate(([0], inner, [n_rows]))).astype(np.int64)
