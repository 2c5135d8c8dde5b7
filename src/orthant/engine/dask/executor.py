"""A Dask cluster as an executor: blocks stay where they are, small results come back in order."""

from __future__ import annotations

import sys
import uuid
from collections import deque
from typing import Any

from orthant.engine.dask.blocks import BlockTask
from orthant.engine.dask.chunks import Chunks
from orthant.engine.dask.failures import failure, killed
from orthant.engine.dask.waiting import Patience
from orthant.engine.executors import Absorb, Executor, Work
from orthant.engine.masked import FilledSource
from orthant.engine.sources import Source
from orthant.errors import InvalidInputError, NoWorkersError
from orthant.extras import import_extra

# For every thread of the cluster one block at work and one waiting; results take memory too.
BLOCKS_PER_THREAD = 2
FEWEST_IN_FLIGHT = 8
# Reading a file or an object store may fail now and then.
RETRIES = 2
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


class DaskExecutor:
    """Sends work to the blocks of a Dask array; what is in this process a local executor does.

    Nothing is scattered: whatever a worker holds when it dies can be computed again.
    """

    def __init__(self, client: Any, local: Executor) -> None:
        self._client, self._local = client, local

    def fold(self, source: Source, work: Work, absorb: Absorb) -> None:
        """Call ``absorb(rows, result)`` once for every block, the first block first."""
        if isinstance(source, FilledSource):
            source, work = source.with_gaps(work)
        if not isinstance(source, Chunks):
            self._local.fold(source, work, absorb)
            return
        results = _Pass(self._client, source, work)
        try:
            for index in range(source.n_blocks):
                absorb(source.span(index), results.next())
        finally:
            results.end()


class _Pass:
    """The results of one pass, asked for one after the other; few blocks are ahead of that."""

    def __init__(self, client: Any, chunks: Chunks, work: Work) -> None:
        self._dask = import_extra("dask", "dask")
        self._killed = import_extra("distributed", "dask").KilledWorker
        self._packed = import_extra("cloudpickle", "dask").dumps
        self._client, self._chunks, self._work = client, chunks, work
        self._patience = Patience(client)
        self._most = max(FEWEST_IN_FLIGHT, BLOCKS_PER_THREAD * sum(client.nthreads().values()))
        self._in_flight: deque[Any] = deque()
        self._sent = 0
        self._shared = self._share()

    def _share(self) -> Any:
        """One task that holds what goes to every block: sent once, computed again if lost."""
        packed, key = self._packed(self._work.shared), f"orthant-shared-{uuid.uuid4().hex}"
        with self._dask.config.set(QUIET):
            return self._client.submit(bytes, packed, key=key)

    def next(self) -> Any:
        """The result of the first block that has not been asked for."""
        if len(self._in_flight) <= self._most // 2:
            self._send(self._most - len(self._in_flight))
        index = self._sent - len(self._in_flight)
        try:
            return self._result(index)
        except self._killed:
            # All that waited on a worker when it died is suspected: alone, a block is judged by
            # what it does itself, and has the memory of the worker to itself.
            self._withdraw(index)
            self._send(1)
            try:
                return self._result(index)
            except self._killed as error:
                raise killed(error, self._chunks.expected(index).rows) from error

    def _send(self, count: int) -> None:
        """Put the next blocks to work."""
        stop = min(self._sent + count, self._chunks.n_blocks)
        name = f"orthant-block-{uuid.uuid4().hex}"
        tasks = [self._task(index, name) for index in range(self._sent, stop)]
        self._sent = stop
        if tasks:
            with self._dask.config.set(QUIET):
                self._in_flight.extend(self._client.compute(tasks, retries=RETRIES))

    def _task(self, index: int, name: str) -> Any:
        slices = self._packed(self._work.slices(self._chunks.span(index)))
        work = BlockTask(self._chunks.expected(index), self._work.function, slices)
        task = self._dask.delayed(work, name=f"{name}-{index}", pure=False, traverse=False)
        return task(self._chunks.delayed[index], self._shared, dask_key_name=(name, index))

    def _result(self, index: int) -> Any:
        try:
            result, bits = self._patience.result(self._in_flight[0])
        except (self._killed, NoWorkersError):
            raise
        except Exception as error:
            told = failure(error, self._chunks.expected(index).rows)
            if told is error:
                raise
            raise told from error
        self._in_flight.popleft().release()
        self._chunks.check(index, bits)
        return result

    def _withdraw(self, index: int) -> None:
        """Take back everything in flight; the block at ``index`` is the next to be sent."""
        # A release would reach the scheduler after the block has been sent again, and has met its
        # old failure there; a cancellation arrives before.
        self._client.cancel([*self._in_flight, self._shared])
        self._in_flight.clear()
        self._sent, self._shared = index, self._share()

    def end(self) -> None:
        """Leave nothing behind on the cluster, also after an error or an interrupt."""
        for future in (*self._in_flight, self._shared):
            future.release()
