"""Workers in processes of their own, which really get killed: the answer does not change."""

import gc
import os
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest
from scipy.sparse import csr_array

import orthant
from orthant.engine.executors import executor_for
from orthant.engine.work import Work
from orthant.errors import BlockFailedError
from orthant.validation import as_source

dask = pytest.importorskip("dask")
da = pytest.importorskip("dask.array")
distributed = pytest.importorskip("distributed")

# Dask leaves the sockets of a killed worker to the garbage collector.
pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore:unclosed:ResourceWarning")]

STARTS = range(0, 800, 100)
POISON = 300


def started(n_workers, **settings):
    return distributed.LocalCluster(
        n_workers=n_workers,
        threads_per_worker=2 // n_workers,
        processes=True,
        host="127.0.0.1",
        dashboard_address="127.0.0.1:0",
        **settings,
    )


@pytest.fixture(autouse=True)
def no_sockets_for_later_tests():
    yield
    gc.collect()


@pytest.fixture(scope="module")
def client():
    with started(2) as cluster, distributed.Client(cluster, set_as_default=False) as client:
        yield client


@pytest.fixture(scope="module")
def unforgiving():
    """A client of one worker of two threads, given up with all its blocks as soon as it dies."""
    with (
        dask.config.set({"distributed.scheduler.allowed-failures": 0}),
        started(1, memory_limit="600MB") as cluster,
        distributed.Client(cluster, set_as_default=False) as client,
    ):
        yield client


@pytest.fixture
def stored(tmp_path):
    X = orthant.datasets.make_planted(800, 30, 4, 0.3, random_state=1).X
    np.save(tmp_path / "X.npy", np.where(X < 0.2, 0.0, X))
    return tmp_path / "X.npy"


def read(path, start, pause):
    """A block of a file, after a pause that leaves time to kill who reads; every read is noted."""
    time.sleep(pause)
    with open(path.with_suffix(".reads"), "ab") as reads:
        reads.write(b".")
    return np.load(path, mmap_mode="r")[start : start + 100]


def read_or_die(path, start, pause):
    """Kill the process at one block, while the block before it is being read there."""
    begun, killed = path.with_suffix(".begun"), path.with_suffix(".killed")
    if start == POISON - 100 and not killed.exists():
        begun.touch()
        time.sleep(30)
    if start == POISON:
        while not begun.exists():
            time.sleep(0.01)
        killed.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return read(path, start, pause)


def read_too_much(path, start, pause):
    if start == POISON:
        hoard = np.ones(2**27)  # a gigabyte
        time.sleep(30)
        return hoard
    return read(path, start, pause)


def array_of(path, pause=0.0, reader=read):
    blocks = [dask.delayed(reader)(path, start, pause) for start in STARTS]
    return da.concatenate([da.from_delayed(block, (100, 30), dtype=float) for block in blocks])


def fit(X, orthogonal="samples", **options):
    return orthant.factorize(X, 4, orthogonal=orthogonal, random_state=0, max_iter=5, **options)


def same_bits(one, other):
    np.testing.assert_array_equal(one.components, other.components)
    np.testing.assert_array_equal(one.labels, other.labels)
    np.testing.assert_array_equal(one.scales, other.scales)
    np.testing.assert_array_equal(one.feature_labels, other.feature_labels)
    loadings = [result.loadings for result in (one, other)]
    np.testing.assert_array_equal(
        *(a if a is None or isinstance(a, np.ndarray) else a.toarray() for a in loadings)
    )
    assert one.error == other.error
    assert one.history == other.history


@pytest.mark.filterwarnings("ignore::orthant.errors.FewerComponentsWarning")
@pytest.mark.parametrize("orthogonal", ["samples", "features", "both"])
@pytest.mark.parametrize("store", [np.asarray, csr_array])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_two_processes_give_the_bits_of_one(client, stored, orthogonal, store, dtype):
    X = array_of(stored).astype(dtype).map_blocks(store)
    algorithm = "paper" if orthogonal == "both" else "best"
    alone = fit(X, orthogonal, algorithm=algorithm, n_jobs=1)
    assert alone.components.dtype == dtype
    with client.as_current():
        same_bits(fit(X, orthogonal, algorithm=algorithm), alone)


def process_of(rows, shared, own):
    return os.getpid(), rows.flags.aligned, shared.flags.aligned, own.flags.aligned


