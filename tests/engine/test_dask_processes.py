"""Workers in processes of their own, which really get killed: the answer does not change.

No test waits on a clock: a block that is to be read while something happens is held back until it
has happened.
"""

import gc
import os
import signal
import subprocess
import sys

import numpy as np
import pytest
from scipy.sparse import csr_array

import orthonmf
from orthonmf.errors import BlockFailedError
from orthonmf.inputs.data import as_source
from tests.same_bits import assert_same_bits

dask = pytest.importorskip("dask")
da = pytest.importorskip("dask.array")
distributed = pytest.importorskip("distributed")

from tests.engine.crew import (  # noqa: E402
    ROOT,
    Killer,
    array_of,
    crew,
    local_cluster,
    n_reads,
    read,
    until,
)

# Dask leaves the sockets of a killed worker to the garbage collector.
pytestmark = [pytest.mark.cluster, pytest.mark.filterwarnings("ignore:unclosed:ResourceWarning")]

STARTS = range(0, 800, 100)
POISON = 300


@pytest.fixture(autouse=True)
def no_sockets_for_later_tests():
    yield
    gc.collect()


@pytest.fixture(scope="module")
def workers():
    with crew() as workers:
        yield workers


@pytest.fixture
def client(workers):
    """A client of two workers of one thread each."""
    workers.fill(2)
    return workers.client


@pytest.fixture
def unforgiving():
    """Workers of two threads, given up with all their blocks as soon as they die."""
    given_up = dask.config.set({"distributed.scheduler.allowed-failures": 0})
    with given_up, crew(n_threads=2) as workers:
        yield workers


@pytest.fixture
def small():
    """A client of one worker of little memory, whose guardian kills it and starts it again.

    However long a start takes: by default Dask gives up a worker that is away for 15 s.
    """
    settings = {
        "distributed.scheduler.allowed-failures": 0,
        "distributed.deploy.lost-worker-timeout": "1 day",
    }
    guarded = local_cluster(1, threads_per_worker=2, memory_limit="600MB")
    with dask.config.set(settings), guarded as (_, client):
        yield client


@pytest.fixture
def stored(tmp_path):
    X = orthonmf.datasets.make_planted(800, 30, 4, 0.3, random_state=1).X
    np.save(tmp_path / "X.npy", np.where(X < 0.2, 0.0, X))
    return tmp_path / "X.npy"


def read_or_die(path, start):
    """Kill the process at one block, while a block of the task before is being read there."""
    begun, killed = path.with_suffix(".begun"), path.with_suffix(".killed")
    if start == POISON - 200 and not killed.exists():
        begun.touch()
        until(lambda: False)
    if start == POISON:
        until(begun.exists)
        killed.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return read(path, start)


def read_too_much(path, start):
    if start == POISON:
        hoard = np.ones(2**27)  # a gigabyte
        until(lambda: hoard is None)
    return read(path, start)


def fit(X, orthogonal="samples", **options):
    return orthonmf.factorize(X, 4, orthogonal=orthogonal, random_state=0, max_iter=5, **options)


@pytest.mark.filterwarnings("ignore::orthonmf.errors.FewerComponentsWarning")
@pytest.mark.parametrize(
    ("orthogonal", "store", "dtype"),
    [
        ("samples", csr_array, np.float64),
        ("features", np.asarray, np.float32),
    ],
)
def test_two_processes_give_the_bits_of_one(client, stored, orthogonal, store, dtype):
    X = array_of(stored).astype(dtype).map_blocks(store)
    alone = fit(X, orthogonal, n_jobs=1)
    assert alone.components.dtype == dtype
    with client.as_current():
        assert_same_bits(fit(X, orthogonal), alone)


@pytest.mark.parametrize(("n_killed", "persisted"), [(1, True), (2, False)])
def test_killed_workers_do_not_change_a_bit(client, workers, stored, n_killed, persisted):
    alone = fit(array_of(stored), n_jobs=1)
    stored.with_suffix(".reads").unlink()
    # Read 21 is in the third pass over eight blocks, read 5 in the first.
    hold_at = 5 if persisted else 21
    killer = Killer(workers, stored, hold_at, n_killed)
    with client.as_current():
        X = array_of(stored, read, hold_at)
        killer.start()
        try:
            disturbed = fit(X.persist() if persisted else X)
        finally:
            killer.over.set()
            killer.join()
    assert_same_bits(disturbed, alone)
    assert n_reads(stored) > killer.killed_at >= hold_at


def test_a_block_that_kills_its_workers_is_named_by_its_rows(unforgiving, stored):
    message = r"rows 300:400 of X cannot be worked on.*X\.rechunk\(\{0: 25\}\).*127\.0\.0\.1"
    with (
        unforgiving.kept(1),
        unforgiving.client.as_current(),
        pytest.raises(BlockFailedError, match=message),
    ):
        fit(array_of(stored, read_or_die))


def test_a_block_too_large_for_a_worker_is_named_by_its_rows(small, stored):
    message = "rows 300:400 of X .*give workers more memory"
    with small.as_current(), pytest.raises(BlockFailedError, match=message):
        fit(array_of(stored, read_too_much))


def test_scattered_rows_that_died_with_their_worker_are_named(client, workers, stored):
    X = np.load(stored)
    pieces = [client.scatter(X[start : start + 100]) for start in STARTS]
    with client.as_current():
        arrays = [da.from_delayed(dask.delayed(piece), (100, 30), float) for piece in pieces]
        source = as_source(da.concatenate(arrays))
        workers.kill_all()
        workers.start(1)
        with pytest.raises(BlockFailedError, match=r"rows 700:800 of X are lost.*scattered"):
            source.rows(np.array([750]))


# A client of its own process, at work on the cluster of the test, with a checkpoint.
CLIENT = """
import sys
from pathlib import Path
from tests.engine.crew import array_of, distributed, read
from tests.engine.test_dask_processes import fit

address, path, checkpoint, hold_at = sys.argv[1:]
with distributed.Client(address):
    X = array_of(Path(path), read, int(hold_at))
    fit(X, n_init=3, certificate=None, checkpoint=checkpoint)
"""


def test_a_killed_client_leaves_a_checkpoint_from_which_another_goes_on(client, stored, tmp_path):
    checkpoint, hold_at = tmp_path / "fit.checkpoint", 100  # of about 150 reads
    given = [client.scheduler.address, stored, checkpoint, hold_at]
    with subprocess.Popen([sys.executable, "-c", CLIENT, *map(str, given)], cwd=ROOT) as process:
        try:
            until(lambda: n_reads(stored) >= hold_at or process.poll() is not None)
            assert process.poll() is None, "the fit ended before it could be killed"
        finally:
            process.kill()
    stored.with_suffix(".killed").touch()
    assert checkpoint.exists()
    with client.as_current():
        X = array_of(stored, read, hold_at)  # the same blocks, so the same fingerprint
        before = n_reads(stored)
        resumed = fit(X, n_init=3, certificate=None, checkpoint=checkpoint)
        between = n_reads(stored)
        assert_same_bits(resumed, fit(X, n_init=3, certificate=None))
    assert between - before < n_reads(stored) - between
