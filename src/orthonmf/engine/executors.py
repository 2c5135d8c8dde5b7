"""Who works on the blocks, in how many threads, and what a pass sends there.

Results reach ``absorb`` in block order whatever the executor, so that sums of floating point
numbers come out equal bit for bit for any number of workers. BLAS is held at one thread meanwhile.
"""

from __future__ import annotations

import os
import threading
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import numpy as np
import scipy.linalg  # noqa: F401  (loads SciPy's own BLAS, so that the limit finds it)
from threadpoolctl import ThreadpoolController

from orthonmf.engine.kernels.interface import Kernel
from orthonmf.engine.memory import available_memory
from orthonmf.engine.sources import SlicedSource, Source, block_rows
from orthonmf.errors import InvalidInputError

# A block, a copy in the working dtype, and what is computed from it on the way.
COPIES_OF_A_BLOCK = 3
# So many blocks for every thread are at work or waiting for one.
BLOCKS_AHEAD = 2
# Of the memory that is free one part in so many is for blocks that are kept.
PART_OF_MEMORY = 4

Operation = str | Callable[..., Any]  # a method of the kernel by its name, or a function
Absorb = Callable[[slice, Any], None]


@dataclass(frozen=True, slots=True)
class Work:
    """What a pass does with a block.

    Rows are divided by ``2**exponent`` first; a function gets the kernel as well. Nothing is
    captured: small arrays go to every block, and of what has one entry per row a block gets its
    own part. So a block can be worked on by any thread, process or machine that can read its rows.
    """

    operation: Operation
    shared: Mapping[str, Any] = field(default_factory=dict)
    by_row: Mapping[str, Any] = field(default_factory=dict)  # None, or sliced by rows
    exponent: int = 0
    prepare: Callable[[Any], Any] | None = None  # what is made of a block before all else

    def slices(self, rows: slice) -> dict[str, Any]:
        """The keywords that belong to these rows."""
        return {
            name: None if values is None else values[rows] for name, values in self.by_row.items()
        }

    def run(self, kernel: Kernel[Any], rows: Any, slices: Mapping[str, Any]) -> Any:
        """The result for a block of rows as they are stored, with the keywords that are theirs."""
        if self.prepare is not None:
            rows = self.prepare(rows)
        rows = kernel.scale(rows, self.exponent)
        if isinstance(self.operation, str):
            return getattr(kernel, self.operation)(rows, **self.shared, **slices)
        return self.operation(kernel, rows, **self.shared, **slices)


class Executor:
    """Threads work on blocks, the calling one if it is alone; results are taken in block order.

    NumPy and SciPy release the interpreter lock in everything that costs time here. To a device
    the calling thread hands out one block after the other, which have room there. An executor of
    another kind overrides `fold`.
    """

    def __init__(self, n_threads: int = 1) -> None:
        self.n_threads = n_threads

    def fold(self, source: Source, work: Work, absorb: Absorb) -> None:
        """Call ``absorb(rows, result)`` once for every block, the first block first."""

        def run(rows: slice, index: int) -> Any:
            return work.run(source.kernel, source.block(index), work.slices(rows))

        spans = [block_rows(source, index) for index in range(len(source.boundaries) - 1)]
        # A block may be made by a fit of its own, which must not wait for threads that wait for it.
        alone = min(self.n_threads, len(spans)) < 2 or hasattr(_this_thread, "works_on_blocks")
        if alone or source.kernel.on_device:
            with one_blas_thread(), source.kernel.errors():
                for index, rows in enumerate(spans):
                    absorb(rows, run(rows, index))
            return
        pool, ahead = _pool(self.n_threads), BLOCKS_AHEAD * self.n_threads
        sent: deque[Future[Any]] = deque()
        with one_blas_thread():
            try:
                for index, rows in enumerate(spans):
                    for later in range(index + len(sent), min(index + ahead, len(spans))):
                        sent.append(pool.submit(run, spans[later], later))
                    absorb(rows, sent[0].result())
                    sent.popleft()
            finally:
                _end(sent)


