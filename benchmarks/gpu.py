"""A GPU against what it could do at best, against plain torch, and against our own cores.

The floor of a sweep is one read of X at the speed at which this GPU copies; sweeps are timed by
the device's clock, and a whole pass, with what the host does for it, stands apart. X lies on the
device before the clock of a fit starts, and the result on the host when it stops; kernels are
compiled before. All that belongs together is measured in one process: starting torch and compiling
kernels takes longer than most of the measurements. K-means of others takes part where it is
installed, by what one of its iterations takes.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from itertools import pairwise
from typing import Any

import numpy as np

from benchmarks.data import Data
from benchmarks.rows import Goal, Row, SkippedError, clock, judge, measure, without_figures
from orthonmf import Factorization, factorize
from orthonmf.engine.executors import executor_for, one_blas_thread
from orthonmf.engine.first_look import Scan, scan
from orthonmf.engine.matrix import Matrix
from orthonmf.engine.placement import on_host
from orthonmf.engine.points import Samples
from orthonmf.engine.profiles import sweep_profiles
from orthonmf.engine.sources import ArraySource
from orthonmf.inputs.data import as_matrix

COPIED_BYTES = 2**32
# Rows on which labels and energies are compared with float64.
CHECKED_ROWS = 2**20
ENERGY_GOAL, LABELS_GOAL = 2e-5, 5e-5
STREAM_GOAL = 0.8
NOISE = 0.1
SHORT, LONG = 1, 6  # iterations of k-means of others, whose difference is measured
Shape = tuple[int, int, int]
# Rows, columns, components; reads of X that a sweep may take.
SWEEPS: tuple[tuple[Shape, float], ...] = (
    ((20_000_000, 64, 16), 1.6),
    ((20_000_000, 100, 10), 1.6),
    ((20_000_000, 100, 20), 2.0),
    ((10_000_000, 128, 32), 2.0),
    ((10_000_000, 128, 64), 2.5),
    ((10_000_000, 200, 10), 2.5),
    ((5_000_000, 256, 32), 2.5),
    ((5_000_000, 256, 64), 2.5),
    ((4_000_000, 512, 100), 2.6),
    ((10_000_000, 128, 128), 4.5),
    ((10_000_000, 128, 256), 4.5),
    ((1_000_000, 1024, 256), 4.5),
)
# The same and a setting; seconds, times faster than all cores, seconds with a certificate; 0: none.
FITS: tuple[tuple[Shape, str, float, float, float], ...] = (
    ((20_000_000, 100, 10), "samples", 0.12, 30.0, 0.2),
    ((4_000_000, 512, 100), "samples", 0.2, 12.0, 0.5),
    ((2_500_000, 100, 10), "features", 0.2, 10.0, 0.0),
    ((2_500_000, 100, 10), "both", 0.0, 10.0, 0.0),
)
STREAMED = (20_000_000, 100, 10)
DIVERGENCE = (500_000, 100, 10)
SUM_OF_COUNTS = 100  # of a row, about
SMALL = (2_000, 20, 3)


def gpu(tiny: bool) -> Iterator[Row]:
    """A matrix on a GPU: sweeps, whole fits, and rows that are streamed there."""
    sweeps, fits, streamed, divergence = SWEEPS, FITS, STREAMED, DIVERGENCE
    if tiny:
        sweeps, fits = ((SMALL, 0.0),), ((SMALL, "samples", 0.0, 0.0, 0.0),)
        streamed = divergence = SMALL
    try:
        measure(_torch_version)
    except Exception as error:
        yield without_figures("gpu", error)
        return
    parts = (
        (sweep_rows, sweeps), (fit_rows, fits), (stream_rows, streamed),
        (divergence_rows, divergence),
    )  # fmt: skip
    for part, cases in parts:
        try:
            yield from part(cases)
        except Exception as error:
            yield without_figures(part.__doc__ or "", error)


def _data(shape: Shape) -> Data:
    return Data("uniform", *shape, dtype="float32")


def _row(
    shape: Shape, against: str, figures: Row, theirs: float, ratio: float, *goals: Goal
) -> Row:
    """A comparison with what took ``theirs`` seconds; goals with the bound 0 are none."""
    names = ("pass_seconds", "certificate_seconds", "error", "their_error", "energy", "labels")
    row = {"case": _data(shape).title, "against": against, "seconds": figures["seconds"]}
    row |= {"their_seconds": theirs, "ratio": ratio}
    row |= {name: figures[name] for name in names if name in figures}
    return judge(row, *(goal for goal in goals if goal[2] > 0))


def sweep_rows(cases: tuple[tuple[Shape, float], ...]) -> Iterator[Row]:
    """Sweeps against one read of X, plain torch, and who else is installed."""
    measured = measure(time_sweeps, [shape for shape, _ in cases])
    for (shape, goal), figures in zip(cases, measured, strict=True):
        floor, plain = figures["floor_seconds"], figures["plain_seconds"]
        reads, faster = figures["seconds"] / floor, plain / figures["seconds"]
        yield _row(
            shape, "sweep: one read", figures, floor, reads,
            ("ratio", "<=", goal), ("energy", "<=", ENERGY_GOAL), ("labels", "<=", LABELS_GOAL),
        )  # fmt: skip
        yield _row(shape, "sweep: plain torch", figures, plain, faster, ("ratio", ">=", 1.0))
        for name, theirs in figures["rivals"].items():
            # Against the whole pass: their iteration is measured with its host's work, too.
            yield _row(shape, f"pass: {name}", figures, theirs, theirs / figures["pass_seconds"])


def fit_rows(cases: tuple[tuple[Shape, str, float, float, float], ...]) -> Iterator[Row]:
    """Whole fits against all cores of the host."""
    measured = measure(time_fits, [case[:2] for case in cases])
    for case, figures in zip(cases, measured, strict=True):
        shape, setting, seconds, faster, proven = case
        theirs = figures["their_seconds"]
        yield _row(
            shape, f"fit over {setting}: all cores", figures, theirs, theirs / figures["seconds"],
            ("seconds", "<=", seconds), ("ratio", ">=", faster),
            ("certificate_seconds", "<=", proven),
        )  # fmt: skip


def stream_rows(shape: Shape) -> Iterator[Row]:
    """A sweep of rows that are copied from page-locked memory, against the copy alone."""
    figures = measure(time_stream, shape)
    copied = figures["copy_seconds"]
    share = copied / figures["seconds"]
    yield _row(shape, "streamed sweep: copy", figures, copied, share, ("ratio", ">=", STREAM_GOAL))


def divergence_rows(shape: Shape) -> Iterator[Row]:
    """A fit of counts under the Kullback-Leibler divergence, against all cores of the host."""
    figures = measure(time_divergence, shape)
    theirs = figures["their_seconds"]
    faster = theirs / figures["seconds"]
    yield _row(shape, "divergence: all cores", figures, theirs, faster, ("ratio", ">=", 1.0))


def _torch() -> Any:
    if find_spec("torch") is None:
        raise SkippedError("torch is not installed: pip install orthonmf[gpu]")
    import torch

    if not torch.cuda.is_available():
        raise SkippedError("torch finds no GPU here")
    return torch


def _torch_version() -> str:
    """That of a torch that finds a GPU."""
    return str(_torch().__version__)


def _seconds(work: Callable[[], Any], n_repeats: int = 7) -> float:
    """Median seconds of some work, the device's included, after two times that do not count."""
    torch = _torch()
    spent = []
    for number in range(n_repeats + 2):
        torch.cuda.synchronize()
        started = time.perf_counter()
        work()
        torch.cuda.synchronize()
        if number > 1:
            spent.append(time.perf_counter() - started)
    return statistics.median(spent)


