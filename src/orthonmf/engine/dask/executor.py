"""A Dask cluster as an executor: blocks stay where they are, small results come back in order.

A fit waits for the cluster as long as it takes, and warns of one without workers.
"""

from __future__ import annotations

import sys
import uuid
import warnings
from collections import deque
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from typing import Any

from orthonmf.engine.dask.blocks import BlockTask, work_on_blocks
from orthonmf.engine.dask.failures import failures_in, report_killed
from orthonmf.engine.executors import Absorb, Executor, Work
from orthonmf.engine.sources import Source, block_rows
from orthonmf.errors import InvalidInputError, NoWorkersWarning
from orthonmf.extras import import_extra

# For every thread of the cluster one task at work and one waiting; results take memory too.
IN_FLIGHT_PER_THREAD = 2
FEWEST_IN_FLIGHT = 8
# A task costs milliseconds whatever it does, so it works on several blocks; a thread has several
# tasks in a pass, so that the fast wait little for the slow; and what is lost with a worker is few.
TASKS_PER_THREAD = 2
MOST_BLOCKS = 64
# What goes to every block travels with the tasks of a pass up to so many bytes in all.
MOST_BYTES_WITH_TASKS = 2**20
# Reading a file or an object store may fail now and then.
RETRIES = 2
# Seconds between two looks at a cluster that has not answered yet; at every second one without
# workers there is a warning.
BETWEEN_LOOKS = 30.0
# Dask warns of large graphs and advises to scatter, after which a lost worker loses the fit.
QUIET = {"distributed.admin.large-graph-warning-threshold": "1 TiB"}


def current_client() -> Any:
    """The Dask client in force, None where there is none."""
    distributed = sys.modules.get("distributed")  # who has a client has imported it
    if distributed is None:
        return None
    try:
        client = distributed.Client.current()
    except ValueError:
        return None
    if client.asynchronous:
        raise InvalidInputError(
            "the current Dask client is asynchronous, but a fit waits for its results; connect "
            "with Client(address) and without asynchronous=True"
        )
    return client


class DaskExecutor(Executor):
    """Sends work to the blocks of a Dask array; on what is in this process threads work.

    Nothing is scattered: whatever a worker holds when it dies can be computed again.
    """

    def __init__(self, client: Any, n_threads: int) -> None:
        super().__init__(n_threads)
        self._client = client

    def fold(self, source: Source, work: Work, absorb: Absorb) -> None:
        """Call ``absorb(rows, result)`` once for every block, the first block first."""
        if not source.elsewhere:
            super().fold(source, work, absorb)
            return
        sent = _Pass(self._client, source, work)
        try:
            for index, result in enumerate(sent.results()):
                absorb(block_rows(source, index), result)
        finally:
            sent.end()


