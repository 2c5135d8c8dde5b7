"""Who works on the blocks: one thread, or several that share a queue of block numbers.

Results reach ``absorb`` in block order whatever the executor, so that sums of floating point
numbers come out equal bit for bit for any number of workers.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import contextmanager
from typing import Any, Protocol

from threadpoolctl import ThreadpoolController

Task = Callable[[int], Any]
Absorb = Callable[[int, Any], None]


class Executor(Protocol):
    """Runs a task once for every block and passes the results on in block order."""

    def fold(self, task: Task, n_blocks: int, absorb: Absorb) -> None:
        """Call ``absorb(b, task(b))`` for b = 0, 1, ... in this order."""


class Serial:
    """One block after the other, in the calling thread."""

    def fold(self, task: Task, n_blocks: int, absorb: Absorb) -> None:
        """Call ``absorb(b, task(b))`` for b = 0, 1, ... in this order."""
        with one_blas_thread():
            for index in range(n_blocks):
                absorb(index, task(index))


class Threads:
    """Several threads that take block numbers from one queue; the caller is one of them.

    NumPy and SciPy release the interpreter lock in everything that costs time here.
    """

    def __init__(self, n_threads: int) -> None:
        self.n_threads = n_threads

    def fold(self, task: Task, n_blocks: int, absorb: Absorb) -> None:
        """Call ``absorb(b, task(b))`` for b = 0, 1, ... in this order."""
        n_helpers = min(self.n_threads, n_blocks) - 1
        if n_helpers < 1:
            Serial().fold(task, n_blocks, absorb)
            return
        queue = _OrderedWork(task, n_blocks, absorb)
        with one_blas_thread():
            helpers = [_pool(self.n_threads).submit(queue.work) for _ in range(n_helpers)]
            try:
                queue.work()
            except BaseException as error:  # an interrupt must not leave helpers at work
                queue.fail(error)
            finally:
                wait(helpers)
        if queue.failure is not None:
            raise queue.failure


class _OrderedWork:
    """Hands out block numbers and absorbs finished blocks in order."""

    def __init__(self, task: Task, n_blocks: int, absorb: Absorb) -> None:
        self._task, self._absorb, self._n_blocks = task, absorb, n_blocks
        self._lock = threading.Lock()
        self._next_block = 0
        self._next_absorbed = 0
        self._finished: dict[int, Any] = {}
        self.failure: BaseException | None = None

    def work(self) -> None:
        while (index := self._take()) is not None:
            try:
                result = self._task(index)
                with self._lock:
                    self._finished[index] = result
                    while self._next_absorbed in self._finished:
                        done = self._finished.pop(self._next_absorbed)
                        self._absorb(self._next_absorbed, done)
                        self._next_absorbed += 1
            except Exception as error:
                self.fail(error)

    def _take(self) -> int | None:
        with self._lock:
            if self.failure is not None or self._next_block == self._n_blocks:
                return None
            self._next_block += 1
            return self._next_block - 1

    def fail(self, error: BaseException) -> None:
        self.failure = self.failure or error


def executor_for(n_jobs: int | None) -> Executor:
    """The executor for ``n_jobs`` threads; None means every core this process may use."""
    n_threads = available_cores() if n_jobs is None else n_jobs
    return Serial() if n_threads == 1 else Threads(n_threads)


def available_cores() -> int:
    """How many cores this process may run on."""
    if hasattr(os, "sched_getaffinity"):
        return max(1, len(os.sched_getaffinity(0)))
    return os.cpu_count() or 1


_pools: dict[int, ThreadPoolExecutor] = {}


def _pool(n_threads: int) -> ThreadPoolExecutor:
    """A pool that outlives the fit: starting threads costs more than a small sweep."""
    if n_threads not in _pools:
        _pools[n_threads] = ThreadPoolExecutor(n_threads, thread_name_prefix="orthant")
    return _pools[n_threads]


class _BlasLimit:
    """Holds BLAS at one thread while any fit runs, and restores it after the last one.

    The controller is built once: finding the libraries takes milliseconds, entering a limit
    with a ready controller a hundredth of that.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._users = 0
        self._controller: ThreadpoolController | None = None
        self._limit: Any = None

    def enter(self) -> None:
        with self._lock:
            if self._users == 0:
                self._controller = self._controller or ThreadpoolController()
                self._limit = self._controller.limit(limits=1, user_api="blas")
            self._users += 1

    def leave(self) -> None:
        with self._lock:
            self._users -= 1
            if self._users == 0:
                self._limit.restore_original_limits()
                self._limit = None


_blas_limit = _BlasLimit()


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Keep BLAS at one thread inside; blocks are what runs in parallel."""
    _blas_limit.enter()
    try:
        yield
    finally:
        _blas_limit.leave()


def _forget_threads() -> None:
    """After a fork the child has none of the parent's threads: start anew there."""
    global _blas_limit
    _pools.clear()
    _blas_limit = _BlasLimit()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_threads)