def copied_per_second() -> float:
    """Bytes that this GPU reads and writes per second when it copies."""
    torch = _torch()
    source = torch.ones(COPIED_BYTES, dtype=torch.uint8, device="cuda")
    target = torch.empty_like(source)
    return 2 * COPIED_BYTES / _seconds(lambda: target.copy_(source))


def plant(shape: Shape, orthogonal: str = "samples") -> Any:
    """Components that share no samples, features or neither, and a little noise, on the device."""
    torch, (n, m, k) = _torch(), shape
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


def time_sweeps(shapes: list[Shape]) -> list[Row]:
    """For every shape: seconds of the floor, of a sweep and of plain torch, and how exact it is."""
    speed = copied_per_second()
    return [_time_sweep(speed, shape) for shape in shapes]


def _time_sweep(speed: float, shape: Shape) -> Row:
    torch, (n, m, k) = _torch(), shape
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
        "energy": energy,
        "labels": labels,
        "rivals": time_rivals(X, k),
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
    spent = [before.elapsed_time(after) for before, after in pairwise(marks[2:])]
    return statistics.median(spent) / 1e3


def _plain(X: Any) -> Any:
    """The matrix of a tensor that no fused kernel reads."""
    from orthonmf.engine.gpu.kernel import TensorKernel
    from orthonmf.engine.gpu.tensor_source import TensorSource

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
    vectors = [torch.tensor(array, dtype=torch.float64, device="cuda") for array in (unit, narrow)]
    for start in range(0, len(X), 2**17):
        wide = X[start : start + 2**17].double()
        energy += float((wide @ vectors[0].T).amax(dim=1).square().sum())
        theirs = (wide @ vectors[1].T).argmax(dim=1).cpu().numpy()
        apart += int((theirs != labels[start : start + len(theirs)]).sum())
    return abs(captured / energy - 1.0), apart / len(X)


