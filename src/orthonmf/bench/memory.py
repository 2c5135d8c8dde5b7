"""Peak memory of a fit beyond its input, measured in a fresh process."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np

from orthonmf.bench.data import Data
from orthonmf.bench.measuring import SkippedError, measure
from orthonmf.bench.rows import Goal, Row
from orthonmf.bench.system_memory import MEMINFO, system_bytes
from orthonmf.bench.tasks import SettingTask, Step
from orthonmf.factorization import Factorization
from orthonmf.fitting import factorize

CLEAR_REFS = Path("/proc/self/clear_refs")
FORGET_PEAK = "5"  # what the kernel wants to read
WARM_ROWS = 2000
MAX_ITER = 3  # later sweeps reuse the memory of the first


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


def affordable(bytes_wanted: int) -> int:
    """The size wanted, or a quarter of the memory that is free now if that is less."""
    try:
        free = system_bytes("MemAvailable", MEMINFO)
    except OSError:
        return bytes_wanted
    return min(bytes_wanted, free // 4)


@dataclass(frozen=True, slots=True)
class MemoryTask(SettingTask):
    """Peak extra memory of a fit."""

    goal: float
    benchmark: str = "memory"

    def rows(self, step: Step) -> Iterator[Row]:
        """One row: the peak as a share of the input."""
        step("peak memory")
        found = measure("peak", data=self.data, orthogonal=self.orthogonal)
        figures = {f"{name}_bytes": found[name] for name in ("input", "result", "extra")}
        figures["share"] = found["extra"] / found["input"]
        figures["bytes_per_row"] = found["extra"] / self.data.n_samples
        goals = (Goal("share", "<=", self.goal, figures["share"]),)
        yield Row(self.benchmark, self.title, "the input", figures, goals)