class _Pass:
    """One pass over all blocks; few tasks are ahead of the result that is asked for."""

    def __init__(self, client: Any, source: Any, work: Work) -> None:
        self._dask = import_extra("dask", "dask")
        self._killed = import_extra("distributed", "dask").KilledWorker
        self._packed = import_extra("cloudpickle", "dask").dumps
        self._client, self._source, self._work = client, source, work
        n_threads = max(1, sum(client.nthreads().values()))
        self._most = max(FEWEST_IN_FLIGHT, IN_FLIGHT_PER_THREAD * n_threads)
        self._per_task = blocks_per_task(source, n_threads)
        self._in_flight: deque[tuple[range, Any]] = deque()  # blocks, and the future of their task
        self._sent = 0
        self._alone = 0  # blocks before this one are sent by themselves
        self._shared = self._share()

    def _share(self) -> Any:
        """What goes to every block: with every task, or by one that is computed again if lost."""
        packed, key = self._packed(self._work.shared), f"orthonmf-shared-{uuid.uuid4().hex}"
        if len(packed) * len(self._source.delayed) <= MOST_BYTES_WITH_TASKS * self._per_task:
            return packed
        with self._dask.config.set(QUIET):
            return self._client.submit(bytes, packed, key=key)

    def results(self) -> Iterator[Any]:
        """Those of all blocks, in order."""
        self._fill()
        while self._in_flight:
            blocks, future = self._in_flight[0]
            rows = self._source.expect(blocks.start).rows
            try:
                with failures_in(rows):
                    outcomes = await_result(self._client, future)
            except self._killed as error:
                if blocks.start < self._alone:
                    raise report_killed(error, rows) from error
                # All that waited on a worker when it died is suspected: alone, a block is judged
                # by what it does itself, and has the memory of the worker to itself.
                self._withdraw()
                self._sent, self._alone = blocks.start, blocks.stop
            else:
                self._in_flight.popleft()
                future.release()
                rest = blocks[len(outcomes) :]
                if rest:  # what a task left out is sent again
                    self._in_flight.appendleft((rest, *self._futures([rest])))
                for index, (result, bits) in zip(blocks, outcomes, strict=False):
                    self._source.check(index, bits)
                    yield result
            self._fill()

    def _fill(self) -> None:
        """See that enough blocks are at work, those of a group by one task."""
        groups: list[range] = []
        if self._sent < self._alone:
            if not self._in_flight:
                groups = [range(self._sent, self._sent + 1)]
        elif len(self._in_flight) <= self._most // 2:
            stop = len(self._source.delayed)
            starts = range(self._sent, stop, self._per_task)[: self._most - len(self._in_flight)]
            groups = [range(start, min(start + self._per_task, stop)) for start in starts]
        if groups:
            self._in_flight.extend(zip(groups, self._futures(groups), strict=True))
            self._sent = groups[-1].stop

    def _futures(self, groups: list[range]) -> list[Any]:
        name = f"orthonmf-block-{uuid.uuid4().hex}"
        alike = replace(self._work, shared={}, by_row={})  # those travel by themselves
        tasks = []
        for group in groups:
            job = partial(work_on_blocks, alike, [self._task(index) for index in group])
            made = [] if self._source.recipes else [self._source.delayed[index] for index in group]
            of_group = f"{name}-of-{group.start}"
            delayed = self._dask.delayed(job, name=of_group, pure=False, traverse=False)
            tasks.append(delayed(self._shared, *made, dask_key_name=(name, group.start)))
        with self._dask.config.set(QUIET):
            return self._client.compute(tasks, retries=RETRIES)

    def _task(self, index: int) -> BlockTask:
        slices = self._packed(self._work.slices(block_rows(self._source, index)))
        recipes = self._source.recipes
        recipe = None if recipes is None else recipes[index]
        return BlockTask(self._source.expect(index), slices, recipe)

    def _withdraw(self) -> None:
        """Take back everything in flight."""
        # A release would reach the scheduler after the block has been sent again, and has met its
        # old failure there; a cancellation arrives before.
        self._client.cancel(self._futures_left())
        self._in_flight.clear()
        self._shared = self._share()

    def _futures_left(self) -> list[Any]:
        shared = [] if isinstance(self._shared, bytes) else [self._shared]
        return [*(future for _, future in self._in_flight), *shared]

    def end(self) -> None:
        """Leave nothing behind on the cluster, also after an error or an interrupt."""
        for future in self._futures_left():
            future.release()


def blocks_per_task(source: Any, n_threads: int) -> int:
    """How many blocks one task works on: those that are made there, a few tasks for every thread.

    Results do not depend on it.
    """
    if source.recipes is None:
        return 1
    return max(1, min(MOST_BLOCKS, -(-len(source.delayed) // (TASKS_PER_THREAD * n_threads))))


def await_result(client: Any, future: Any) -> Any:
    """The result of a task, or its error.

    It is asked for when the task is done: Dask fetches results of several calls together, and one
    call that is broken off while it waits for them breaks off the next. Where the worker that had
    it is gone by then, Dask has the task done again.
    """
    without = 0
    while True:
        try:
            import_extra("distributed", "dask").wait([future], timeout=BETWEEN_LOOKS)
            break
        except TimeoutError:
            without = 0 if client.nthreads() else without + 1
            if without % 2:
                address = client.scheduler.address
                warnings.warn(
                    f"the Dask cluster at {address} has no workers, and the fit waits. Start some, "
                    f"for example with cluster.scale(2) or the command 'dask worker {address}'",
                    NoWorkersWarning,
                    stacklevel=2,
                )
    return future.result()
