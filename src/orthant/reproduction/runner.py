"""Carry out runs and keep every row; go on where an earlier runner ended, however it did."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter

from orthant.errors import InvalidInputError
from orthant.reproduction.definition import Run
from orthant.reproduction.environment import record_environment
from orthant.reproduction.rows import RESULTS, ResultsFile, Row, is_missing, read_rows
from orthant.reproduction.time_left import TimeLeft
from orthant.reproduction.workers import rows_of

LOCK = ".lock"


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
        with closing(rows_of(waiting, data_home, jobs)) as rows:
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
