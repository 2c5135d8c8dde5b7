"""What one Dask scheduler and one client cost.

Passes over many tiny blocks, on many workers that live in this process or on a few processes. A
block has next to no numbers, so what a pass takes is bookkeeping: of the scheduler, of the client
and, where they live in this process, of the workers, all under one interpreter lock. Every case is
done twice: each block in a task of its own, and several blocks in one task.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import numpy as np

from benchmarks.places import local_cluster
from benchmarks.rows import Row, guard, measure
from orthonmf.engine.executors import Work, executor_for
from orthonmf.inputs.data import as_source

ROWS, M, K = 4, 100, 10
CLUSTERS = ((2, False), (16, False), (64, False), (2, True))  # workers, each in its own process


def scheduler(tiny: bool) -> Iterator[Row]:
    """Figures of a pass for every cluster, and for one or several blocks to a task."""
    for n_workers, processes in CLUSTERS[:1] if tiny else CLUSTERS:
        case = f"{n_workers} workers, {'processes' if processes else 'in process'}"
        for most in (1, None):
            yield guard(case, measure, time_pass, n_workers, processes, 20 if tiny else 1000, most)


def time_pass(n_workers: int, processes: bool, n_blocks: int, most: int | None) -> Row:
    """The fewest milliseconds of three passes with so many blocks to a task, or the usual ones."""
    import dask
    import dask.array as da
    import distributed

    from orthonmf.engine.dask import executor

    if most is not None:
        executor.MOST_BLOCKS = most
    make = dask.delayed(make_block, pure=True)
    blocks = [da.from_delayed(make(number), (ROWS, M), float) for number in range(n_blocks)]
    with local_cluster(n_workers, processes) as cluster, distributed.Client(cluster) as client:
        source = as_source(da.concatenate(blocks))
        per_task = executor.blocks_per_task(source, sum(client.nthreads().values()))
        wall, process, thread = 1e3 * np.min([seconds_of_pass(source) for _ in range(3)], axis=0)
    return {
        "blocks_to_a_task": per_task, "tasks": -(-n_blocks // per_task), "ms": wall,
        "cpu_ms_here": process, "of_the_caller": thread,
    }  # fmt: skip


def make_block(start: int) -> np.ndarray:
    """A few rows that are not all the same."""
    return np.full((ROWS, M), 1.0 + start % 7)


def seconds_of_pass(source: Any) -> np.ndarray:
    """Seconds of what a sweep does, k x m sums of every block: as `now` tells them."""
    shared = {"directions": np.ones((K, M)), "offsets": None, "by_row": True}
    total, began = np.zeros((K, M)), now()

    def absorb(rows: slice, block: Any) -> None:
        np.add(total, block.sums, out=total)

    executor_for(source, 1).fold(source, Work("sweep", shared), absorb)
    return now() - began


def now() -> np.ndarray:
    """Seconds on the wall, and processor seconds of this process and of this thread."""
    return np.array([time.perf_counter(), time.process_time(), time.thread_time()])
