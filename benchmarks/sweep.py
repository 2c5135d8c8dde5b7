"""One sweep against the matrix product it contains.

Each is repeated alone, with a pause between: threads of BLAS go on spinning for a while after a
product and would take a core from what comes next. The product has as many BLAS threads as the
sweep has threads.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import product

import numpy as np
from threadpoolctl import threadpool_limits

from benchmarks.data import EXPERIMENT_ONE, TINY, Data
from benchmarks.rows import Row, clock, guard, judge, measure
from orthonmf.engine.executors import available_cores, one_blas_thread
from orthonmf.engine.points import Samples, StreamedColumns
from orthonmf.inputs.data import as_matrix

PAUSE = 0.3
GOAL, SMALL_GOAL = 1.5, 3.0  # products


def sweep(tiny: bool) -> Iterator[Row]:
    """Large and small matrices of both types."""
    small = replace(TINY if tiny else EXPERIMENT_ONE, kind="uniform")
    if not tiny:
        shapes, ks, dtypes = ((200_000, 100), (50_000, 1_000)), (10, 50), ("float32", "float64")
        for shape, k, dtype in product(shapes, ks, dtypes):
            data = Data("uniform", *shape, k, dtype=dtype)
            yield guard(data.title, compare, data, GOAL, against="X @ U.T", n_repeats=7, n_rounds=2)
    rounds = {"n_repeats": 2, "n_rounds": 1} if tiny else {"n_repeats": 100, "n_rounds": 2}
    yield guard(small.title, compare, small, SMALL_GOAL, against="X @ U.T", **rounds)


def compare(data: Data, goal: float, **rounds: int) -> Row:
    """How many products a sweep costs: by medians, and by the fewest seconds."""
    seconds = measure(time_sweep, data, **rounds)
    median, fewest = ({k: f(v) for k, v in seconds.items()} for f in (np.median, np.min))
    row = {f"{name}_ms": 1e3 * float(median[name]) for name in ("product", "sweep")}
    for name in ("sweep", "features", "scan"):
        row[f"{name}_ratio"] = float(median[name] / median["product"])
    row["sweep_ratio_of_fewest"] = float(fewest["sweep"] / fewest["product"])
    return judge(row, ("sweep_ratio", "<=", goal), ("sweep_ratio_of_fewest", "<=", goal))


def time_sweep(data: Data, n_repeats: int, n_rounds: int) -> dict[str, list[float]]:
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
