"""The same fit wherever the rows lie: in memory, in a file, on a cluster.

Fewest milliseconds of three fits that start from the same directions and do five sweeps: everybody
reads the data equally often. Dask's blocks are those of the array, so the bits are the same.
"""

from __future__ import annotations

import hashlib
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.data import Data
from benchmarks.rows import Row, SkippedError, clock, guard, measure
from orthonmf import factorize
from orthonmf.engine.sources import dense_boundaries

FIXED: dict[str, Any] = {"tol": 0.0, "max_iter": 5, "certificate": None}
CHUNKS_OF_ROWS = 4096
N_REPEATS = 3
Array = np.ndarray


def memory_map(X: Array, folder: Path, stack: ExitStack) -> Any:
    """A memory map of an ``.npy`` file."""
    np.save(folder / "X.npy", X)
    return np.load(folder / "X.npy", mmap_mode="r")


def hdf5(X: Array, folder: Path, stack: ExitStack) -> Any:
    """A chunked HDF5 dataset."""
    import h5py

    file = stack.enter_context(h5py.File(folder / "X.h5", "w"))
    return file.create_dataset("X", data=X, chunks=_chunks(X))


def zarr(X: Array, folder: Path, stack: ExitStack) -> Any:
    """A zarr array with the codec it comes with."""
    import zarr

    stored = zarr.create_array(folder / "X.zarr", shape=X.shape, dtype=X.dtype, chunks=_chunks(X))
    stored[:] = X
    return stored


def _chunks(X: Array) -> tuple[int, int]:
    return min(CHUNKS_OF_ROWS, X.shape[0]), X.shape[1]


def some_rows(path: str, start: int, stop: int) -> Array:
    """Rows of an ``.npy`` file, read where the work is done."""
    return np.load(path, mmap_mode="r")[start:stop]


def on_dask(X: Array, folder: Path, stack: ExitStack, processes: bool) -> Any:
    """A Dask array over an ``.npy`` file, cut like an array is, with a local cluster at work."""
    import dask
    import dask.array
    import distributed

    path, delayed = folder / "X.npy", dask.delayed(some_rows, pure=True)
    np.save(path, X)
    blocks = [
        dask.array.from_delayed(
            delayed(str(path), start, stop), (stop - start, X.shape[1]), X.dtype
        )
        for start, stop in pairwise(dense_boundaries(*X.shape).tolist())
    ]
    cluster = stack.enter_context(local_cluster(2 if processes else 1, processes))
    stack.enter_context(distributed.Client(cluster))
    return dask.array.concatenate(blocks)


def local_cluster(n_workers: int, processes: bool) -> Any:
    """A worker with all threads or several with one each, in this process or in their own."""
    import distributed

    return distributed.LocalCluster(
        n_workers=n_workers, threads_per_worker=1 if n_workers > 1 else None, processes=processes,
        host="127.0.0.1" if processes else None, dashboard_address=None, memory_limit=0,
    )  # fmt: skip


# How rows are stored, with a stack that closes what is opened for it, and how many threads of
# this process work on them.
PLACES: dict[str, tuple[Callable[[Array, Path, ExitStack], Any], int | None]] = {
    "array, one thread": (lambda X, folder, stack: X, 1),
    "array, all threads": (lambda X, folder, stack: X, None),
    "memory map": (memory_map, None),
    "HDF5": (hdf5, None),
    "zarr": (zarr, None),
    "Dask, in process": (partial(on_dask, processes=False), None),
    "Dask, two processes": (partial(on_dask, processes=True), None),
}


def places(tiny: bool) -> Iterator[Row]:
    """One row for every place, compared with the first; what is not installed says so."""
    data = Data("uniform", 200_000, 500, 20, dtype="float32")
    data = Data("uniform", 2_000, 30, 3) if tiny else data
    reference: Row = {}
    for place in PLACES:
        row = guard(data.title, measure, time_place, data, place, against=place)
        if bits := row.pop("bits", None):
            reference = reference or row | {"bits": bits}
            row |= {"ratio": row["ms"] / reference["ms"], "same_bits": bits == reference["bits"]}
        yield row


def time_place(data: Data, place: str) -> Row:
    """Fewest milliseconds of the fit at a place, and a digest of its bits."""
    X, k = data.make(), data.n_components
    store, n_jobs = PLACES[place]
    first = X[:k].astype(np.float64)
    with tempfile.TemporaryDirectory() as folder, ExitStack() as stack:
        try:
            stored = store(X, Path(folder), stack)
        except ImportError as error:
            raise SkippedError(str(error)) from error
        fit = partial(factorize, stored, k, init=first, n_jobs=n_jobs, **FIXED)
        fits = [clock(fit) for _ in range(N_REPEATS)]
    result = fits[-1][0]
    digest = hashlib.sha256()
    for array in (result.components, result.labels, result.scales):
        digest.update(np.ascontiguousarray(array).tobytes())
    return {
        "ms": 1e3 * min(seconds for _, seconds in fits),
        "sweeps": result.n_sweeps,
        "bits": digest.hexdigest(),
    }
