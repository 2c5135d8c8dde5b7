"""Rows made one after the other, or by several processes that leave when their parent does."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections.abc import Generator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path

from orthant.baselines.plugins import load_plugins
from orthant.reproduction.definition import Run
from orthant.reproduction.measuring import measure
from orthant.reproduction.rows import Row


def rows_of(runs: Sequence[Run], data_home: Path | None, jobs: int) -> Generator[Row]:
    """Carry out the runs; with one job in their order and timed, else as they finish, untimed."""
    if jobs == 1:
        for run in runs:
            yield measure(run, data_home)
    else:
        yield from _rows_side_by_side(runs, data_home, jobs)


def _rows_side_by_side(runs: Sequence[Run], data_home: Path | None, jobs: int) -> Generator[Row]:
    others = set(multiprocessing.active_children())
    # A spawned process has none of this one's threads and locks.
    pool = ProcessPoolExecutor(jobs, multiprocessing.get_context("spawn"), _prepare)
    try:
        waiting = [pool.submit(measure, run, data_home, alone=False) for run in runs]
        for done in as_completed(waiting):
            yield done.result()
        pool.shutdown()
    except BrokenProcessPool:
        raise ChildProcessError(
            "a worker process was ended from outside, for want of memory perhaps; finished rows "
            "are safe, and the same command goes on, with fewer --jobs if need be"
        ) from None
    finally:
        # After an interrupt nobody waits for runs that take half a minute.
        for process in set(multiprocessing.active_children()) - others:
            process.terminate()
        pool.shutdown(cancel_futures=True)


def _prepare() -> None:
    """Leave interrupts to the parent, and end when it ends, however that happens."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    load_plugins()
    threading.Thread(target=_follow_parent, daemon=True).start()


def _follow_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)