def time_fits(cases: list[tuple[Shape, str]]) -> list[Row]:
    """For every matrix and setting: seconds and errors of fits on the device and on the host."""
    return [_time_fit(*case) for case in cases]


def _time_fit(shape: Shape, orthogonal: str) -> Row:
    _torch().cuda.empty_cache()
    X, k = plant(shape, orthogonal), shape[2]

    def fit(given: Any, certificate: str | None = None) -> Factorization:
        return factorize(given, k, orthogonal=orthogonal, random_state=0, certificate=certificate)

    figures = _on_both(fit, X, 5)
    result = fit(X, "svd")
    _, proving = clock(lambda: result.certificate)
    return {**figures, "certificate_seconds": figures["seconds"] + proving}


def _on_both(fit: Callable[[Any], Factorization], X: Any, n_repeats: int) -> Row:
    """Seconds and errors of a fit on the device and on the host."""
    seconds, on_cores = _seconds(lambda: fit(X), n_repeats), X.cpu().numpy()
    ours, (theirs, taken) = fit(X), clock(lambda: fit(on_cores))
    return {
        "seconds": seconds, "error": ours.relative_error,
        "their_seconds": taken, "their_error": theirs.relative_error,
    }  # fmt: skip


def time_divergence(shape: Shape) -> Row:
    """Seconds and lost shares of fits of counts on the device and on the host, and of a sweep."""
    torch, (n, m, k) = _torch(), shape
    made = torch.Generator("cuda").manual_seed(0)
    profiles = torch.rand((k, m), generator=made, device="cuda") ** 8
    profiles *= SUM_OF_COUNTS / profiles.sum(dim=1, keepdim=True)
    owners = torch.randint(k, (n,), generator=made, device="cuda")
    X = torch.poisson(profiles[owners], generator=made)

    def fit(given: Any) -> Factorization:
        return factorize(given, k, beta_loss="kullback-leibler", random_state=0, certificate=None)

    result, matrix = fit(X), as_matrix(X)
    whole = _seconds(lambda: sweep_profiles(matrix, result.components))
    return _on_both(fit, X, 1) | {"pass_seconds": whole}


def time_stream(shape: Shape) -> Row:
    """Seconds of a sweep of rows in page-locked memory, and of the copy alone."""
    torch, (n, m, k) = _torch(), shape
    from orthonmf.engine.gpu.streaming import DeviceBlocks

    X = torch.empty((n, m), pin_memory=True)
    X.copy_(plant(shape))
    room = torch.empty_like(X, device="cuda")
    copied = _seconds(lambda: room.copy_(X, non_blocking=True), 3)
    squares = as_matrix(X.numpy()).row_squares  # the sweep below reads none of them
    directions = np.random.default_rng(1).random((k, m))

    def sweep() -> None:
        source = DeviceBlocks(ArraySource(X.numpy()), torch.device("cuda"), X)
        matrix = Matrix(source, executor_for(source, None), Scan(squares))
        matrix.sweep(directions, by_row=False)

    return {"seconds": _seconds(sweep, 3), "copy_seconds": copied, "bytes": X.nbytes}


def _flash_kmeans(X: Any, k: int, n_iterations: int) -> Any:
    from flash_kmeans import batch_kmeans_Euclid

    return batch_kmeans_Euclid(X[None], k, max_iters=n_iterations, tol=0.0)


def _cuml(X: Any, k: int, n_iterations: int) -> Any:
    from cuml.cluster import KMeans

    # A tolerance that no iteration meets, so that all are made.
    model = KMeans(n_clusters=k, init="random", n_init=1, max_iter=n_iterations, tol=1e-30)
    return model.fit(X)


Run = Callable[[Any, int, int], Any]
RIVALS: dict[str, tuple[str, Run]] = {
    "flash-kmeans": ("flash_kmeans", _flash_kmeans),
    "cuML": ("cuml", _cuml),
}


def time_rivals(X: Any, k: int) -> dict[str, float]:
    """Seconds of one iteration of each program that is installed.

    An iteration reads X once to assign and once to sum, or both at once, as a sweep does; what a
    program does before its first is taken out by the difference of a long run and a short one.
    """

    def seconds(run: Run, n_iterations: int) -> float:
        return _seconds(lambda: run(X, k, n_iterations), 3)

    return {
        name: max(0.0, seconds(run, LONG) - seconds(run, SHORT)) / (LONG - SHORT)
        for name, (module, run) in RIVALS.items()
        if find_spec(module) is not None
    }
