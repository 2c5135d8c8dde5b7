"""Data that stay on disk: the same bits from every store, blocks at most, and little memory."""

import sys
import threading
from functools import cache

import numpy as np
import pytest

import orthonmf
from benchmarks import out_of_core
from benchmarks.rows import measure
from orthonmf.engine.executors import COPIES_OF_A_BLOCK, executor_for
from orthonmf.engine.sources import SlicedSource, dense_boundaries
from orthonmf.errors import InvalidInputError, InvalidTypeError
from tests.engine.stores import Slices, mapped
from tests.same_bits import assert_same_bits

N, M, K = 20_000, 80, 3
BOUNDARIES = dense_boundaries(N, M)
LARGEST_BLOCK = int(np.diff(BOUNDARIES).max())
# Room for one block and the copies of it, not for two.
ONE_BLOCK = LARGEST_BLOCK * M * 8 * 4
# Just what one block takes while it is worked on: nothing is left to keep blocks in.
AT_WORK = LARGEST_BLOCK * M * 8 * COPIES_OF_A_BLOCK
SETTINGS = ("samples", "features", "both")
DATA_LIMIT = 350 * 10**6
LARGE, TOUCHED = 300, 200  # megabytes; half a copy would be too much, too


class Watched(Slices):
    """Slices of rows, with what is asked for at once."""

    def __init__(self, array, dtype=None):
        super().__init__(array)
        self.dtype = np.dtype(dtype or array.dtype)
        self.reading = self.most_at_once = 0
        self._lock = threading.Lock()

    @property
    def most_rows(self):
        return max(stop - start for start, stop in self.read)

    @property
    def bytes_read(self):
        return sum(self.array[start:stop].nbytes for start, stop in self.read)

    def __getitem__(self, rows):
        with self._lock:
            self.reading += 1
            self.most_at_once = max(self.most_at_once, self.reading)
        rows_read = super().__getitem__(rows)
        with self._lock:
            self.reading -= 1
        return rows_read


def planted(n=N, m=M, k=K, seed=3):
    rng = np.random.default_rng(seed)
    blocks = rng.integers(k, size=n)[:, None] == rng.integers(k, size=m)
    return (blocks + 0.3 * rng.random((n, m))) * rng.uniform(0.5, 2.0, (n, 1))


@pytest.fixture(scope="module")
def X():
    return planted()


@pytest.fixture(scope="module")
def stores(X, tmp_path_factory):
    """The same numbers in every kind of store."""
    h5py, zarr = pytest.importorskip("h5py"), pytest.importorskip("zarr")
    folder = tmp_path_factory.mktemp("stores")
    packed = zarr.create_array(str(folder / "x.zarr"), shape=X.shape, dtype="f8", chunks=(3000, M))
    packed[:] = X
    with h5py.File(folder / "x.h5", "w") as file:
        chunks = {"chunks": (1500, 25), "compression": "gzip", "compression_opts": 1}
        file.create_dataset("X", data=X, **chunks)
    with h5py.File(folder / "x.h5", "r") as file:
        yield {
            "npy": mapped(X, folder),
            "hdf5": file["X"],
            "zarr": zarr.open_array(str(folder / "x.zarr"), mode="r"),
            "slices": Slices(X),
        }


def fitted(X, **options):
    given = {"random_state": 5, "certificate": None, "max_iter": 15, "n_jobs": 1, **options}
    return orthonmf.factorize(X, K, **given)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("orthogonal", "algorithm"), [*((s, "best") for s in SETTINGS), ("features", "paper")]
)
def test_every_store_gives_the_same_bits_whoever_works(X, stores, orthogonal, algorithm):
    options = {"orthogonal": orthogonal, "algorithm": algorithm}
    expected = fitted(stores["npy"], **options)
    if algorithm == "paper":
        assert_same_bits(fitted(X, **options), expected)
    for store, n_jobs, max_memory in [
        ("npy", 4, ONE_BLOCK),
        ("hdf5", 2, None),
        ("zarr", 4, f"{ONE_BLOCK} B"),
        ("slices", 4, 3 * ONE_BLOCK),
    ]:
        result = fitted(stores[store], n_jobs=n_jobs, max_memory=max_memory, **options)
        assert_same_bits(result, expected)


