"""A Dask array is read where it lies, and whoever works on its blocks, the bits are the same."""

import asyncio

import numpy as np
import pytest
from scipy.sparse import coo_array, csr_array

import orthonmf
from orthonmf.engine.dask.blocks import ExpectedBlock
from orthonmf.engine.executors import Executor, Work, executor_for
from orthonmf.engine.sources import ArraySource, CsrSource, in_memory
from orthonmf.errors import BlockFailedError, InvalidInputError, InvalidTypeError
from orthonmf.inputs.data import as_source
from tests.same_bits import assert_same_bits

dask = pytest.importorskip("dask")
da = pytest.importorskip("dask.array")
distributed = pytest.importorskip("distributed")

from tests.engine.crew import until  # noqa: E402

pytestmark = pytest.mark.slow  # all together take long

LENGTHS = (200, 0, 250, 150, 100)


def planted(dtype=np.float64):
    X = orthonmf.datasets.make_planted(700, 40, 4, 0.3, random_state=1).X
    return np.where(X < 0.2, 0.0, X).astype(dtype)


def chunked(X, store=np.asarray):
    array = da.from_array(X, chunks=(LENGTHS, X.shape[1]))
    return array if store is np.asarray else array.map_blocks(store)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::orthonmf.errors.FewerComponentsWarning")
@pytest.mark.parametrize(
    ("orthogonal", "algorithm", "store", "dtype"),
    [
        ("samples", "best", csr_array, np.float64),
        ("features", "best", np.asarray, np.float32),
        ("both", "paper", csr_array, np.float64),
    ],
)
def test_serial_threads_and_a_cluster_give_the_same_bits(
    client, orthogonal, algorithm, store, dtype
):
    X = chunked(planted(dtype), store)
    weights = np.random.default_rng(0).random(700)

    def fit(n_jobs):
        options = {"orthogonal": orthogonal, "algorithm": algorithm, "sample_weight": weights}
        return orthonmf.factorize(X, 4, max_iter=4, random_state=0, n_jobs=n_jobs, **options)

    alone = fit(1)
    assert alone.components.dtype == dtype
    assert_same_bits(fit(3), alone)
    with client.as_current():
        assert_same_bits(fit(1), alone)


@pytest.mark.filterwarnings("ignore::orthonmf.errors.FewerComponentsWarning")
def test_the_default_over_both_gives_the_same_bits_on_a_cluster(client):
    X = da.from_array(planted()[:90, :12], chunks=(30, 12))
    options = {"orthogonal": "both", "random_state": 0, "max_iter": 2, "certificate": None}
    alone = orthonmf.factorize(X, 3, **options, n_jobs=1)
    with client.as_current():
        assert_same_bits(orthonmf.factorize(X, 3, **options), alone)


def test_a_fit_is_that_of_the_array_in_memory():
    X = planted()
    inside = orthonmf.factorize(X, 4, random_state=0, algorithm="paper")
    result = orthonmf.factorize(chunked(X), 4, random_state=0, algorithm="paper")
    np.testing.assert_array_equal(result.labels, inside.labels)
    np.testing.assert_allclose(result.components, inside.components, rtol=1e-12, atol=1e-14)


def test_a_client_makes_the_cluster_work_and_none_leaves_it_to_threads(client):
    X = chunked(planted())
    assert type(executor_for(as_source(X), 1)) is Executor
    assert type(executor_for(as_source(X), 3)) is Executor
    with client.as_current():
        seen = []
        source = as_source(X)
        executor_for(source, 1).fold(source, Work(worker_of), lambda *_: seen.append(_[1]))
    assert len(seen) == 4
    assert set(seen) <= set(client.nthreads())


def worker_of(kernel, rows):
    return distributed.get_worker().address


def wait_until_nothing_is_left(client):
    """Releases take a moment to arrive; what is never released ends at the test's time limit."""
    until(lambda: not any(client.who_has().values()))


def test_nothing_is_left_on_the_workers_after_a_fit_and_an_interrupt(current):
    def interrupt(rows, result):
        raise KeyboardInterrupt

    orthonmf.factorize(chunked(planted()), 4, random_state=0)
    wait_until_nothing_is_left(current)
    source = as_source(chunked(planted()))
    with pytest.raises(KeyboardInterrupt):
        executor_for(source, 1).fold(source, Work(worker_of), interrupt)
    wait_until_nothing_is_left(current)


