"""What one Dask scheduler and one client cost: `python -m benchmarks scheduler`.

Passes over many tiny blocks, on many workers that live in this process or on a few processes. A
block has next to no numbers, so what a pass takes is bookkeeping: of the scheduler, of the client
and, where they live in this process, of the workers, all under one interpreter lock. Every case is
done twice: each block in a task of its own, and several blocks in one task.
"""

import argparse
import time

import dask
import dask.array as da
import distributed
import numpy as np

from orthonmf.engine.dask import executor
from orthonmf.engine.executors import Work, executor_for
from orthonmf.inputs.data import as_source

ROWS, M = 4, 100


def make_block(start):
    """A few rows that are not all the same."""
    return np.full((ROWS, M), 1.0 + start % 7)


def tiny_blocks(n_blocks):
    """A Dask array of blocks that cost nothing to make."""
    make = dask.delayed(make_block, pure=True)
    parts = [da.from_delayed(make(number), (ROWS, M), float) for number in range(n_blocks)]
    return da.concatenate(parts)


def sweep_of(k):
    """What a sweep with k directions does with a block: k x m sums come back."""
    directions = np.ones((k, M))
    shared = {"directions": directions, "offsets": None, "disjoint": False, "by_row": True}
    return Work("sweep", shared)


def seconds_of(source, work, n_passes):
    """The fewest seconds of some passes: on the wall, of this process, of this thread."""
    taken = []
    for _ in range(n_passes):
        total = np.zeros((len(work.shared["directions"]), M))

        def absorb(rows, block):
            nonlocal total
            total = total + block.sums

        began = now()
        executor_for(source, 1).fold(source, work, absorb)
        taken.append(now() - began)
    return np.min(taken, axis=0)


def now():
    """Seconds on the wall, and processor seconds of this process and of this thread."""
    return np.array([time.perf_counter(), time.process_time(), time.thread_time()])


def measure(cluster, n_blocks, k, n_passes):
    """One line for a task to every block and one for larger tasks: figures of a pass."""
    usual = executor.MOST_BLOCKS
    with cluster, distributed.Client(cluster) as client:
        source = as_source(tiny_blocks(n_blocks))
        n_threads = sum(client.nthreads().values())
        for most in (1, usual):
            executor.MOST_BLOCKS = most
            per_task = executor.blocks_per_task(source, n_threads)
            wall, process, thread = 1e3 * seconds_of(source, sweep_of(k), n_passes)
            yield per_task, -(-n_blocks // per_task), wall, process, thread
    executor.MOST_BLOCKS = usual


def main(arguments=None):
    """Measure and print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--workers", type=int, nargs="+", default=[2, 16, 64])
    parser.add_argument("--processes", type=int, nargs="*", default=[2])
    parser.add_argument("--blocks", type=int, default=1000)
    parser.add_argument("--components", type=int, default=10)
    parser.add_argument("--passes", type=int, default=3)
    given = parser.parse_args(arguments)
    print("| workers | blocks to a task | tasks | ms a pass | CPU ms here | of the caller |")
    print("|---|---:|---:|---:|---:|---:|")
    cases = [(count, False) for count in given.workers]
    for n_workers, processes in cases + [(count, True) for count in given.processes]:
        options = {"host": "127.0.0.1"} if processes else {}
        cluster = distributed.LocalCluster(
            n_workers=n_workers,
            threads_per_worker=1,
            processes=processes,
            dashboard_address=None,
            memory_limit=0,
            **options,
        )
        where = "processes" if processes else "in process"
        for figures in measure(cluster, given.blocks, given.components, given.passes):
            cells = " | ".join(f"{figure:,.0f}" for figure in figures)
            print(f"| {n_workers}, {where} | {cells} |")