@pytest.mark.parametrize("orthogonal", SETTINGS)
def test_no_more_than_a_block_is_asked_for_at_once(X, orthogonal):
    watched = Watched(X)
    fitted(watched, orthogonal=orthogonal, n_jobs=4, max_memory=AT_WORK)
    assert LARGEST_BLOCK < N // 2
    assert watched.most_rows == LARGEST_BLOCK
    assert watched.bytes_read >= 4 * X.nbytes  # a look, some sweeps and the last assignment


@pytest.mark.parametrize("orthogonal", SETTINGS)
def test_what_is_left_of_the_budget_keeps_blocks_between_passes(X, orthogonal):
    def bytes_read(left):
        watched = Watched(X)
        fits.append(fitted(watched, orthogonal=orthogonal, max_memory=AT_WORK + left))
        return watched.bytes_read

    fits = []
    none, some, everything = (bytes_read(left) for left in (0, 3 * LARGEST_BLOCK * M * 8, X.nbytes))
    n_passes = none / X.nbytes
    assert none - some > 0.9 * (n_passes - 1) * 3 / len(BOUNDARIES) * X.nbytes
    assert everything <= X.nbytes + 100 * M * 8  # and single rows, before their block is read
    for other in fits[1:]:
        assert_same_bits(other, fits[0])