@pytest.mark.parametrize(("store", "dtype"), [(np.asarray, np.float32), (csr_array, np.float64)])
def test_rows_are_picked_where_they_lie(client, store, dtype):
    X = planted(dtype)
    wanted = np.array([699, 3, 449, 450, 3, 200])
    for context in (None, client):
        with context.as_current() if context else dask.config.set():
            source = as_source(chunked(X, store))
            rows = source.rows(wanted)
            part = in_memory(source.take(np.flatnonzero(X[:, 0] > 1)))
            nothing = source.rows(np.arange(0))
        assert rows.dtype == np.float64
        np.testing.assert_array_equal(rows, X[wanted])
        assert isinstance(part, ArraySource if store is np.asarray else CsrSource)
        assert part.dtype == dtype
        np.testing.assert_array_equal(part.rows(np.arange(part.shape[0])), X[X[:, 0] > 1])
        assert nothing.shape == (0, 40)


def test_only_blocks_that_hold_wanted_rows_are_computed(current, tmp_path):
    def noted(block, block_info=None):
        start, stop = block_info[0]["array-location"][0]
        (tmp_path / f"{start}-{stop}").touch()
        return block

    source = as_source(chunked(planted()).map_blocks(noted, dtype=np.float64))
    for path in tmp_path.iterdir():
        path.unlink()
    source.rows(np.array([460, 210, 450]))
    assert sorted(path.name for path in tmp_path.iterdir()) == ["200-450", "450-600"]


def test_integers_and_other_sparse_formats_are_converted():
    X = np.arange(24).reshape(6, 4) % 5
    counts = as_source(da.from_array(X, chunks=(2, 4)).map_blocks(coo_array))
    assert counts.dtype == np.float64
    assert isinstance(counts.block(1), csr_array)
    np.testing.assert_array_equal(counts.block(1).toarray(), X[2:4])


def test_missing_entries_are_left_out_alike(client):
    X = planted()
    X[np.random.default_rng(2).random(X.shape) < 0.1] = np.nan
    options = {"missing_values": np.nan, "random_state": 0, "n_jobs": 1, "max_iter": 3, "n_init": 1}
    inside = orthonmf.factorize(X, 4, **options)
    alone = orthonmf.factorize(chunked(X, csr_array), 4, **options)
    assert alone.error == pytest.approx(inside.error, rel=1e-6)
    with client.as_current():
        assert_same_bits(orthonmf.factorize(chunked(X, csr_array), 4, **options), alone)


def test_the_estimator_takes_a_dask_array(current):
    X = planted()
    model = orthonmf.OrthogonalNMF(4, random_state=0).fit(chunked(X))
    np.testing.assert_array_equal(model.predict(chunked(X)), model.labels_)
    loadings = model.transform(chunked(X))
    assert isinstance(loadings, csr_array)  # one entry a row, however many rows there are
    np.testing.assert_allclose(loadings.toarray(), model.transform(X), rtol=1e-12)
    assert model.score(chunked(X)) == pytest.approx(1 - model.relative_squared_error_)


def refuse(X, message, kind=InvalidInputError):
    with pytest.raises(kind, match=message):
        orthonmf.factorize(X, 2)


def test_what_cannot_be_read_in_blocks_of_rows_is_refused_with_a_remedy():
    X = chunked(planted())
    refuse(X[X[:, 0] > 1], r"unknown sizes.*X\.compute_chunk_sizes\(\)")
    refuse(X.rechunk({1: 10}), r"4 chunks along its features.*X\.rechunk\(\{1: -1\}\)")
    refuse(X[:, 0], "Expected a 2-D matrix, got 1 dimension")
    refuse(X[:, :0], "0 feature")
    refuse(X.astype(complex), "Complex data not supported")
    refuse(X.astype(str), "text", InvalidTypeError)
    refuse(X.astype(object), "no real numbers", InvalidTypeError)
    refuse(dask.delayed(planted)(), "is a Delayed of Dask", InvalidTypeError)


def test_a_dask_frame_is_refused_with_a_remedy():
    pandas = pytest.importorskip("pandas")
    dataframe = pytest.importorskip("dask.dataframe")
    frame = dataframe.from_pandas(pandas.DataFrame(planted()), npartitions=2)
    refuse(frame, r"to_dask_array\(lengths=True\)", InvalidTypeError)
    array = frame.to_dask_array(lengths=True)
    assert as_source(array).shape == (700, 40)


