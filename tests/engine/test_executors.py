"""Whoever works on the blocks, the bits are the same, and failures reach the caller."""

import asyncio
import os
import signal
import subprocess
import sys
import textwrap
import time

import numpy as np
import pytest
from scipy.sparse import csr_array

import orthonmf
from orthonmf.engine import sources
from orthonmf.engine.executors import Executor, Work
from orthonmf.engine.kernels.dense import DENSE
from tests.same_bits import assert_same_bits


class Numbers:
    """A source of one row per block that holds the block's number."""

    kernel = DENSE

    def __init__(self, n_blocks):
        self.boundaries = np.arange(n_blocks + 1)

    def block(self, index):
        return np.full((1, 1), index)


@pytest.mark.parametrize("executor", [Executor(), Executor(4)])
def test_results_are_absorbed_in_block_order(executor):
    seen = []

    def slow_sum(kernel, rows, add, own):
        index = int(rows[0, 0])
        time.sleep(0.002 * (7 - index % 7))
        return index + add + own[0]

    work = Work(slow_sum, {"add": 1000}, {"own": 10 * np.arange(23)})
    executor.fold(Numbers(23), work, lambda rows, result: seen.append((rows, result)))
    assert seen == [(slice(index, index + 1), 1000 + 11 * index) for index in range(23)]


@pytest.mark.parametrize("kind", [SystemExit, asyncio.CancelledError, KeyboardInterrupt])
@pytest.mark.parametrize("executor", [Executor(), Executor(3)])
def test_whatever_a_block_raises_reaches_the_caller_and_stops_the_rest(executor, kind):
    """An exit in a thread of ours must not pass for the end of the work."""
    started = []

    def task(kernel, rows):
        started.append(rows)
        if rows[0, 0] == 5:
            raise kind("block five")
        time.sleep(0.001)

    with pytest.raises(kind, match="block five"):
        executor.fold(Numbers(1000), Work(task), lambda rows, result: None)
    assert len(started) < 100


def test_a_block_may_be_made_by_a_pass_of_its_own():
    def nested(kernel, rows):
        sums = []
        own = Work(lambda kernel, rows: rows[0, 0])
        Executor(2).fold(Numbers(5), own, lambda rows, number: sums.append(number))
        return sum(sums)

    seen = []
    Executor(2).fold(Numbers(6), Work(nested), lambda rows, result: seen.append(result))
    assert seen == [10] * 6


@pytest.mark.parametrize("orthogonal", ["samples", "features"])
@pytest.mark.parametrize("store", [np.asarray, csr_array])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_one_two_and_four_threads_give_the_same_bits(orthogonal, store, dtype, monkeypatch):
    monkeypatch.setattr(sources, "FEWEST_ENTRIES", 2000)
    monkeypatch.setattr(sources, "SPARSE_ENTRIES", 2000)
    X = store(orthonmf.datasets.make_planted(700, 40, 4, 0.3, random_state=1).X.astype(dtype))
    fits = [
        orthonmf.factorize(X, 4, orthogonal=orthogonal, algorithm="paper", random_state=0, n_jobs=n)
        for n in (1, 2, 4)
    ]
    for other in fits[1:]:
        assert_same_bits(other, fits[0])


def _fit_error(seed):
    X = orthonmf.datasets.make_planted(3000, 60, 5, 0.5, random_state=0).X
    return orthonmf.factorize(X, 5, algorithm="paper", random_state=seed, n_jobs=2).error


@pytest.mark.slow
@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_a_fit_works_in_a_forked_and_in_a_spawned_process(method, tmp_path):
    script = tmp_path / "fit_in_a_pool.py"
    script.write_text(
        textwrap.dedent(
            f"""
            import multiprocessing
            from tests.engine.test_executors import _fit_error
            if __name__ == "__main__":
                _fit_error(1)  # so that a fork finds threads to lose
                with multiprocessing.get_context({method!r}).Pool(1) as pool:
                    print(repr(pool.apply(_fit_error, (1,))))
            """
        )
    )
    done = subprocess.run(
        [sys.executable, "-W", "ignore", script],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([os.getcwd(), *sys.path])},
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert float(done.stdout) == _fit_error(1)


@pytest.mark.slow
def test_an_interrupt_ends_a_fit_and_leaves_no_work_behind():
    script = textwrap.dedent(
        """
        import signal, sys, threading, traceback
        import numpy as np, orthonmf
        from orthonmf.engine import executors
        from orthonmf.progress import listening
        signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell may have it ignored
        X = np.random.default_rng(0).random((20000, 200))
        said = []
        def once(*announced):
            if not said:
                said.append(print("at work", flush=True))
        try:
            with listening(once):
                while True:
                    orthonmf.factorize(X, 20, algorithm="paper", n_jobs=2, random_state=0)
        except KeyboardInterrupt:
            print("interrupted", flush=True)
        for number, frame in sys._current_frames().items():
            if number != threading.get_ident():
                files = {call.filename for call in traceback.extract_stack(frame)}
                assert executors.__file__ not in files, "a thread still works"
        """
    )
    process = subprocess.Popen(
        [sys.executable, "-c", script], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    try:
        assert process.stdout.readline() == "at work\n"
        process.send_signal(signal.SIGINT)
        out, err = process.communicate()
    finally:
        process.kill()
    assert out == "interrupted\n", err
    assert process.returncode == 0, err
