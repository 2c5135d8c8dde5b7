"""One sweep against the matrix product it contains, in one run. `python -m benchmarks.sweep`.

Each is repeated alone, with a pause between, and `X @ U.T` gets as many BLAS threads as the sweep
has threads: alternating them would make each pay for the other's idle threads.
"""

import time

import numpy as np

from orthant.engine.executors import available_cores, one_blas_thread
from orthant.engine.points import Features, Samples
from orthant.validation import as_matrix

CASES = [
    (200_000, 100, 10, np.float32),
    (200_000, 100, 10, np.float64),
    (200_000, 100, 50, np.float32),
    (200_000, 100, 50, np.float64),
    (50_000, 1_000, 10, np.float32),
    (50_000, 1_000, 50, np.float32),
    (50_000, 1_000, 50, np.float64),
    (5_000, 100, 10, np.float64),
]
REPEATS = 15


def repeated(work):
    work()
    seconds = []
    for _ in range(REPEATS):
        started = time.perf_counter()
        work()
        seconds.append(time.perf_counter() - started)
    time.sleep(0.3)
    return np.array(seconds)


def main():
    print(f"{available_cores()} threads; ratios of minima (of medians)")
    print(f"{'shape':>16s} {'k':>3s} {'dtype':>8s} {'product':>9s}  samples      features     scan")
    rng = np.random.default_rng(0)
    for n, m, k, dtype in CASES:
        X = rng.random((n, m), dtype=np.float32).astype(dtype)
        U = rng.random((k, m)).astype(dtype)
        product = repeated(lambda X=X, U=U: X @ U.T)
        matrix = as_matrix(X)
        samples, features = Samples(matrix), Features(matrix)
        form = U.astype(np.float64)
        with one_blas_thread():  # as every fit does, around all its passes
            rows = repeated(lambda p=samples, f=form: p.sweep_directions(f))
            columns = repeated(lambda p=features, f=form: p.sweep_directions(f))
            scan = repeated(lambda X=X: as_matrix(X))

        def ratio(seconds, product=product):
            medians = np.median(seconds) / np.median(product)
            return f"{seconds.min() / product.min():.2f} ({medians:.2f})"

        print(
            f"{n:>8,} x {m:>5,} {k:>3d} {np.dtype(dtype).name:>8s} "
            f"{product.min() * 1e3:7.2f}ms  {ratio(rows):12s} {ratio(columns):12s} {ratio(scan)}",
            flush=True,
        )


if __name__ == "__main__":
    main()
