"""A GPU against what it could do at best, against plain torch, and against our own cores.

The floor of a sweep is one read of X at the speed at which this GPU copies. All that belongs
together is measured in one process: starting torch and compiling kernels takes longer than most of
the measurements.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from orthonmf.bench.data import Data
from orthonmf.bench.gpu_rivals import time_rivals
from orthonmf.bench.measuring import SkippedError, clock, measure
from orthonmf.bench.rows import Goal, Row
from orthonmf.bench.tasks import Step, Task
from orthonmf.engine.executors import executor_for, one_blas_thread
from orthonmf.engine.matrix import Matrix
from orthonmf.engine.placement import on_host
from orthonmf.engine.samples import Samples
from orthonmf.engine.scan import Scan, scan
from orthonmf.engine.sources import ArraySource
from orthonmf.errors import MissingExtraError
from orthonmf.extras import import_extra
from orthonmf.factorization import Factorization
from orthonmf.fitting import factorize
from orthonmf.inputs.data import as_matrix

COPIED_BYTES = 2**32
# Rows on which labels and energies are compared with float64.
CHECKED_ROWS = 2**20
ENERGY_GOAL, LABELS_GOAL = 2e-5, 5e-5
STREAM_GOAL = 0.8
NOISE = 0.1


def _torch() -> Any:
    try:
        torch = import_extra("torch", "gpu")
    except MissingExtraError as error:
        raise SkippedError(str(error)) from error
    if not torch.cuda.is_available():
        raise SkippedError("torch finds no GPU here")
    return torch


def _seconds(work: Callable[[], Any], n_repeats: int = 7) -> float:
    """Median seconds of some work, the device's included, after two times that do not count."""
    torch = _torch()
    found = []
    for number in range(n_repeats + 2):
        torch.cuda.synchronize()
        started = time.perf_counter()
        work()
        torch.cuda.synchronize()
        if number > 1:
            found.append(time.perf_counter() - started)
    return statistics.median(found)


def copied_per_second() -> float:
    """Bytes that this GPU reads and writes per second when it copies."""
    torch = _torch()
    source = torch.ones(COPIED_BYTES, dtype=torch.uint8, device="cuda")
    target = torch.empty_like(source)
    return 2 * COPIED_BYTES / _seconds(lambda: target.copy_(source))


