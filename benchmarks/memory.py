"""Peak memory of a fit beyond its input, and how time and memory grow when one size doubles."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.data import TINY, Data
from benchmarks.rows import Row, SkippedError, clock, guard, judge, measure
from orthonmf import Factorization, factorize

STATUS, MEMINFO = Path("/proc/self/status"), Path("/proc/meminfo")
CLEAR_REFS, FORGET_PEAK = Path("/proc/self/clear_refs"), "5"  # what the kernel wants to read
MOST_BYTES = 2_000_000_000
WARM_ROWS = 2000
MAX_ITER = 3  # later sweeps reuse the memory of the first
SHARE_GOAL = 0.1  # of the input
GROWTH_GOAL, ROW_GOAL = 1.1, 40.0  # exponent, bytes per row
# Without a tolerance every descent does this many sweeps, whatever the size.
FIXED: dict[str, Any] = {"tol": 0.0, "max_iter": 10, "n_init": 1}


def system_bytes(name: str, path: Path = STATUS) -> int:
    """Bytes that the system reports under a name: VmRSS resident now, VmHWM at the peak."""
    for line in path.read_text().splitlines():
        if line.startswith(f"{name}:"):
            return int(line.split()[1]) * 1024
    raise OSError(f"{path} has no {name}")


def memory(tiny: bool) -> Iterator[Row]:
    """Peak memory beyond a dense input of 2 GB, or of a quarter of what is free if that is less."""
    size = min(MOST_BYTES, system_bytes("MemAvailable", MEMINFO) // 4)
    data = TINY if tiny else Data("uniform", size // (8 * 100), 100, 10)
    for setting in ("samples", "features"):
        yield guard(f"{data.title} {setting}", _share, data, setting)


def _share(data: Data, setting: str) -> Row:
    peak = measure(peak_of_fit, data, setting)
    row = {f"{name}_mb": size / 1e6 for name, size in peak.items()}
    row |= {"share": peak["extra"] / peak["input"], "bytes_per_row": peak["extra"] / data.n_samples}
    return judge(row, ("share", "<=", SHARE_GOAL))


def peak_of_fit(data: Data, orthogonal: str) -> dict[str, int]:
    """Bytes of the input, of the result, and of the peak beyond the input."""
    X, k = data.make(), data.n_components
    options: dict[str, Any] = {"orthogonal": orthogonal, "random_state": 0, "certificate": None}
    factorize(X[:WARM_ROWS].copy(), k, **options)
    try:
        CLEAR_REFS.write_text(FORGET_PEAK)
        before = system_bytes("VmRSS")
    except OSError as error:
        raise SkippedError(f"this system does not tell peak memory: {error}") from error
    result = factorize(X, k, max_iter=MAX_ITER, **options)
    extra = system_bytes("VmHWM") - before
    return {"input": X.nbytes, "result": bytes_of(result), "extra": extra}


def bytes_of(result: Factorization) -> int:
    """Bytes of all arrays of a result, each counted once."""
    arrays: dict[int, int] = {}
    for field in fields(result):
        value = getattr(result, field.name)
        sparse = hasattr(value, "indptr")
        for array in (value.data, value.indices, value.indptr) if sparse else (value,):
            if isinstance(array, np.ndarray):
                place = array.__array_interface__["data"][0]
                arrays[place] = max(array.nbytes, arrays.get(place, 0))
    return sum(arrays.values())


def growth(tiny: bool) -> Iterator[Row]:
    """Exponents of time in rows, columns, components and stored entries; memory per row."""
    dense = Data("uniform", *((100, 10, 2) if tiny else (20_000, 50, 5)))
    sparse = Data(
        "sparse", *((100, 50, 2) if tiny else (20_000, 1_000, 5)), density=0.1 if tiny else 0.005
    )
    n_doublings = 1 if tiny else 3
    axes = [
        ("rows", dense, "n_samples"), ("columns", dense, "n_features"),
        ("components", dense, "n_components"), ("entries", sparse, "density"),
    ]  # fmt: skip
    for what, base, name in axes:
        matrices = [
            replace(base, **{name: 2**power * getattr(base, name)})
            for power in range(n_doublings + 1)
        ]
        yield guard(f"time, {what}", _exponent, name, matrices, n_doublings)
    sizes = (3_000, 6_000) if tiny else (500_000, 1_000_000, 2_000_000)
    yield guard("memory, rows", _per_row, [Data("uniform", n, 20, 10) for n in sizes])


def _exponent(name: str, matrices: list[Data], n_repeats: int) -> Row:
    """The power of the size that fits the seconds best: least squares of the logarithms."""
    figures = measure(time_sizes, matrices, n_repeats)
    logs = np.log([getattr(data, name) for data in matrices]), np.log(figures["seconds"])
    row = {"exponent": float(np.polyfit(*logs, 1)[0]), **figures}
    row["sweeps"] = str(figures["sweeps_to_convergence"])
    return judge(row, ("exponent", "<=", GROWTH_GOAL))


def time_sizes(sizes: list[Data], n_repeats: int) -> Row:
    """Fewest seconds of a fit of fixed length at every size, and sweeps to convergence.

    Sizes take turns, so that a slow minute of the machine slows all of them.
    """
    matrices = [(data.make(), data.n_components) for data in sizes]
    fit = partial(factorize, random_state=0, certificate=None)
    to_convergence = [fit(X, k).n_sweeps for X, k in matrices]
    rounds = [
        [clock(partial(fit, X, k, **FIXED))[1] for X, k in matrices] for _ in range(n_repeats)
    ]
    return {"seconds": np.min(rounds, axis=0).tolist(), "sweeps_to_convergence": to_convergence}


def _per_row(matrices: list[Data]) -> Row:
    """Bytes beyond input and result per further row; a process each, as a peak is not forgotten."""
    peaks = [measure(peak_of_fit, data, "samples") for data in matrices]
    beyond = [peak["extra"] - peak["result"] for peak in peaks]
    slope = float(np.polyfit([data.n_samples for data in matrices], beyond, 1)[0])
    return judge({"bytes": beyond, "bytes_per_row": slope}, ("bytes_per_row", "<", ROW_GOAL))