def test_blocks_are_worked_on_by_the_workers_and_everything_is_aligned(client, stored):
    work = Work(process_of, {"shared": np.ones(2001)}, {"own": np.ones(800)})
    seen = []
    with client.as_current():
        source = as_source(array_of(stored))
        executor_for(source, 1).fold(source, work, lambda rows, result: seen.append(result))
    assert {pid for pid, *_ in seen} <= set(client.run(os.getpid).values())
    assert [aligned for _, *aligned in seen] == [[True, True, True]] * 8


class Killer(threading.Thread):
    """Kills processes once a file has been read some number of times."""

    def __init__(self, path, reads, pids):
        super().__init__()
        self.reads, self.wanted, self.pids = path.with_suffix(".reads"), reads, pids
        self.killed_at = None

    def n_reads(self):
        return self.reads.stat().st_size if self.reads.exists() else 0

    def run(self):
        deadline = time.monotonic() + 60
        while self.n_reads() < self.wanted and time.monotonic() < deadline:
            time.sleep(0.01)
        self.killed_at = self.n_reads()
        for pid in self.pids:
            os.kill(pid, signal.SIGKILL)


@pytest.mark.parametrize("n_killed", [1, 2])
@pytest.mark.parametrize("persisted", [False, True])
def test_killed_workers_do_not_change_a_bit(client, stored, n_killed, persisted):
    alone = fit(array_of(stored), n_jobs=1)
    stored.with_suffix(".reads").unlink()
    client.wait_for_workers(2)
    pids = list(client.run(os.getpid).values())
    # Reads 21 to 24 are in the third pass over eight blocks, or the first when persisted.
    killer = Killer(stored, 5 if persisted else 21, pids[:n_killed])
    with client.as_current():
        X = array_of(stored, pause=0.05)
        killer.start()
        disturbed = fit(X.persist() if persisted else X)
    killer.join()
    same_bits(disturbed, alone)
    assert killer.n_reads() > killer.killed_at
    client.wait_for_workers(2)
    assert not set(pids[:n_killed]) & set(client.run(os.getpid).values())


def test_a_block_that_kills_its_workers_is_named_by_its_rows(unforgiving, stored):
    message = r"rows 300:400 of X cannot be worked on.*X\.rechunk\(\{0: 25\}\).*127\.0\.0\.1"
    with unforgiving.as_current(), pytest.raises(BlockFailedError, match=message):
        fit(array_of(stored, reader=read_or_die))


def test_a_block_too_large_for_a_worker_is_named_by_its_rows(unforgiving, stored):
    unforgiving.wait_for_workers(1)
    message = "rows 300:400 of X .*give workers more memory"
    with unforgiving.as_current(), pytest.raises(BlockFailedError, match=message):
        fit(array_of(stored, reader=read_too_much))


def test_scattered_rows_that_died_with_their_worker_are_named(client, stored):
    client.wait_for_workers(2)
    X = np.load(stored)
    pieces = [client.scatter(X[start : start + 100]) for start in STARTS]
    with client.as_current():
        arrays = [da.from_delayed(dask.delayed(piece), (100, 30), float) for piece in pieces]
        source = as_source(da.concatenate(arrays))
        for pid in client.run(os.getpid).values():
            os.kill(pid, signal.SIGKILL)
        with pytest.raises(BlockFailedError, match=r"rows 700:800 of X are lost.*scattered"):
            source.rows(np.array([750]))


# A client of its own process, at work on the cluster of the test, slowly and with a checkpoint.
CLIENT = """
import sys
from pathlib import Path
from tests.engine.test_dask_processes import array_of, distributed, fit

address, path, checkpoint = sys.argv[1:]
with distributed.Client(address):
    fit(array_of(Path(path), 0.02), n_init=3, certificate=None, checkpoint=checkpoint)
"""


def test_a_killed_client_leaves_a_checkpoint_from_which_another_goes_on(client, stored, tmp_path):
    checkpoint = tmp_path / "fit.checkpoint"
    address = client.scheduler_info()["address"]
    command = [sys.executable, "-c", CLIENT, address, str(stored), str(checkpoint)]
    written, deadline = set(), time.monotonic() + 60
    with subprocess.Popen(command) as process:
        try:
            while len(written) < 3:
                assert process.poll() is None, "the fit ended before it could be killed"
                assert time.monotonic() < deadline
                if checkpoint.exists():
                    written.add(checkpoint.stat().st_mtime_ns)
                time.sleep(0.005)
        finally:
            process.send_signal(signal.SIGKILL)
    with client.as_current():
        X = array_of(stored, 0.02)  # the same blocks, so the same fingerprint
        resumed = fit(X, n_init=3, certificate=None, checkpoint=checkpoint)
        same_bits(resumed, fit(X, n_init=3, certificate=None))