def plant(data: Data, orthogonal: str = "samples") -> Any:
    """Components that share no samples, features or neither, and a little noise, on the device."""
    torch, (n, m, k) = _torch(), data.sizes
    made = torch.Generator("cuda").manual_seed(0)
    components = torch.rand((k, m), generator=made, device="cuda") ** 4
    if orthogonal != "samples":
        owners, numbers = torch.arange(m, device="cuda") % k, torch.arange(k, device="cuda")
        components = torch.where(owners == numbers[:, None], components + 0.5, 0.0)
    X = torch.empty((n, m), device="cuda")
    for some in X.split(max(1, 2**26 // m)):
        some.exponential_(generator=made).mul_(NOISE)
        loadings = torch.rand((len(some), k), generator=made, device="cuda")
        if orthogonal != "features":
            loadings *= loadings == loadings.amax(dim=1, keepdim=True)
        some += loadings @ components
    return X


def time_gpu_sweeps(cases: list[Data]) -> dict[str, Any]:
    """For every shape: seconds of the floor, of a sweep and of plain torch, and how exact it is."""
    speed = copied_per_second()
    return {"bytes_per_second": speed, "cases": [_time_sweep(speed, case) for case in cases]}


def _time_sweep(speed: float, data: Data) -> dict[str, Any]:
    torch, (n, m, k) = _torch(), data.sizes
    torch.cuda.empty_cache()
    X = torch.rand((n, m), device="cuda")
    directions = np.random.default_rng(1).random((k, m))
    fused, plain = Samples(as_matrix(X)), Samples(_plain(X))
    energy, labels = _exactness(X[:CHECKED_ROWS], directions)
    with one_blas_thread():  # as every fit has it around all its passes
        whole = _seconds(lambda: fused.sweep_directions(directions, by_point=False))
    return {
        "seconds": _device_seconds(fused.matrix.source, directions),
        "pass_seconds": whole,
        "floor_seconds": X.nbytes / speed,
        "plain_seconds": _device_seconds(plain.matrix.source, directions, 3),
        "energy_error": energy,
        "labels_apart": labels,
        "rivals": time_rivals(X, k, _seconds),
    }


def _device_seconds(source: Any, directions: Any, n_repeats: int = 9) -> float:
    """Median seconds that the device takes to sweep all blocks, one sweep after the other.

    What the host does for a pass in the meantime is not in it.
    """
    torch = _torch()
    vectors = torch.tensor(directions, dtype=torch.float32, device="cuda")
    vectors /= vectors.norm(dim=1, keepdim=True)
    marks = [torch.cuda.Event(enable_timing=True) for _ in range(n_repeats + 3)]
    for mark in marks:
        for index in range(len(source.boundaries) - 1):
            source.kernel.sweep(source.block(index), vectors, by_row=False)
        mark.record()
    torch.cuda.synchronize()
    spent = [one.elapsed_time(other) for one, other in pairwise(marks[2:])]
    return statistics.median(spent) / 1e3


def _plain(X: Any) -> Any:
    """The matrix of a tensor that no fused kernel reads."""
    from orthonmf.engine.gpu.kernel import TensorKernel
    from orthonmf.engine.gpu.source import TensorSource

    source = TensorSource(X, TensorKernel(X.device))
    executor = executor_for(source, None)
    return Matrix(source, executor, scan(source, executor))


def _exactness(X: Any, directions: Any) -> tuple[float, float]:
    """How far the captured energy is from float64, relatively, and the share of other labels."""
    torch = _torch()
    unit = directions / np.linalg.norm(directions, axis=1, keepdims=True)
    narrow = unit.astype(np.float32)
    matrix = as_matrix(X)
    captured = float(Samples(matrix).sweep_directions(directions, by_point=False).captured.sum())
    labels = on_host(matrix.project(narrow)[0])
    energy, apart = 0.0, 0
    vectors = [torch.tensor(one, dtype=torch.float64, device="cuda") for one in (unit, narrow)]
    for start in range(0, len(X), 2**17):
        wide = X[start : start + 2**17].double()
        energy += float((wide @ vectors[0].T).amax(dim=1).square().sum())
        theirs = (wide @ vectors[1].T).argmax(dim=1).cpu().numpy()
        apart += int((theirs != labels[start : start + len(theirs)]).sum())
    return abs(captured / energy - 1.0), apart / len(X)


def time_gpu_fits(cases: list[tuple[Data, str]]) -> dict[str, Any]:
    """For every matrix and setting: seconds and errors of fits on the device and on the host."""
    return {"cases": [_time_fit(*case) for case in cases]}


def _time_fit(data: Data, orthogonal: str) -> dict[str, Any]:
    _torch().cuda.empty_cache()
    X, k = plant(data, orthogonal), data.n_components

    def fit(given: Any, certificate: str | None = None) -> Factorization:
        return factorize(given, k, orthogonal=orthogonal, random_state=0, certificate=certificate)

    seconds = _seconds(lambda: fit(X), 5)
    result = fit(X, "svd")
    certificate, proving = clock(lambda: result.certificate)
    found = {
        "seconds": seconds,
        "error": result.relative_squared_error,
        "n_sweeps": result.n_sweeps,
        "certificate_seconds": seconds + proving,
        "proven_ratio": certificate.ratio,
    }
    held = X.cpu().numpy()
    theirs, taken = clock(lambda: fit(held))
    return {**found, "their_seconds": taken, "their_error": theirs.relative_squared_error}


def time_gpu_stream(data: Data) -> dict[str, Any]:
    """Seconds of a sweep of rows in page-locked memory, and of the copy alone."""
    torch, (n, m, k) = _torch(), data.sizes
    from orthonmf.engine.gpu.streaming import DeviceBlocks

    X = torch.empty((n, m), pin_memory=True)
    X.copy_(plant(data))
    room = torch.empty_like(X, device="cuda")
    copied = _seconds(lambda: room.copy_(X, non_blocking=True), 3)
    squares = as_matrix(X.numpy()).row_squares  # the sweep below reads none of them
    directions = np.random.default_rng(1).random((k, m))

    def sweep() -> None:
        source = DeviceBlocks(ArraySource(X.numpy()), torch.device("cuda"), X)
        matrix = Matrix(source, executor_for(source, None), Scan(None, squares))
        matrix.sweep(directions, by_row=False)

    return {"seconds": _seconds(sweep, 3), "copy_seconds": copied, "bytes": X.nbytes}


def _row(
    data: Data, against: str, found: dict[str, Any], theirs: float, ratio: float, *goals: Goal
) -> Row:
    """A comparison with what took ``theirs`` seconds; goals with the bound 0 are none."""
    figures = {**found, "their_seconds": theirs, "ratio": ratio}
    kept = tuple(goal for goal in goals if goal.bound > 0)
    return Row("gpu", data.title, against, figures, kept)


@dataclass(frozen=True, slots=True)
class GpuSweepsTask(Task):
    """Sweeps of several matrices in one process, each with its goal in reads of X."""

    data: Data
    cases: tuple[tuple[Data, float], ...]
    benchmark: str = "gpu"

    def rows(self, step: Step) -> Iterator[Row]:
        """Rows for every matrix: against one read, plain torch, and who else is installed."""
        step("sweeps")
        found = measure("gpu sweeps", cases=[data for data, _ in self.cases])
        for (data, goal), one in zip(self.cases, found["cases"], strict=True):
            floor, plain = one["floor_seconds"], one["plain_seconds"]
            ratio = one["seconds"] / floor
            goals = (
                Goal("ratio", "<=", goal, ratio),
                Goal("energy", "<=", ENERGY_GOAL, one["energy_error"]),
                Goal("labels", "<=", LABELS_GOAL, one["labels_apart"]),
            )
            yield _row(data, "sweep: one read", one, floor, ratio, *goals)
            faster = plain / one["seconds"]
            wanted = Goal("times faster", ">=", 1.0, faster)
            yield _row(data, "sweep: plain torch", one, plain, faster, wanted)
            for name, theirs in one["rivals"].items():
                # Against the whole pass: their iteration is measured with its host's work, too.
                yield _row(data, f"pass: {name}", one, theirs, theirs / one["pass_seconds"])


@dataclass(frozen=True, slots=True)
class GpuFitsTask(Task):
    """Whole fits, with seconds and times faster to reach, and seconds with a certificate."""

    data: Data
    cases: tuple[tuple[Data, str, float, float, float], ...]
    benchmark: str = "gpu"

    def rows(self, step: Step) -> Iterator[Row]:
        """One row for every matrix and setting."""
        step("fits on the GPU and on the cores")
        found = measure("gpu fits", cases=[case[:2] for case in self.cases])
        for case, one in zip(self.cases, found["cases"], strict=True):
            data, setting, seconds, faster, proven = case
            ratio = one["their_seconds"] / one["seconds"]
            goals = (
                Goal("seconds", "<=", seconds, one["seconds"]),
                Goal("times faster", ">=", faster, ratio),
                Goal("with certificate", "<=", proven, one["certificate_seconds"]),
            )
            against = f"fit over {setting}: all cores"
            yield _row(data, against, one, one["their_seconds"], ratio, *goals)


@dataclass(frozen=True, slots=True)
class GpuStreamTask(Task):
    """A sweep of rows that are copied from page-locked memory, against the copy alone."""

    data: Data
    benchmark: str = "gpu"

    def rows(self, step: Step) -> Iterator[Row]:
        """One row."""
        step("streaming")
        one = measure("gpu stream", data=self.data)
        copied, ratio = one["copy_seconds"], one["copy_seconds"] / one["seconds"]
        goal = Goal("share of the bus", ">=", STREAM_GOAL, ratio)
        yield _row(self.data, "streamed sweep: copy", one, copied, ratio, goal)
