"""Worker processes of a Dask cluster that a test starts, waits for and kills itself.

Dask's own guardians may or may not bring a killed worker back, and when they do is not known. Here
every wait is for a condition: a worker counts once the scheduler knows it, and is gone once the
scheduler has seen that as well. Only the time limit of the test ends a wait in vain.
"""

import os
import signal
import subprocess
import sys
import threading
import time
from contextlib import contextmanager
from pathlib import Path

import dask
import dask.array as da
import distributed
import numpy as np

ROOT = Path(__file__).parents[2]


def until(condition):
    """Wait until a condition holds."""
    while not condition():
        time.sleep(0.02)


def n_reads(path):
    """How often blocks of a file were read."""
    reads = path.with_suffix(".reads")
    return reads.stat().st_size if reads.exists() else 0


def read(path, start, hold_at=None):
    """A block of a file; every read is noted, and from one on they wait until workers are dead."""
    with open(path.with_suffix(".reads"), "ab") as reads:
        reads.write(b".")
    if hold_at is not None and n_reads(path) >= hold_at:
        until(path.with_suffix(".killed").exists)
    return np.load(path, mmap_mode="r")[start : start + 100]


def array_of(path, reader=read, *given):
    """The rows of a file as a Dask array, a hundred to a block."""
    n, m = np.load(path, mmap_mode="r").shape
    blocks = [dask.delayed(reader)(path, start, *given) for start in range(0, n, 100)]
    return da.concatenate([da.from_delayed(block, (100, m), dtype=float) for block in blocks])


class Killer(threading.Thread):
    """Kills workers once a file has been read some number of times, then starts as many."""

    def __init__(self, workers, path, reads, n_killed):
        super().__init__()
        self.workers, self.path, self.wanted, self.n_killed = workers, path, reads, n_killed
        self.killed_at, self.over = None, threading.Event()

    def run(self):
        until(lambda: n_reads(self.path) >= self.wanted or self.over.is_set())
        self.killed_at = n_reads(self.path)
        self.workers.kill(self.n_killed)
        self.path.with_suffix(".killed").touch()
        self.workers.start(self.n_killed)


class Crew:
    """The workers of one scheduler, each a process without a guardian."""

    def __init__(self, client, n_threads=1):
        self.client, self.n_threads = client, n_threads
        self._processes = {}  # by the name of the worker
        self._started = 0

    def names(self):
        """The workers that the scheduler knows."""
        workers = self.client.scheduler_info()["workers"]
        return {worker["name"] for worker in workers.values()}

    def start(self, n_workers):
        """Start workers and wait until they are at work."""
        address = self.client.scheduler.address
        names = [f"crew-{self._started + number}" for number in range(n_workers)]
        self._started += n_workers
        for name in names:
            command = [sys.executable, "-m", "distributed.cli.dask_worker", address, "--no-nanny"]
            command += ["--no-dashboard", "--host", "127.0.0.1", "--name", name]
            command += ["--nthreads", str(self.n_threads), "--memory-limit", "0"]
            self._processes[name] = subprocess.Popen(
                command,
                cwd=ROOT,
                env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
                stderr=subprocess.DEVNULL,
            )
        until(lambda: set(names) <= self.names())

    def fill(self, n_workers):
        """See to it that there are this many workers, the dead ones replaced."""
        self._bury()
        self.start(n_workers - len(self._processes))

    def kill(self, n_workers):
        """Kill workers, and wait until the scheduler has noticed."""
        victims = list(self._processes)[:n_workers]
        for name in victims:
            self._processes[name].send_signal(signal.SIGKILL)
        for name in victims:
            self._processes.pop(name).wait()
        until(lambda: not set(victims) & self.names())

    def kill_all(self):
        self.kill(len(self._processes))

    @contextmanager
    def kept(self, n_workers):
        """Replace every worker that dies inside."""
        self.fill(n_workers)
        over = threading.Event()

        def keep():
            while not over.wait(0.02):
                self.fill(n_workers)

        keeper = threading.Thread(target=keep)
        keeper.start()
        try:
            yield
        finally:
            over.set()
            keeper.join()

    def _bury(self):
        dead = [name for name, process in self._processes.items() if process.poll() is not None]
        for name in dead:
            del self._processes[name]
        until(lambda: not set(dead) & self.names())


@contextmanager
def local_cluster(n_workers, **settings):
    """A scheduler in this process, workers with guardians, and a client."""
    with (
        distributed.LocalCluster(
            n_workers=n_workers,
            processes=True,
            host="127.0.0.1",
            dashboard_address="127.0.0.1:0",
            **settings,
        ) as cluster,
        distributed.Client(cluster.scheduler_address, set_as_default=False) as client,
    ):
        yield cluster, client


@contextmanager
def crew(n_threads=1):
    """A scheduler in this process, a client of it, and no workers yet."""
    with local_cluster(0) as (_, client):
        workers = Crew(client, n_threads)
        try:
            yield workers
        finally:
            workers.kill_all()
