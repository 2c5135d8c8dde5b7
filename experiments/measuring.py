"""From a run to its row: the data, the method on one core, and the measures of what it leaves."""

from __future__ import annotations

import hashlib
import signal
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import astuple, dataclass, fields
from functools import cache, lru_cache
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

import orthonmf
from experiments.paper import BEST, OF_TEN, ONMF_APX, PLANTED, Run, Setting
from experiments.uci import load_uci
from orthonmf import measures
from orthonmf.baselines import BASELINES, solve

# The name here, and the options of factorize that it stands for.
OURS: dict[str, dict[str, Any]] = {
    ONMF_APX: {"algorithm": "paper"},
    OF_TEN: {"algorithm": "paper", "n_init": 10},
    BEST: {"algorithm": "best"},
}
DIGITS = 8  # of a measure in the results
NO_HISTORY = 1 << 40  # iterations between two records: only the start and the end are measured
NOISY, NOISE = "onmf-ding-double-noisy", 0.01  # the mean of the noise that the paper adds
FAILED, NOT_MEASURED = "failed: ", "not measured: "  # how such stop reasons begin

# The columns of results.csv: what tells a run from all others, then what it gave.
KEY = (
    "experiment", "dataset", "orthogonal", "n_samples", "n_features", "n_components", "noise",
    "seed", "method", "time_limit",
)  # fmt: skip
COLUMNS = (
    *KEY,
    "recovery_error",  # |M_truth - A W|_F
    "reconstruction_error",  # |M - A W|_F, factors as the method left them
    "relative_squared_error",  # |M - A W|_F^2 / |M|_F^2
    "non_orthogonality",  # of the rows of W
    "column_non_orthogonality",  # of the columns of A
    "seconds",  # of the method alone; empty unless it ran alone
    "iterations",
    "stop_reason",
    "serial",  # whether the run was alone, and so timed
    "planted_error",  # |M - M_truth|_F
    "published_error",  # the relative squared one of ONMF-apx before our last assignment
)


class OutOfTimeError(Exception):
    """The limit was reached before a method had anything to return."""


@dataclass(frozen=True, slots=True, eq=False)
class Data:
    """A matrix (n x m) and, where a solution was planted in it, that solution (m x n)."""

    X: Any
    M_truth: Any = None
    planted_error: float | None = None  # |M - M_truth|_F


@dataclass(frozen=True, slots=True, eq=False)
class Outcome:
    """What a method left: M ~ left W, where left is A or A S."""

    A: Any  # m x k
    left: Any  # m x k
    W: Any  # k x n
    seconds: float
    iterations: int
    stop_reason: str
    published_error: float | None = None


def measure(run: Run, data_home: Path | None = None, alone: bool = True) -> dict[str, Any]:
    """Carry out a run and measure what it leaves; a method that raises gives a row that says so.

    ``alone`` tells that nothing else runs at the same time; otherwise no time is recorded.
    """
    row: dict[str, Any] = dict(zip(KEY, run.key, strict=True)) | {"serial": int(alone)}
    try:
        data = data_of(run, data_home)
    except Exception as error:  # whatever keeps a real set away; the others can still be measured
        if run.setting.dataset == PLANTED:
            raise
        # What follows the first colon tells of this machine's network and folders.
        return row | {"stop_reason": NOT_MEASURED + _in_one_line(error).partition(": ")[0]}
    row["planted_error"] = data.planted_error
    began = perf_counter()
    try:
        row |= _measures(data, run_method(run, data.X), alone)
        # As many digits as anybody compares.
        return {
            name: float(f"{value:.{DIGITS}g}") if isinstance(value, float) else value
            for name, value in row.items()
        }
    except OutOfTimeError:
        spent = perf_counter() - began if alone else None
        return row | {"seconds": spent, "stop_reason": "time_limit"}
    except Exception as error:
        return row | {"stop_reason": FAILED + _in_one_line(error)}


def _measures(data: Data, outcome: Outcome, alone: bool) -> dict[str, Any]:
    M, left, W = data.X.T, outcome.left, outcome.W
    truth = data.M_truth
    return {
        "recovery_error": None if truth is None else measures.recovery_error(truth, left, W),
        "reconstruction_error": measures.reconstruction_error(M, left, W),
        "relative_squared_error": measures.relative_squared_error(M, left, W),
        "non_orthogonality": measures.non_orthogonality(W),
        "column_non_orthogonality": measures.non_orthogonality(outcome.A.T),
        "iterations": outcome.iterations,
        "stop_reason": outcome.stop_reason,
        "published_error": outcome.published_error,
        "seconds": outcome.seconds if alone else None,
    }


