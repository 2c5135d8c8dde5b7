"""Carry out runs and keep every row; go on where an earlier runner ended, however it did."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections import Counter, defaultdict
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter

from orthonmf.baselines.plugins import load_plugins
from orthonmf.errors import InvalidInputError
from orthonmf.reproduction.definition import Run
from orthonmf.reproduction.environment import record_environment
from orthonmf.reproduction.measuring import measure
from orthonmf.reproduction.rows import RESULTS, ResultsFile, Row, is_missing, read_rows

LOCK = ".lock"
Kind = tuple[str, str, int]  # experiment, method, components: runs of a kind take about as long


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a runner is, after a row."""

    done: int  # runs with a row on disk, earlier ones included
    total: int
    row: Row | None  # the newest; None before the first
    seconds_left: float | None  # None before the first


def carry_out(
    runs: Sequence[Run],
    folder: Path,
    *,
    data_home: Path | None = None,
    jobs: int = 1,
    report: Callable[[Progress], None] = lambda progress: None,
) -> None:
    """Carry out those runs that have no row in the folder's results file yet.

    Every row is on disk before the next run starts. With one job every run is alone and timed,
    and rows without a time are made again; with several jobs no time is recorded.
    """
    folder.mkdir(parents=True, exist_ok=True)
    with _only_runner(folder):
        results = ResultsFile(folder / RESULTS)
        record_environment(folder, jobs)
        waiting = [run for run in runs if not _is_done(results.rows.get(run.key), jobs)]
        done, left = len(runs) - len(waiting), TimeLeft(waiting, jobs)
        report(Progress(done, len(runs), None, None))
        with closing(_rows_of(waiting, data_home, jobs)) as rows:
            start = perf_counter()
            for row in rows:
                if not is_missing(row) or row.key not in results.rows:
                    results.add(row)
                now = perf_counter()
                done, seconds_left, start = done + 1, left.after(row, now - start), now
                report(Progress(done, len(runs), row, seconds_left))


def rows_on_disk(runs: Sequence[Run], folder: Path) -> list[Row]:
    """The rows of these runs, of those that have one."""
    path = folder / RESULTS
    rows = {row.key: row for row in read_rows(path)} if path.exists() else {}
    return [rows[run.key] for run in runs if run.key in rows]


def _is_done(row: Row | None, jobs: int) -> bool:
    if row is None or is_missing(row):
        return False
    return bool(row.serial) or jobs > 1


@contextmanager
def _only_runner(folder: Path) -> Iterator[None]:
    """Hold a lock that goes away with this process; without such locks nothing is checked."""
    try:
        import fcntl
    except ImportError:
        yield
        return
    with open(folder / LOCK, "a") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise InvalidInputError(
                f"{folder}: another runner is at work there; wait for it, or name another folder"
            ) from None
        yield


def _rows_of(runs: Sequence[Run], data_home: Path | None, jobs: int) -> Generator[Row]:
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


class TimeLeft:
    """Counts the runs of every kind that remain, and averages those that are done."""

    def __init__(self, runs: Iterable[Run], jobs: int) -> None:
        self._waiting = Counter(
            (run.experiment, run.method, run.setting.n_components) for run in runs
        )
        self._jobs = jobs
        self._taken: dict[Kind, list[float]] = defaultdict(list)

    def after(self, row: Row, seconds: float) -> float:
        """The seconds left once this row, which came so long after the one before, is done."""
        kind = (row.experiment, row.method, row.n_components)
        self._waiting[kind] -= 1
        self._taken[kind].append(seconds)
        everything = [one for taken in self._taken.values() for one in taken]
        usual = sum(everything) / len(everything)
        return sum(count * self._average(kind, usual) for kind, count in self._waiting.items())

    def _average(self, kind: Kind, usual: float) -> float:
        taken = self._taken[kind] if self._jobs == 1 else []
        return sum(taken) / len(taken) if taken else usual
