"""A matrix on disk, fitted in little memory: `python -m benchmarks out_of_core`.

The file is written in pieces and fitted in every setting, each in a process of its own whose
private memory is limited by the operating system (RLIMIT_DATA; the mapped file does not count).
Seconds are set against one plain read of the file in the same process.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from contextlib import contextmanager
from pathlib import Path

import numpy as np

PIECE = 4096
SETTINGS = ("samples", "features", "both")
HOME = Path(__file__).resolve().parents[1]


def write_matrix(path, n_rows, n_columns, n_blocks, seed=0):
    """Planted blocks under noise as float32, written a few rows at a time."""
    rng = np.random.default_rng(seed)
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


def private_memory():
    """(RssAnon, VmData) of this process in bytes: touched, and counted by RLIMIT_DATA."""
    lines = Path("/proc/self/status").read_text().splitlines()
    sizes = {name: rest for name, _, rest in (line.partition(":") for line in lines)}
    return tuple(int(sizes[name].split()[0]) * 1024 for name in ("RssAnon", "VmData"))


@contextmanager
def watch():
    """The highest RssAnon and VmData inside, looked up every few milliseconds."""
    peaks, done = [0, 0], threading.Event()

    def look():
        while not done.wait(0.003):
            peaks[:] = map(max, peaks, private_memory())

    usual = threading.stack_size(2**18)  # a whole stack of 8 MB would count
    watcher = threading.Thread(target=look, daemon=True)
    watcher.start()
    threading.stack_size(usual)
    try:
        yield peaks
    finally:
        done.set()
        watcher.join()


def seconds_to_read(path):
    """Time of one plain read of a file."""
    buffer = bytearray(2**22)
    started = time.perf_counter()
    with open(path, "rb", buffering=0) as file:
        while file.readinto(buffer):
            pass
    return time.perf_counter() - started


def limit_private_memory(limit):
    """Let the operating system refuse more than this many bytes, and see that it does."""
    import resource

    resource.setrlimit(resource.RLIMIT_DATA, (limit, limit))
    try:
        np.ones(limit, dtype=np.uint8)
    except MemoryError:
        return
    raise SystemExit("the limit on private memory is not kept by this system")


def fit(options):
    """Fit a file under the limit and print what it took as one JSON line."""
    import orthonmf

    after_import = private_memory()
    limit_private_memory(options.limit)
    one_read = seconds_to_read(options.fit)
    X = np.load(options.fit, mmap_mode="r")
    started = time.perf_counter()
    with watch() as peaks:
        result = orthonmf.factorize(
            X,
            options.components,
            orthogonal=options.settings[0],
            max_memory=options.max_memory,
            max_iter=options.max_iter,
            n_jobs=options.jobs,
            random_state=0,
        )
        lower_bound = result.certificate.lower_bound
    seconds = time.perf_counter() - started
    figures = {
        "setting": options.settings[0],
        "bytes": X.nbytes,
        "limit": options.limit,
        "seconds": seconds,
        "seconds_until_certificate": result.seconds,
        "seconds_to_read_once": one_read,
        "reads": seconds / one_read,
        "rss_anon_after_import": after_import[0],
        "vm_data_after_import": after_import[1],
        "peak_rss_anon": peaks[0],
        "peak_vm_data": peaks[1],
        "n_sweeps": result.n_sweeps,
        "steps_run": result.steps_run,
        "relative_squared_error": result.relative_squared_error,
        "lower_bound": lower_bound,
    }
    print(json.dumps(figures))


def in_process(options, path, setting):
    """Run a fit in a process of its own; what it printed."""
    command = [sys.executable, "-m", "benchmarks", "out_of_core", "--fit", str(path)]
    command += ["--settings", setting]
    for name in ("limit", "max_memory", "jobs", "components", "max_iter"):
        command += [f"--{name.replace('_', '-')}", str(getattr(options, name))]
    # One buffer of BLAS per thread that calls it is enough; more would count.
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1", "MALLOC_ARENA_MAX": "2"}
    given = {"cwd": HOME, "env": environment, "timeout": options.timeout}
    return json.loads(subprocess.run(command, stdout=subprocess.PIPE, check=True, **given).stdout)


def run(options):
    """Write the matrix, fit it in every setting, and yield what was found."""
    n_rows = options.megabytes * 10**6 // (4 * options.columns)
    with tempfile.TemporaryDirectory(dir=options.folder, prefix="out-of-core-") as folder:
        path = Path(folder) / "matrix.npy"
        write_matrix(path, n_rows, options.columns, options.components)
        for setting in options.settings:
            yield in_process(options, path, setting)


def describe(figures):
    """One line for people."""
    mb = {name: figures[name] / 1e6 for name in ("peak_rss_anon", "peak_vm_data")}
    speed = figures["bytes"] / figures["seconds"] / 1e9
    return (
        f"{figures['setting']:9} {figures['bytes'] / 1e9:.2f} GB under "
        f"{figures['limit'] / 1e6:.0f} MB: {figures['seconds']:.1f} s "
        f"({figures['seconds_until_certificate']:.1f} s before the "
        f"certificate) = {figures['reads']:.0f} reads of {figures['seconds_to_read_once']:.2f} s, "
        f"{speed:.2f} GB/s; peak RssAnon {mb['peak_rss_anon']:.0f} MB, VmData "
        f"{mb['peak_vm_data']:.0f} MB; {figures['n_sweeps']} sweeps, relative squared error "
        f"{figures['relative_squared_error']:.6f}"
    )


def parse(arguments):
    """The options of the command."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks out_of_core", description=__doc__)
    parser.add_argument("--megabytes", type=int, default=6000, help="size of the matrix")
    parser.add_argument("--columns", type=int, default=940)
    parser.add_argument("--limit", type=int, default=10**9, help="bytes of private memory")
    parser.add_argument("--max-memory", default="512MB", help="as in orthonmf.factorize")
    parser.add_argument("--components", type=int, default=8)
    parser.add_argument("--max-iter", type=int, default=300)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--settings", nargs="+", choices=SETTINGS, default=SETTINGS)
    parser.add_argument("--folder", help="where the matrix is written (default: temporary files)")
    parser.add_argument("--timeout", type=float, default=3600, help="seconds for one setting")
    parser.add_argument("--json", action="store_true", help="print JSON lines")
    parser.add_argument("--fit", metavar="FILE", help=argparse.SUPPRESS)
    return parser.parse_args(arguments)


def main(arguments=None):
    options = parse(arguments)
    if sys.platform != "linux":
        raise SystemExit("limits on private memory are measured on Linux only")
    if options.fit:
        fit(options)
        return
    for figures in run(options):
        print(json.dumps(figures) if options.json else describe(figures), flush=True)
