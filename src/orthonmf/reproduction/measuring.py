"""From a run to its row: the data, the method on one core, ours or an earlier one, the measures."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

from orthonmf.baselines import BASELINES, solve
from orthonmf.engine.executors import one_blas_thread
from orthonmf.errors import FewerComponentsWarning
from orthonmf.fitting import factorize
from orthonmf.measures import (
    non_orthogonality,
    reconstruction_error,
    recovery_error,
    relative_squared_error,
)
from orthonmf.onmf.single_factor import published_error
from orthonmf.progress import listening
from orthonmf.reproduction.data import Data, data_of, method_generator
from orthonmf.reproduction.definition import PLANTED, Run, Setting
from orthonmf.reproduction.rows import FAILED, NOT_MEASURED, Row

# The name here, and the options of factorize that it stands for.
OURS: dict[str, dict[str, Any]] = {
    "onmf-apx": {"algorithm": "paper"},
    "onmf-apx-10": {"algorithm": "paper", "n_init": 10},
    "best": {"algorithm": "best"},
}
NO_HISTORY = 1 << 40  # iterations between two records: only the start and the end are measured
NOISY, NOISE = "onmf-ding-double-noisy", 0.01  # the mean of the noise that the paper adds


def measure(run: Run, data_home: Path | None = None, *, alone: bool = True) -> Row:
    """Carry out a run and measure what it leaves; a method that raises gives a row that says so.

    ``alone`` tells that nothing else runs at the same time; otherwise no time is recorded.
    """
    row = Row(*run.key, serial=int(alone))
    try:
        data = data_of(run, data_home)
    except Exception as error:  # whatever keeps a real set away; the others can still be measured
        if run.setting.dataset == PLANTED:
            raise
        return replace(row, stop_reason=NOT_MEASURED + _describe(error))
    row = replace(row, planted_error=data.planted_error)
    try:
        generator = method_generator(run)
        found = run_method(run.method, data.X, run.setting, generator, run.time_limit)
        return _fill(row, data, found)
    except OutOfTimeError as error:
        seconds = error.seconds if alone else None
        return replace(row, seconds=seconds, stop_reason="time_limit")
    except Exception as error:
        return replace(row, stop_reason=FAILED + _describe(error))


def _fill(row: Row, data: Data, found: Found) -> Row:
    M = data.X.T
    truth = data.M_truth
    return replace(
        row,
        recovery_error=None if truth is None else recovery_error(truth, found.left, found.W),
        reconstruction_error=reconstruction_error(M, found.left, found.W),
        relative_squared_error=relative_squared_error(M, found.left, found.W),
        non_orthogonality=non_orthogonality(found.W),
        column_non_orthogonality=non_orthogonality(found.A.T),
        seconds=found.seconds if row.serial else None,
        iterations=found.iterations,
        stop_reason=found.stop_reason,
        published_error=found.published_error,
    )


def _describe(error: Exception) -> str:
    """The message of an error in one line."""
    return " ".join(str(error).split()) or type(error).__name__


class OutOfTimeError(Exception):
    """The limit was reached before a method had anything to return."""

    def __init__(self, seconds: float) -> None:
        super().__init__(f"no result after {seconds:.1f} seconds")
        self.seconds = seconds


@dataclass(frozen=True, slots=True)
class Found:
    """What a method left: M ~ left W, where left is A or A S."""

    A: Any  # m x k
    left: Any  # m x k
    W: Any  # k x n
    seconds: float
    iterations: int
    stop_reason: str
    published_error: float | None = None  # of the paper's algorithm, before our last assignment


def takes_setting(name: str, setting: Setting) -> bool:
    """Whether a baseline can be asked for the factors of a setting; none is over features."""
    if name not in BASELINES:
        return False
    return setting.orthogonal == "samples" or setting.orthogonal == BASELINES[name].orthogonal


def run_method(
    name: str, X: Any, setting: Setting, rng: np.random.Generator, time_limit: float
) -> Found:
    """Run a method on X (n samples x m features); one BLAS thread, no hardening, no proof.

    The limit is looked at after every iteration. Earlier methods then return what they have; ours
    have nothing before their end, and raise `OutOfTimeError`.
    """
    with one_blas_thread():
        if name in OURS:
            return _ours(OURS[name], X, setting, rng, time_limit)
        return _baseline(name, X, setting.n_components, rng, time_limit)


def _ours(
    options: dict[str, Any], X: Any, setting: Setting, rng: np.random.Generator, time_limit: float
) -> Found:
    start = perf_counter()

    def stop_in_time(step: str, error: float | None) -> None:
        if perf_counter() - start >= time_limit:
            raise OutOfTimeError(perf_counter() - start)

    with listening(stop_in_time), warnings.catch_warnings():
        warnings.simplefilter("ignore", FewerComponentsWarning)
        asked = {**options, "orthogonal": setting.orthogonal, "certificate": None, "n_jobs": 1}
        found = factorize(X, setting.n_components, random_state=rng, **asked)
    seconds = perf_counter() - start
    published = published_error(found) if options["algorithm"] == "paper" else None
    return Found(found.A, found.A, found.W, seconds, found.n_sweeps, "finished", published)


def _baseline(name: str, X: Any, k: int, rng: np.random.Generator, time_limit: float) -> Found:
    options: dict[str, Any] = {}
    if name == NOISY:  # the noise is relative to the root mean square of X
        options["relative_noise"] = NOISE / float(np.linalg.norm(X) / np.sqrt(X.size))
    options |= {"harden": False, "record_every": NO_HISTORY}
    found = solve(name, X, k, random_state=rng, time_limit=time_limit, **options)
    return Found(found.A, found.left, found.W, found.seconds, found.iterations, found.stop_reason)