def _end(sent: deque[Future[Any]]) -> None:
    """See that no thread is at work on any of these, through any number of interrupts."""
    for future in sent:
        future.cancel()
    while sent:
        try:
            wait(sent)
            sent.clear()
        except KeyboardInterrupt:  # there is one already, or an error, that ends the pass
            continue


def executor_for(source: Source, n_jobs: int | None, max_memory: int | None = None) -> Executor:
    """Who works on the blocks of a source.

    ``n_jobs`` threads, None for every core this process may use; fewer where that many blocks at
    once would take more than ``max_memory`` bytes. What those leave of it, or without a limit a
    share of the memory that is free, is for blocks that the source keeps between passes. On a
    cluster its workers and their memory decide instead, and threads work on what is brought here.
    """
    n_threads = available_cores() if n_jobs is None else n_jobs
    own = source.own_executor(n_threads)
    if own is not None:
        return own
    if source.kernel.on_device:
        return Executor(n_threads)
    share = np.diff(source.boundaries).max() / source.shape[0]
    bytes_of_entry = source.dtype.itemsize + (8 if source.kernel.sparse else 0)
    needed = int(source.n_entries * share * bytes_of_entry * COPIES_OF_A_BLOCK)
    if max_memory is not None:
        if needed > max_memory:
            raise InvalidInputError(
                f"max_memory is {max_memory:,} bytes, but one block of rows takes up to {needed:,}"
            )
        n_threads = min(n_threads, max_memory // needed)
    if isinstance(source, SlicedSource):
        free = available_memory() // PART_OF_MEMORY
        source.room = free if max_memory is None else max_memory - n_threads * needed
    return Executor(n_threads)


def available_cores() -> int:
    """How many cores this process may run on."""
    if hasattr(os, "sched_getaffinity"):
        return max(1, len(os.sched_getaffinity(0)))
    return os.cpu_count() or 1


_this_thread = threading.local()


@cache
def _pool(n_threads: int) -> ThreadPoolExecutor:
    """A pool that outlives the fit: starting threads costs more than a small sweep."""
    mark = (_this_thread, "works_on_blocks", True)
    return ThreadPoolExecutor(n_threads, "orthonmf", setattr, mark)


class _BlasLimit:
    """Holds BLAS at one thread while anything of ours computes; the last one restores it.

    The count of threads belongs to the process, but threadpoolctl lets only the thread that set
    it first change it again, and ignores all others in silence. Fits begin and end in any thread
    and any order, so control is taken from whoever has it, and given up, for each change. The limit
    is looked at on every entry: what others did to the count meanwhile lasts until our next pass,
    and gives way to the count from before when the last one leaves.
    """

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._users = 0
        self._libraries: list[Any] = []  # found once: that takes milliseconds
        self._before: list[int] = []

    def enter(self) -> None:
        with self._lock:
            if not self._libraries:
                controller = ThreadpoolController().select(user_api="blas")
                self._libraries = list(controller.lib_controllers)
            if self._users == 0:
                self._before = [library.get_num_threads() for library in self._libraries]
            self._users += 1
            try:
                self._set([1] * len(self._libraries))
            except BaseException:
                self.leave()
                raise

    def leave(self) -> None:
        with self._lock:
            self._users -= 1
            if self._users == 0:
                self._set(self._before)

    def end_in_child(self) -> None:
        """After a fork no thread of the parent goes on here, and its limit is not ours."""
        self._lock = threading.RLock()
        if self._users > 0:
            self._set(self._before)

    def _set(self, counts: list[int]) -> None:
        for library, count in zip(self._libraries, counts, strict=True):
            if library.get_num_threads() != count:
                # Older versions of threadpoolctl know no control.
                give_up = getattr(library, "clear_controlling_thread", lambda force: None)
                give_up(force=True)
                library.set_num_threads(count)
                give_up(force=True)


_blas_limit = _BlasLimit()


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Keep BLAS at one thread inside; blocks are what runs in parallel."""
    limit = _blas_limit  # the one that is entered is left, also in a forked child
    limit.enter()
    try:
        yield
    finally:
        limit.leave()


def _forget_threads() -> None:
    """After a fork the child has none of the parent's threads: start again there."""
    global _blas_limit
    _pool.cache_clear()
    _blas_limit.end_in_child()
    _blas_limit = _BlasLimit()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_threads)