def _in_one_line(error: Exception) -> str:
    return " ".join(str(error).split()) or type(error).__name__


def data_of(run: Run, data_home: Path | None = None) -> Data:
    """The matrix of a run: drawn again for every setting and seed, the same for all methods."""
    setting = run.setting
    if setting.dataset == PLANTED:
        return _draw(run.experiment, setting, run.seed)
    X = _load(setting.dataset, data_home)
    if isinstance(X, Exception):
        raise X
    return Data(X)


@lru_cache(maxsize=1)  # methods that share a matrix follow each other, so one is kept
def _draw(experiment: str, setting: Setting, seed: int) -> Data:
    sizes = setting.n_samples, setting.n_features, setting.n_components
    rng = _generator("matrix", experiment, *astuple(setting), seed)
    drawn = orthonmf.datasets.make_planted(*sizes, setting.noise, setting.orthogonal, rng)
    return Data(drawn.X, drawn.M_truth, float(np.linalg.norm(drawn.X - drawn.X_truth)))


@cache
def _load(name: str, data_home: Path | None) -> Any:
    """The matrix of a real set, or why there is none: asked once, as asking may take a download."""
    try:
        return load_uci(name, data_home)
    except Exception as error:
        return error


def _generator(*words: object) -> np.random.Generator:
    """A generator that depends on these words alone, on every machine."""
    text = "\n".join(map(str, words)).encode()
    return np.random.default_rng(
        int.from_bytes(hashlib.blake2b(text, digest_size=16).digest(), "big")
    )


def takes_setting(name: str, setting: Setting) -> bool:
    """Whether a baseline can be asked for the factors of a setting; none is over features."""
    if name not in BASELINES:
        return False
    return setting.orthogonal == "samples" or setting.orthogonal == BASELINES[name].orthogonal


def run_method(run: Run, X: Any) -> Outcome:
    """Run a method on X (n samples x m features): one BLAS thread, no hardening, no proof.

    At the limit earlier methods return what they have after their iteration; ours have nothing
    before their end, and raise `OutOfTimeError`.
    """
    rng = _generator("method", run.experiment, *astuple(run.setting), run.seed, run.method)
    with threadpool_limits(1, user_api="blas"):
        return (_run_ours if run.method in OURS else _run_baseline)(run, X, rng)


def _run_ours(run: Run, X: Any, rng: np.random.Generator) -> Outcome:
    options = {"orthogonal": run.setting.orthogonal, "certificate": None, "n_jobs": 1}
    options |= OURS[run.method]
    began = perf_counter()
    with _ending_after(run.time_limit), warnings.catch_warnings():
        warnings.simplefilter("ignore", orthonmf.FewerComponentsWarning)
        result = orthonmf.factorize(X, run.setting.n_components, random_state=rng, **options)
    seconds, history = perf_counter() - began, result.history
    # The last entry is after the final assignment, which the paper does not have.
    before = history[-2] if options["algorithm"] == "paper" and len(history) > 1 else None
    return Outcome(result.A, result.A, result.W, seconds, result.n_sweeps, "finished", before)


@contextmanager
def _ending_after(seconds: float) -> Iterator[None]:
    """Raise `OutOfTimeError` inside after so many seconds, where the system has such an alarm."""
    if not hasattr(signal, "setitimer"):
        yield
        return

    def ring(number: int, frame: object) -> None:
        raise OutOfTimeError

    handler = signal.signal(signal.SIGALRM, ring)
    remaining, _ = signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, remaining)
        signal.signal(signal.SIGALRM, handler)


def _run_baseline(run: Run, X: Any, rng: np.random.Generator) -> Outcome:
    options: dict[str, Any] = {"harden": False, "record_every": NO_HISTORY, "random_state": rng}
    if run.method == NOISY:  # the noise is relative to the root mean square of X
        options["relative_noise"] = NOISE / float(np.linalg.norm(X) / np.sqrt(X.size))
    answer = solve(run.method, X, run.setting.n_components, time_limit=run.time_limit, **options)
    return Outcome(*(getattr(answer, field.name) for field in fields(Outcome)[:6]))
