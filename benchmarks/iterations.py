"""Time of one iteration of every baseline against the matrix products that it does.

Run as ``python -m benchmarks iterations``. One run notes the operands of every matrix product of
some iterations; then these iterations, and these products alone, are timed in turns, on the same
data: M is 100 x 5,000, k = 10. A ratio near 1 means that the rest of an iteration is free. With
``--errors`` every method also runs to its end, and its errors are shown raw and hardened.
"""

import argparse
from itertools import islice

import numpy as np

from benchmarks.data import EXPERIMENT_ONE
from benchmarks.rows import clock
from experiments.machine import in_words, machine
from orthonmf.baselines import BASELINES, solve
from orthonmf.datasets import make_planted
from orthonmf.measures import recovery_error

TARGET = 1.5
FIRST, LAST = 3, 9  # the iterations that are timed
DATA = EXPERIMENT_ONE
K = DATA.n_components


class Noted(np.ndarray):
    """An array that notes the operands of every matrix product it or its offspring enter."""

    products: list = []  # noqa: RUF012 - one list for all is the point

    def __array_ufunc__(self, ufunc, method, *inputs, out=None, **kwargs):
        plain = [np.asarray(x) if isinstance(x, Noted) else x for x in inputs]
        if ufunc is np.matmul:
            Noted.products.append(tuple(plain))
        if out is not None:
            kwargs["out"] = tuple(np.asarray(x) if isinstance(x, Noted) else x for x in out)
        result = getattr(ufunc, method)(*plain, **kwargs)
        if out is not None:
            return out[0]
        return result.view(Noted) if isinstance(result, np.ndarray) else result


class NotedGenerator:
    """A random generator whose arrays are noted, so that a drawn start is as well."""

    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)

    def __getattr__(self, name):
        draw = getattr(self.rng, name)
        return lambda *args, **kwargs: np.asarray(draw(*args, **kwargs)).view(Noted)


def start(baseline, M, rng):
    """Return the iterates of a baseline, with those before the timed ones done."""
    options = {"tol": baseline.tol} if baseline.stops_itself else {}
    steps = baseline.iterates(M, K, rng=rng, **options)
    for _ in islice(steps, FIRST):
        pass
    return steps


def seconds_of_iterations(baseline, M):
    steps = start(baseline, M, np.random.default_rng(0))
    done, seconds = clock(lambda: sum(1 for _ in islice(steps, LAST - FIRST)))
    return seconds / max(done, 1)


def note_products(baseline, M):
    """Return the operands of all matrix products of the timed iterations, and their number."""
    steps = start(baseline, M.view(Noted), NotedGenerator(0))
    Noted.products = []
    done = sum(1 for _ in islice(steps, LAST - FIRST))
    return Noted.products, max(done, 1)


def seconds_of_products(products, n_iterations):
    def multiply():
        for left, right in products:
            np.matmul(left, right)

    return clock(multiply)[1] / n_iterations


def measure(name, M, repeats):
    """Return the shortest times of an iteration and of its products; noise only adds time."""
    baseline = BASELINES[name]
    products, n_iterations = note_products(baseline, M)
    iteration = floor = np.inf
    for _ in range(repeats):
        iteration = min(iteration, seconds_of_iterations(baseline, M))
        floor = min(floor, seconds_of_products(products, n_iterations))
    return iteration, floor


def print_ratios(repeats):
    M = DATA.make().T  # columns lie together, as solve holds X.T
    M /= M.max()
    print(f"M {DATA.n_features} x {DATA.n_samples}, k = {K}; milliseconds of one iteration")
    print(f"{'method':24s} {'iteration':>10s} {'products':>10s} {'ratio':>7s}")
    for name in BASELINES:
        iteration, floor = measure(name, M, 1 if name == "onmfs" else repeats)
        ratio = iteration / floor
        remark = "" if ratio <= TARGET else f"above {TARGET}"
        print(f"{name:24s} {1e3 * iteration:10.3f} {1e3 * floor:10.3f} {ratio:7.2f} {remark}")


def print_errors(time_limit):
    shape = (DATA.n_samples, DATA.n_features, K)
    drawn = make_planted(*shape, DATA.noise, random_state=0)
    print(f"\nrelative squared error and recovery error at noise {DATA.noise}, raw and hardened")
    head = ("method", "iterations", "seconds", "raw", "hardened", "overlap", "recovery", "hardened")
    print("{:24s} {:>10s} {:>8s} {:>9s} {:>9s} {:>9s} {:>9s} {:>9s}  stop".format(*head))
    for name in BASELINES:
        run = solve(name, drawn.X, K, random_state=0, time_limit=time_limit)
        hard = run.hardened
        print(
            f"{name:24s} {run.iterations:10d} {run.seconds:8.2f} "
            f"{run.relative_squared_error:9.5f} {hard.relative_squared_error:9.5f} "
            f"{run.history.non_orthogonality[-1]:9.1e} "
            f"{recovery_error(drawn.M_truth, run.left, run.W):9.2f} "
            f"{recovery_error(drawn.M_truth, hard.A, hard.W):9.2f}  {run.stop_reason}"
        )


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeats", type=int, default=20)
    parser.add_argument("--errors", action="store_true", help="also run every method to its end")
    parser.add_argument("--time-limit", type=float, default=20.0)
    given = parser.parse_args(arguments)
    print(in_words(machine()))
    print_ratios(given.repeats)
    if given.errors:
        print_errors(given.time_limit)
