"""A matrix on disk, fitted in little memory, against one plain read of its file.

The file is written in pieces and fitted in every setting, each in a process of its own whose
private memory is limited by the operating system (RLIMIT_DATA; the mapped file does not count).
"""

from __future__ import annotations

import os
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from unittest.mock import patch

import numpy as np

from benchmarks.data import SETTINGS, Data
from benchmarks.memory import system_bytes
from benchmarks.rows import Row, SkippedError, clock, guard, measure
from orthonmf import factorize

LIMIT, MAX_MEMORY = 10**9, "512MB"  # of the whole process, and what the fit is told to keep to
PIECE = 4096
# One buffer of BLAS per thread that calls it is enough; more would count.
FEW_BUFFERS = {"OPENBLAS_NUM_THREADS": "1", "MALLOC_ARENA_MAX": "2"}


def out_of_core(tiny: bool) -> Iterator[Row]:
    """6 GB of float32, under `TMPDIR`, in every setting."""
    data = Data("blocks", *((20_000, 47, 3) if tiny else (1_600_000, 940, 8)), dtype="float32")
    with tempfile.TemporaryDirectory() as folder, patch.dict(os.environ, FEW_BUFFERS):
        path = Path(folder) / "matrix.npy"
        write_matrix(path, *data.sizes)
        for setting in SETTINGS:
            case = f"{data.title} {setting}"
            yield guard(case, measure, fit, path, data.n_components, setting)


def write_matrix(path: Path, n_rows: int, n_columns: int, n_blocks: int) -> None:
    """Planted blocks under noise as float32, written a few rows at a time."""
    rng = np.random.default_rng(0)
    out = np.lib.format.open_memmap(path, "w+", np.float32, (n_rows, n_columns))
    owners = rng.integers(n_blocks, size=n_columns)
    noise = 0.5 * rng.random((PIECE, n_columns), dtype=np.float32)
    for start in range(0, n_rows, PIECE):
        size = min(PIECE, n_rows - start)
        planted = rng.integers(n_blocks, size=size)[:, None] == owners
        scales = rng.uniform(0.5, 2.0, size).astype(np.float32)[:, None]
        shift = int(rng.integers(n_columns))
        out[start : start + size] = (planted + np.roll(noise[:size], shift, axis=1)) * scales
    out.flush()


def fit(
    path: Path, k: int, setting: str, limit: int = LIMIT, max_memory: str = MAX_MEMORY,
    max_iter: int = 20, n_jobs: int = 2,
) -> Row:  # fmt: skip
    """What a fit of the file takes under the limit, with and without its certificate."""
    limit_private_memory(limit)
    _, one_read = clock(partial(read, path))
    X = np.load(path, mmap_mode="r")
    options: Row = {"max_memory": max_memory, "max_iter": max_iter, "n_jobs": n_jobs}
    options |= {"random_state": 0}
    with watch() as peaks:
        result, seconds = clock(partial(factorize, X, k, orthogonal=setting, **options))
        certificate, proving = clock(lambda: result.certificate)
    return {
        "seconds": seconds,
        "reads": seconds / one_read,
        "reads_with_certificate": (seconds + proving) / one_read,
        "n_sweeps": result.n_sweeps,
        "error": result.relative_squared_error,
        "lower_bound": certificate.lower_bound,
        "peak_mb": peaks["RssAnon"] / 1e6,
        "counted_mb": peaks["VmData"] / 1e6,
    }


def limit_private_memory(limit: int) -> None:
    """Let the operating system refuse more than this many bytes, and see that it does."""
    import resource

    resource.setrlimit(resource.RLIMIT_DATA, (limit, limit))
    try:
        np.ones(limit, dtype=np.uint8)
    except MemoryError:
        return
    raise SkippedError("the limit on private memory is not kept by this system")


def read(path: Path) -> None:
    """One plain read of a file."""
    buffer = bytearray(2**22)
    with open(path, "rb", buffering=0) as file:
        while file.readinto(buffer):
            pass


@contextmanager
def watch() -> Iterator[dict[str, int]]:
    """The most private memory that is touched and counted inside, looked up every few ms."""
    peaks, done = {"RssAnon": 0, "VmData": 0}, threading.Event()

    def look() -> None:
        while not done.wait(0.003):
            peaks.update({name: max(peak, system_bytes(name)) for name, peak in peaks.items()})

    usual = threading.stack_size(2**18)  # a whole stack of 8 MB would count
    watcher = threading.Thread(target=look, daemon=True)
    watcher.start()
    threading.stack_size(usual)
    try:
        yield peaks
    finally:
        done.set()
        watcher.join()