def test_no_more_is_kept_than_the_budget_leaves(X):
    for left in (0, 1, LARGEST_BLOCK * M * 8, X.nbytes // 2, X.nbytes):
        source = SlicedSource(X)
        executor_for(source, 1, AT_WORK + left)
        for _ in range(2):
            for number in range(len(BOUNDARIES) - 1):
                np.testing.assert_array_equal(
                    source.block(number), X[BOUNDARIES[number] : BOUNDARIES[number + 1]]
                )
        kept = sum(block.nbytes for block in source.kept.values())
        assert left - LARGEST_BLOCK * M * 8 < kept <= left


@pytest.mark.parametrize(("budget", "at_once"), [(ONE_BLOCK, 1), (2 * ONE_BLOCK, 2)])
def test_the_budget_limits_how_many_blocks_are_at_work(X, budget, at_once):
    watched = Watched(X)
    fitted(watched, n_jobs=4, max_memory=budget)
    assert watched.most_at_once <= at_once


@cache
def of_float64(orthogonal, truths):
    """The bits of a fit to the same whole numbers in float64, or to which of them are not 0."""
    X = np.floor(1.6 * planted(9000))
    return fitted(Slices((X > 0).astype(np.float64) if truths else X), orthogonal=orthogonal)


@pytest.mark.parametrize(
    ("dtype", "orthogonal"),
    [
        ("u1", "both"),
        ("f2", "samples"),
        (">i2", "features"),
        ("?", "samples"),
    ],
)
def test_numbers_of_any_type_are_those_of_float64(dtype, orthogonal, tmp_path):
    X = np.floor(1.6 * planted(9000)).astype(dtype)
    expected = of_float64(orthogonal, dtype == "?")
    assert_same_bits(fitted(mapped(X, tmp_path), orthogonal=orthogonal), expected)
    assert_same_bits(fitted(Slices(X), orthogonal=orthogonal, n_jobs=2), expected)


@pytest.mark.parametrize("orthogonal", SETTINGS)
def test_float32_stays_float32_in_any_order_of_bytes_and_of_entries(orthogonal, tmp_path):
    X = planted(9000).astype(np.float32)
    expected = fitted(mapped(X, tmp_path), orthogonal=orthogonal)
    assert_same_bits(fitted(Slices(X.astype(">f4")), orthogonal=orthogonal), expected)
    assert_same_bits(
        fitted(mapped(np.asfortranarray(X), tmp_path), orthogonal=orthogonal), expected
    )
    result = orthonmf.factorize(Slices(X), K, orthogonal=orthogonal, certificate=None)
    assert result.components.dtype == np.float32


@pytest.mark.slow
def test_weights_and_missing_values_reach_what_is_streamed(X, stores):
    weights = {"sample_weight": np.arange(N) % 3, "feature_weight": np.arange(M) % 4}
    assert_same_bits(
        fitted(stores["slices"], n_jobs=2, **weights), fitted(stores["npy"], **weights)
    )
    holes = X.copy()
    holes[::7, 3] = np.nan
    expected = fitted(holes, missing_values=np.nan)
    assert_same_bits(fitted(Slices(holes), n_jobs=2, missing_values=np.nan), expected)


@pytest.mark.parametrize("n_jobs", [1, 4])
def test_a_bad_entry_in_the_last_block_is_named(X, n_jobs):
    bad = X.copy()
    bad[N - 2, 7] = np.nan
    with pytest.raises(InvalidInputError, match=rf"NaN, the first at X\[{N - 2}, 7\]"):
        fitted(Slices(bad), n_jobs=n_jobs)
    bad[N - 2, 7] = -1.5
    with pytest.raises(InvalidInputError, match=rf"X\[{N - 2}, 7\] = -1.5"):
        fitted(Slices(bad), n_jobs=n_jobs)


def test_slices_of_the_wrong_shape_are_named(X):
    class Short(Slices):
        def __getitem__(self, rows):
            return super().__getitem__(rows)[:-1]

    with pytest.raises(InvalidInputError, match=r"X\[0:\d+\] has shape \(\d+, 80\), but X has"):
        fitted(Short(X))


def test_what_is_no_matrix_of_numbers_is_refused_before_it_is_read(X):
    with pytest.raises(InvalidInputError, match="2-D matrix, got 1 dimension"):
        fitted(Slices(X[:, 0]))
    with pytest.raises(InvalidInputError, match=r"0 sample\(s\)"):
        fitted(Slices(X[:0]))
    for dtype, why in [("O", "no real numbers"), ("c16", "Complex"), ("U3", "text")]:
        watched = Watched(X, dtype)
        with pytest.raises((InvalidInputError, InvalidTypeError), match=why):
            fitted(watched)
        assert watched.bytes_read == 0


def test_a_budget_too_small_for_one_block_names_what_is_needed(X):
    needed = int(LARGEST_BLOCK * M * 8 * COPIES_OF_A_BLOCK)
    with pytest.raises(InvalidInputError, match=rf"1,000,000 bytes, but one block .* {needed:,}$"):
        fitted(Slices(X), max_memory="1MB")


@pytest.mark.skipif(sys.platform != "linux", reason="limits on private memory: Linux only")
@pytest.mark.slow
def test_a_fit_under_a_limit_on_private_memory(tmp_path, monkeypatch):
    """More data than private memory that is touched, imports included.

    The limit on what is reserved is the operating system's; the benchmark sees to it that one
    array of that size is refused.
    """
    path, n_columns = tmp_path / "matrix.npy", 300
    out_of_core.write_matrix(path, LARGE * 10**6 // (4 * n_columns), n_columns, 4)
    for name, value in out_of_core.FEW_BUFFERS.items():
        monkeypatch.setenv(name, value)
    limits = {"limit": DATA_LIMIT, "max_memory": "128MB", "max_iter": 2, "n_jobs": 1}
    for setting in ("samples", "both"):
        figures = measure(out_of_core.fit, path, 4, setting, **limits)
        assert figures["peak_mb"] <= TOUCHED
        assert 1e6 * figures["counted_mb"] <= DATA_LIMIT
        assert figures["lower_bound"] > 0
    path.unlink()
