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

import distributed

ROOT = Path(__file__).parents[2]


def until(condition):
    """Wait until a condition holds."""
    while not condition():
        time.sleep(0.02)


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

    def pids(self):
        return {process.pid for process in self._processes.values()}

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
        found = Crew(client, n_threads)
        try:
            yield found
        finally:
            found.kill_all()
