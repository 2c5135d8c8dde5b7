"""The same fit wherever the rows lie: in memory, in a file, on a cluster."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from orthant.bench.data import Data
from orthant.bench.measuring import MeasurementError, SkippedError, clock, measure
from orthant.bench.rows import Row
from orthant.bench.tasks import Step, Task, without_figures
from orthant.engine.sources import dense_boundaries
from orthant.errors import MissingExtraError
from orthant.extras import import_extra
from orthant.fitting import factorize
from orthant.numerics.arrays import Array
from orthant.numerics.digest import digest

# Given directions and a fixed number of sweeps: everybody reads the data equally often.
FIXED: dict[str, Any] = {"tol": 0.0, "max_iter": 5, "certificate": None}
CHUNKS_OF_ROWS = 4096
N_REPEATS = 3


@contextmanager
def held(X: Array, folder: Path) -> Iterator[Any]:
    """The array itself."""
    yield X


@contextmanager
def memory_map(X: Array, folder: Path) -> Iterator[Any]:
    """A memory map of an ``.npy`` file."""
    np.save(folder / "X.npy", X)
    yield np.load(folder / "X.npy", mmap_mode="r")


@contextmanager
def hdf5(X: Array, folder: Path) -> Iterator[Any]:
    """A chunked HDF5 dataset."""
    h5py = import_extra("h5py", "files")
    with h5py.File(folder / "X.h5", "w") as file:
        yield file.create_dataset("X", data=X, chunks=_chunks(X))


@contextmanager
def zarr(X: Array, folder: Path) -> Iterator[Any]:
    """A zarr array with the codec it comes with."""
    module = import_extra("zarr", "files")
    stored = module.create_array(folder / "X.zarr", shape=X.shape, dtype=X.dtype, chunks=_chunks(X))
    stored[:] = X
    yield stored


def _chunks(X: Array) -> tuple[int, int]:
    return min(CHUNKS_OF_ROWS, X.shape[0]), X.shape[1]


def some_rows(path: str, start: int, stop: int) -> Array:
    """Rows of an ``.npy`` file, read where the work is done."""
    return np.load(path, mmap_mode="r")[start:stop]


@contextmanager
def dask(X: Array, folder: Path, processes: bool) -> Iterator[Any]:
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
    stored = arrays.concatenate(blocks)
    workers: dict[str, Any] = {"n_workers": 1}
    if processes:
        workers = {"n_workers": 2, "threads_per_worker": 1, "host": "127.0.0.1"}
    with ExitStack() as stack:
        cluster = stack.enter_context(
            distributed.LocalCluster(processes=processes, dashboard_address=None, **workers)
        )
        stack.enter_context(distributed.Client(cluster))
        yield stored


PLACES: dict[str, tuple[Callable[..., Any], dict[str, Any], int | None]] = {
    "array, one thread": (held, {}, 1),
    "array, all threads": (held, {}, None),
    "memory map": (memory_map, {}, None),
    "HDF5": (hdf5, {}, None),
    "zarr": (zarr, {}, None),
    "Dask, in process": (dask, {"processes": False}, None),
    "Dask, two processes": (dask, {"processes": True}, None),
}


def time_place(data: Data, place: str) -> dict[str, Any]:
    """Fewest seconds of the fit at a place, and a digest of its bits; in its own process."""
    X, k = data.make(), data.n_components
    store, options, n_jobs = PLACES[place]
    first = X[:k].astype(np.float64)
    with tempfile.TemporaryDirectory() as folder:
        try:
            with store(X, Path(folder), **options) as stored:
                fit = partial(factorize, stored, k, seeding=first, n_jobs=n_jobs, **FIXED)
                fits = [clock(fit) for _ in range(N_REPEATS)]
        except MissingExtraError as error:
            raise SkippedError(str(error)) from error
    found, seconds = fits[-1][0], min(taken for _, taken in fits)
    bits = digest(found.components, found.labels, found.scales)
    return {"seconds": seconds, "bits": bits, "n_sweeps": found.n_sweeps}


@dataclass(frozen=True, slots=True)
class PlacesTask(Task):
    """One fit at every place; the first place is what the others are compared with."""

    data: Data
    benchmark: str = "places"

    @property
    def n_steps(self) -> int:
        """One process for every place."""
        return len(PLACES)

    def rows(self, step: Step) -> Iterator[Row]:
        """One row for every place; what is not installed is a row that says so."""
        reference: dict[str, Any] | None = None
        for place in PLACES:
            step(place)
            row = Row(self.benchmark, self.title, place)
            try:
                found = measure("place", data=self.data, place=place)
            except (SkippedError, MeasurementError) as error:
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
