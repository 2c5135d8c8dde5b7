"""Carry out runs one after the other or side by side; an interrupted runner goes on."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from time import perf_counter
from typing import Any

from joblib import Parallel, delayed
from rich.console import Console
from rich.progress import track

from experiments.journal import Journal
from experiments.machine import machine
from experiments.measuring import COLUMNS, KEY, NOT_MEASURED, measure
from experiments.paper import Run

RESULTS, ENVIRONMENT = "results.csv", "environment.json"
THREADS_PER_RUN = 1  # every method has one core: one BLAS thread, and n_jobs=1 for ours


def carry_out(
    runs: Sequence[Run], folder: Path, data_home: Path | None = None, jobs: int = 1
) -> Journal:
    """Carry out those runs that have no row in the folder's results file yet.

    Every row is on disk before the next run starts. With one job every run is alone and timed,
    and rows without a time are made again; with several jobs no time is recorded. What could not
    be measured, such as a set that is not there, is tried again every time.
    """
    results = Journal(folder / RESULTS, COLUMNS, len(KEY))
    record_environment(folder / ENVIRONMENT, jobs, bool(results.rows))
    waiting = [run for run in runs if not is_done(results.rows.get(run.key), jobs)]
    words = f"{len(runs) - len(waiting)} of {len(runs)} runs were there;"
    console = Console(stderr=True)
    began = perf_counter()
    try:
        for row in track(_rows(waiting, data_home, jobs), words, len(waiting), console=console):
            if not is_missing(row) or _key(row) not in results.rows:
                results.add(row)
    finally:
        if waiting:
            add_minutes(folder / ENVIRONMENT, (perf_counter() - began) / 60)
    return results


def is_missing(row: dict[str, Any]) -> bool:
    """Whether the row only says why there is none."""
    return str(row["stop_reason"]).startswith(NOT_MEASURED)


def is_done(row: dict[str, Any] | None, jobs: int) -> bool:
    """Whether a run need not be carried out: it was measured, and timed if it would be now."""
    return row is not None and not is_missing(row) and (bool(row["serial"]) or jobs > 1)


def _key(row: dict[str, Any]) -> tuple[Any, ...]:
    return tuple(row[name] for name in KEY)


def _rows(runs: Sequence[Run], data_home: Path | None, jobs: int) -> Iterator[dict[str, Any]]:
    if jobs == 1:
        return (measure(run, data_home) for run in runs)
    tasks = (delayed(measure)(run, data_home, alone=False) for run in runs)
    return Parallel(n_jobs=jobs, return_as="generator_unordered")(tasks)


def record_environment(path: Path, jobs: int, has_rows: bool) -> None:
    """Keep what a reader needs to judge the times: another sitting, unless it equals the last.

    Rows of one page come from one code: a folder with rows of other code is refused.
    """
    sittings = read_sittings(path)
    now = {**machine(), "threads_per_run": THREADS_PER_RUN, "jobs": jobs, "timed": jobs == 1}
    if has_rows and (not sittings or sittings[-1].get("code") != now["code"]):
        raise ValueError(
            f"{path.parent}: its rows were made by other code of the library; name another folder "
            "with -o, or remove it to begin anew"
        )
    fleeting = {"date": None, "minutes": None}
    if not sittings or {**sittings[-1], **fleeting} != {**now, **fleeting}:
        _write_sittings(path, [*sittings, now])


def add_minutes(path: Path, minutes: float) -> None:
    """Note that the last sitting took so many minutes, on top of what it had taken."""
    sittings = read_sittings(path)
    sittings[-1]["minutes"] = round(sittings[-1].get("minutes", 0.0) + minutes, 1)
    _write_sittings(path, sittings)


def _write_sittings(path: Path, sittings: list[dict[str, Any]]) -> None:
    path.write_text(json.dumps({"sittings": sittings}, indent=2) + "\n")


def read_sittings(path: Path) -> list[dict[str, Any]]:
    """The environments of all sittings, oldest first; none where there is no file."""
    return json.loads(path.read_text())["sittings"] if path.exists() else []
