"""One sweep against the matrix product it contains.

Each is repeated alone, with a pause between: threads of BLAS go on spinning for a while after a
product and would take a core from what comes next. The product has as many BLAS threads as the
sweep has threads.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from orthonmf.bench.data import Data
from orthonmf.bench.measuring import clock, measure
from orthonmf.bench.rows import Goal, Row
from orthonmf.bench.tasks import Step, Task
from orthonmf.engine.executors import available_cores, one_blas_thread
from orthonmf.engine.samples import Samples
from orthonmf.engine.streamed_columns import StreamedColumns
from orthonmf.inputs.data import as_matrix

PAUSE = 0.3


def time_sweep(data: Data, n_repeats: int, n_rounds: int) -> dict[str, Any]:
    """Seconds of the product, the sweeps over samples and features, and the first scan."""
    X = data.make()
    form = np.random.default_rng(1).random((data.n_components, data.n_features))
    directions = form.astype(data.dtype)
    matrix = as_matrix(X)
    samples, features = Samples(matrix), StreamedColumns(matrix)
    seconds: dict[str, list[float]] = {"product": [], "sweep": [], "features": [], "scan": []}
    for _ in range(n_rounds):
        with threadpool_limits(available_cores(), user_api="blas"):
            seconds["product"] += repeat(lambda: X @ directions.T, n_repeats)
        with one_blas_thread():  # as every fit has it around all its passes
            seconds["sweep"] += repeat(lambda: samples.sweep_directions(form), n_repeats)
            seconds["features"] += repeat(lambda: features.sweep_directions(form), n_repeats)
            seconds["scan"] += repeat(lambda: as_matrix(X), n_repeats)
    return seconds


def repeat(work: Callable[[], object], n_repeats: int) -> list[float]:
    """Seconds of every repetition after a first one that does not count; then a pause."""
    work()
    seconds = [clock(work)[1] for _ in range(n_repeats)]
    time.sleep(PAUSE)
    return seconds


@dataclass(frozen=True, slots=True)
class SweepTask(Task):
    """A sweep on one matrix."""

    data: Data
    goal: float
    n_repeats: int = 7
    n_rounds: int = 2
    benchmark: str = "sweep"

    def rows(self, step: Step) -> Iterator[Row]:
        """One row: how many products a sweep costs."""
        step("X @ U.T and sweeps")
        found = measure("sweep", data=self.data, n_repeats=self.n_repeats, n_rounds=self.n_rounds)
        figures: dict[str, Any] = {}
        for name, seconds in found.items():
            figures[f"{name}_seconds"] = float(np.median(seconds))
            figures[f"{name}_fewest_seconds"] = min(seconds)
        for name in ("sweep", "features", "scan"):
            medians = np.median(found[name]) / np.median(found["product"])
            figures[f"{name}_ratio"] = float(medians)
            figures[f"{name}_ratio_of_minima"] = min(found[name]) / min(found["product"])
        goals = (
            Goal("ratio", "<=", self.goal, figures["sweep_ratio"]),
            Goal("ratio of fewest", "<=", self.goal, figures["sweep_ratio_of_minima"]),
        )
        yield Row(self.benchmark, self.title, "X @ U.T", figures, goals)