def changed(X, rows, function):
    """A Dask array of which the block that begins at some row is made by a function."""

    def block(values, block_info=None):
        start, _ = block_info[0]["array-location"][0]
        return function(values) if start == rows else values

    return X.map_blocks(block, dtype=X.dtype, meta=np.empty((0, 0), X.dtype))


def corrupt(values):
    block = csr_array(values)
    block.indices[0] = 99
    return block


@pytest.mark.parametrize("on_cluster", [False, True])
def test_a_block_that_is_not_what_it_should_be_is_named_by_its_rows(client, on_cluster):
    X, S = chunked(planted()), chunked(planted(), csr_array)
    with client.as_current() if on_cluster else dask.config.set():
        refuse(changed(X, 450, lambda v: v[1:]), r"rows 450:600 of X have shape \(149, 40\)")
        refuse(changed(X, 450, csr_array), "rows 450:600 of X are sparse .* X is dense")
        refuse(changed(S, 600, lambda v: v.toarray()), "rows 600:700 of X are dense")
        refuse(changed(S, 600, corrupt), "rows 600:700 of X.*structure of X is corrupt")
        narrow = X.astype(np.float32)
        refuse(changed(narrow, 450, lambda v: v.astype(float)), "rows 450:600 .* dtype float64")
        refuse(changed(narrow, 450, lambda v: v.astype(int)), "rows 450:600 .* dtype int64")
        refuse(changed(X, 450, list), "rows 450:600 of X have shape None")
        refuse(changed(X, 200, lambda v: v - 9), r"Negative values in data: the first is X\[200, 0")
        refuse(changed(X, 200, lambda v: v * np.nan), r"NaN, the first at X\[200, 0\]")


def test_a_block_of_another_dtype_is_computed_in_float64_as_all_others_are():
    X = np.round(9 * planted())
    mixed = changed(chunked(X), 450, lambda v: v.astype(np.float32))
    result = orthonmf.factorize(mixed, 3, random_state=0)
    assert result.components.dtype == np.float64
    expected = orthonmf.factorize(chunked(X), 3, random_state=0)
    np.testing.assert_array_equal(result.components, expected.components)


def test_an_error_of_a_block_keeps_its_type_and_message_and_names_the_rows(current):
    def fail(values):
        raise KeyError("no such file today")

    with pytest.raises(KeyError, match="no such file today") as caught:
        orthonmf.factorize(changed(chunked(planted()), 450, fail), 2)
    assert "This happened in rows 450:600 of X." in caught.value.__notes__


def test_a_block_that_exhausts_memory_is_named_with_a_remedy(current):
    def exhaust(values):
        raise MemoryError("Unable to allocate 1 PiB")

    message = r"rows 450:600 of X do not fit.*X\.rechunk\(\{0: 37\}\).*Unable to allocate 1 PiB"
    with pytest.raises(BlockFailedError, match=message):
        orthonmf.factorize(changed(chunked(planted()), 450, exhaust), 2)


def test_reading_may_fail_now_and_then(current, tmp_path):
    def read(values):
        failures = len(list(tmp_path.iterdir()))
        if failures < 2:
            (tmp_path / f"{failures}").touch()
            raise OSError("connection reset")
        return values

    source = as_source(changed(chunked(planted()), 450, read))
    np.testing.assert_array_equal(source.rows(np.array([500])), planted()[[500]])
    assert len(list(tmp_path.iterdir())) == 2


def test_an_asynchronous_client_is_refused(cluster):
    async def fit():
        address = cluster.scheduler_address
        async with distributed.Client(address, asynchronous=True, set_as_default=False) as client:
            with client.as_current():
                as_source(chunked(planted()))

    with pytest.raises(InvalidInputError, match="asynchronous"):
        asyncio.run(fit())


def test_blocks_are_aligned_wherever_they_come_to_lie():
    X = planted()[:100]
    memory = np.empty(X.nbytes + 1, dtype=np.uint8)
    shifted = memory[1:].view(X.dtype).reshape(X.shape)
    shifted[...] = X
    assert not shifted.flags.aligned
    expected = ExpectedBlock(slice(0, 100), 40, X.dtype, False, np.asarray)
    rows = expected.read(shifted)
    assert rows.flags.aligned
    np.testing.assert_array_equal(rows, X)
