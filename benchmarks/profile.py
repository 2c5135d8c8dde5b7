"""Where the time of a default fit and of its certificate goes: functions of the library.

Seconds with what a function calls (cumulative) and without, by Python's own profiler, which slows
calls down: compare with a run of the commit before rather than with a clock.
"""

from __future__ import annotations

import cProfile
import pstats
from collections.abc import Iterator
from pathlib import Path

import orthonmf
from benchmarks.data import EXPERIMENT_ONE, LARGE, SPARSE, TINY, Data
from benchmarks.rows import Row, guard, measure
from orthonmf import factorize

N_SHOWN = 25
HOME = str(Path(orthonmf.__file__).parent)


def profile(tiny: bool) -> Iterator[Row]:
    """The functions that take longest, of a small, two large and the sparse matrices."""
    for data in (TINY,) if tiny else (EXPERIMENT_ONE, *LARGE, *SPARSE):
        rows = guard(data.title, lambda data=data: {"rows": measure(functions_of_fit, data)})
        yield from rows.get("rows", [rows])


def functions_of_fit(data: Data) -> list[Row]:
    """One row for each of the functions of the library with most cumulative seconds."""
    X, k = data.make(), data.n_components
    _ = factorize(X, k, random_state=1).certificate  # what is only done the first time
    profiler = cProfile.Profile()
    profiler.enable()
    _ = factorize(X, k, random_state=0).certificate
    profiler.disable()
    stats = pstats.Stats(profiler).stats  # type: ignore[attr-defined]
    rows = [
        {
            "case": data.title,
            "against": f"{Path(file).relative_to(HOME)}:{name}",
            "calls": calls,
            "ms": 1e3 * cumulative,
            "own_ms": 1e3 * own,
        }
        for (file, _, name), (_, calls, own, cumulative, _) in stats.items()
        if file.startswith(HOME)
    ]
    return sorted(rows, key=lambda row: -row["ms"])[:N_SHOWN]
