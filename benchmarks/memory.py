"""Peak memory of a fit beyond its input. `python -m benchmarks.memory [GIB]`."""

import resource
import subprocess
import sys

import numpy as np

import orthant


def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def measure(gigabytes, setting, algorithm):
    n, m = int(gigabytes * 1e9 / 800), 100
    rng = np.random.default_rng(0)
    X = np.empty((n, m))
    for start in range(0, n, 100_000):
        part = X[start : start + 100_000]
        part[:] = rng.random(part.shape)
    warm = X[:2000].copy()
    orthant.factorize(warm, 10, orthogonal=setting, random_state=0, certificate=None)
    before = peak()
    orthant.factorize(
        X, 10, orthogonal=setting, algorithm=algorithm, random_state=0, certificate=None, max_iter=3
    )
    extra = peak() - before
    print(
        f"{n:,} x {m} float64, {X.nbytes / 1e9:.2f} GB, over {setting}, {algorithm}: "
        f"{extra / 1e6:.0f} MB extra, {extra / X.nbytes:.1%} of the input, "
        f"{extra / n:.0f} bytes a row",
        flush=True,
    )


if __name__ == "__main__":
    gigabytes = float(sys.argv[1]) if len(sys.argv) > 1 else 2.0
    if len(sys.argv) > 2:
        measure(gigabytes, *sys.argv[2:])
    else:
        for case in (("samples", "best"), ("features", "best"), ("samples", "paper")):
            subprocess.run(
                [sys.executable, "-m", "benchmarks.memory", str(gigabytes), *case], check=True
            )
