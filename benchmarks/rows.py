"""What a benchmark finds: rows of figures, each with its goals, shown as a table and kept as JSON.

A row is a dict with ``case``, ``against`` and figures by name; ``goals`` and ``verdict`` where
something was asked for, ``note`` where there is something to say.
"""

from __future__ import annotations

import json
import multiprocessing
import operator
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import pandas as pd

from experiments.machine import in_words, machine

RELATIONS = {"<=": operator.le, "<": operator.lt, ">=": operator.ge}
REACHED, MISSED, SKIPPED, FAILED = "reached", "missed", "skipped", "failed"
Row = dict[str, Any]
Goal = tuple[str, str, float]  # a figure, "<=", "<" or ">=", and the bound it should keep
T = TypeVar("T")
# Where tiny sizes are tried the processes are forked from one that has imported all, which is
# quick and shares nothing else.
FRESH, QUICK = "spawn", "forkserver"
_begun = FRESH


class SkippedError(Exception):
    """A measurement that cannot be made here, and why."""


def clock(work: Callable[[], T], timer: Callable[[], float] = time.perf_counter) -> tuple[T, float]:
    """What a piece of work returns, and the seconds it took."""
    began = timer()
    result = work()
    return result, timer() - began


def measure(function: Callable[..., T], *args: Any, **options: Any) -> T:
    """What a function returns in a fresh process, so that nobody inherits another's threads."""
    with ProcessPoolExecutor(1, multiprocessing.get_context(_begun)) as pool:
        return pool.submit(function, *args, **options).result()


@contextmanager
def quick_processes() -> Iterator[None]:
    """Processes inside begin quickly, for sizes whose figures mean nothing."""
    global _begun
    if QUICK in multiprocessing.get_all_start_methods():
        multiprocessing.set_forkserver_preload(
            ["benchmarks.speed", "benchmarks.certainty", "distributed"]
        )
        _begun = QUICK
    try:
        yield
    finally:
        _begun = FRESH


def judge(row: Row, *goals: Goal) -> Row:
    """A row with its goals and its verdict; a figure that is no number misses every goal."""
    missed = [
        figure for figure, relation, bound in goals if not RELATIONS[relation](row[figure], bound)
    ]
    return {
        **row,
        "goals": ", ".join(f"{figure} {relation} {bound:g}" for figure, relation, bound in goals),
        "verdict": f"{MISSED}: {', '.join(missed)}" if missed else REACHED,
    }


def without_figures(case: str, error: Exception, against: str = "") -> Row:
    """The row of a measurement that was skipped or has failed."""
    verdict = SKIPPED if isinstance(error, SkippedError) else FAILED
    dead = isinstance(error, BrokenProcessPool)
    why = "its process was ended" if dead else " ".join(str(error).split()) or repr(error)
    return {"case": case, "against": against, "verdict": verdict, "note": why}


def guard(
    case: str, work: Callable[..., Row], *args: Any, against: str = "", **options: Any
) -> Row:
    """The row of a case with what some work gives, or with why there is nothing."""
    try:
        return {"case": case, "against": against} | work(*args, **options)
    except Exception as error:
        return without_figures(case, error, against)


def record(name: str, rows: Iterator[Row], folder: Path, judged: bool = True) -> list[Row]:
    """Measure all rows of a benchmark; the file is whole after every one of them.

    ``judged`` is False for sizes so small that a verdict would mean nothing.
    """
    folder.mkdir(parents=True, exist_ok=True)
    facts, kept = machine(), []
    print(f"\n{name}: {in_words(facts)}", flush=True)
    for row in rows:
        if not judged and row.get("verdict") not in (SKIPPED, FAILED):
            row = {**row, "verdict": "not judged"}
        kept.append(row)
        told = f"{row['case']} {row.get('against', '')}".rstrip()
        print(f"  {told}: {row.get('verdict', 'measured')}", flush=True)
        document = {"benchmark": name, "machine": facts, "rows": kept}
        text = json.dumps(document, indent=1, default=float)
        (folder / f"{name}.json").write_text(text + "\n", encoding="utf-8")
    print(table(kept), flush=True)
    return kept


def table(rows: list[Row]) -> str:
    """Rows as people read them: lists left out, figures with four digits."""
    shown = [{k: v for k, v in row.items() if not isinstance(v, (list, dict))} for row in rows]
    frame = pd.DataFrame(shown).replace({np.nan: None})
    return frame.to_string(index=False, na_rep="", float_format=lambda value: f"{value:.4g}",
                           formatters=dict.fromkeys(frame, _cell))  # fmt: skip


def _cell(value: Any) -> str:
    if value is None:
        return ""
    return f"{value:.4g}" if isinstance(value, float) else str(value)
