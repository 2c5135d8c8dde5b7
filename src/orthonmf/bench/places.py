"""The same fit wherever the rows lie: in memory, in a file, on a cluster."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from orthonmf.bench.data import Data
from orthonmf.bench.measuring import SkippedError, clock, measure
from orthonmf.bench.rows import Row
from orthonmf.bench.tasks import CANNOT, Step, Task, without_figures
from orthonmf.engine.sources import dense_boundaries
from orthonmf.errors import MissingExtraError
from orthonmf.extras import import_extra
from orthonmf.fitting import factorize
from orthonmf.numerics.arrays import Array
from orthonmf.numerics.digest import digest

# Given directions and a fixed number of sweeps: everybody reads the data equally often.
FIXED: dict[str, Any] = {"tol": 0.0, "max_iter": 5, "certificate": None}
CHUNKS_OF_ROWS = 4096
N_REPEATS = 3


# How rows are stored, and what is opened for it on a stack that closes it.
Store = Callable[[Array, Path, ExitStack], Any]


def keep_array(X: Array, folder: Path, stack: ExitStack) -> Any:
    """The array itself."""
    return X


def memory_map(X: Array, folder: Path, stack: ExitStack) -> Any:
    """A memory map of an ``.npy`` file."""
    np.save(folder / "X.npy", X)
    return np.load(folder / "X.npy", mmap_mode="r")


def hdf5(X: Array, folder: Path, stack: ExitStack) -> Any:
    """A chunked HDF5 dataset."""
    file = stack.enter_context(import_extra("h5py", "files").File(folder / "X.h5", "w"))
    return file.create_dataset("X", data=X, chunks=_chunks(X))


def zarr(X: Array, folder: Path, stack: ExitStack) -> Any:
    """A zarr array with the codec it comes with."""
    module = import_extra("zarr", "files")
    stored = module.create_array(folder / "X.zarr", shape=X.shape, dtype=X.dtype, chunks=_chunks(X))
    stored[:] = X
    return stored


def _chunks(X: Array) -> tuple[int, int]:
    return min(CHUNKS_OF_ROWS, X.shape[0]), X.shape[1]


def some_rows(path: str, start: int, stop: int) -> Array:
    """Rows of an ``.npy`` file, read where the work is done."""
    return np.load(path, mmap_mode="r")[start:stop]


def dask(X: Array, folder: Path, stack: ExitStack, processes: bool) -> Any:
    """A Dask array over an ``.npy`` file, cut like an array is, with a local cluster at work."""
    arrays = import_extra("dask.array", "dask")
    delayed = import_extra("dask", "dask").delayed(some_rows, pure=True)
    distributed = import_extra("distributed", "dask")
    path = folder / "X.npy"
    np.save(path, X)
    blocks = [
        arrays.from_delayed(delayed(str(path), start, stop), (stop - start, X.shape[1]), X.dtype)
        for start, stop in pairwise(dense_boundaries(*X.shape).tolist())
    ]
    workers: dict[str, Any] = {"n_workers": 1}
    if processes:
        workers = {"n_workers": 2, "threads_per_worker": 1, "host": "127.0.0.1"}
    workers |= {"processes": processes, "dashboard_address": None}
    cluster = stack.enter_context(distributed.LocalCluster(**workers))
    stack.enter_context(distributed.Client(cluster))
    return arrays.concatenate(blocks)


# What holds the rows, and how many threads work on them.
PLACES: dict[str, tuple[Store, int | None]] = {
    "array, one thread": (keep_array, 1),
    "array, all threads": (keep_array, None),
    "memory map": (memory_map, None),
    "HDF5": (hdf5, None),
    "zarr": (zarr, None),
    "Dask, in process": (partial(dask, processes=False), None),
    "Dask, two processes": (partial(dask, processes=True), None),
}


def time_place(data: Data, place: str) -> dict[str, Any]:
    """Fewest seconds of the fit at a place, and a digest of its bits."""
    X, k = data.make(), data.n_components
    store, n_jobs = PLACES[place]
    first = X[:k].astype(np.float64)
    with tempfile.TemporaryDirectory() as folder, ExitStack() as stack:
        try:
            stored = store(X, Path(folder), stack)
        except MissingExtraError as error:
            raise SkippedError(str(error)) from error
        fit = partial(factorize, stored, k, init=first, n_jobs=n_jobs, **FIXED)
        fits = [clock(fit) for _ in range(N_REPEATS)]
    found, seconds = fits[-1][0], min(taken for _, taken in fits)
    bits = digest(found.components, found.labels, found.scales)
    return {"seconds": seconds, "bits": bits, "n_sweeps": found.n_sweeps}


@dataclass(frozen=True, slots=True)
class PlacesTask(Task):
    """One fit at every place; the first place is what the others are compared with."""

    data: Data
    n_steps: int = len(PLACES)
    benchmark: str = "places"

    def rows(self, step: Step) -> Iterator[Row]:
        """One row for every place; what is not installed is a row that says so."""
        reference: dict[str, Any] | None = None
        for place in PLACES:
            step(place)
            row = Row(self.benchmark, self.title, place)
            try:
                found = measure("place", data=self.data, place=place)
            except CANNOT as error:
                yield without_figures(row, error)
                continue
            reference = reference or found
            figures = {
                "seconds": found["seconds"],
                "n_sweeps": found["n_sweeps"],
                "ratio": found["seconds"] / reference["seconds"],
                "same_bits": found["bits"] == reference["bits"],
            }
            yield replace(row, figures=figures)
