"""How a named method is run on a matrix: ours and the earlier ones, on one core each."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from time import perf_counter
from typing import Any

import numpy as np

from orthant.baselines import BASELINES, solve
from orthant.engine.executors import one_blas_thread
from orthant.errors import FewerComponentsWarning
from orthant.fitting import factorize
from orthant.numerics.arrays import Array
from orthant.onmf.single_factor import published_error
from orthant.progress import listening
from orthant.reproduction.definition import Setting

# The name here, and the options of factorize that it stands for.
OURS: dict[str, dict[str, Any]] = {
    "onmf-apx": {"algorithm": "paper"},
    "onmf-apx-10": {"algorithm": "paper", "n_init": 10},
    "best": {"algorithm": "best"},
}
NO_HISTORY = 1 << 40  # iterations between two records: only the start and the end are measured
NOISY, NOISE = "onmf-ding-double-noisy", 0.01  # the mean of the noise that the paper adds


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
        found = factorize(
            X,
            setting.n_components,
            orthogonal=setting.orthogonal,
            certificate=None,
            random_state=rng,
            n_jobs=1,
            **options,
        )
    seconds = perf_counter() - start
    published = published_error(found) if options["algorithm"] == "paper" else None
    return Found(found.A, found.A, found.W, seconds, found.n_sweeps, "finished", published)


def _baseline(name: str, X: Any, k: int, rng: np.random.Generator, time_limit: float) -> Found:
    options: dict[str, Any] = {}
    if name == NOISY:
        options["relative_noise"] = NOISE / _root_mean_square(X)
    found = solve(
        name,
        X,
        k,
        random_state=rng,
        time_limit=time_limit,
        harden=False,
        record_every=NO_HISTORY,
        **options,
    )
    return Found(found.A, found.left, found.W, found.seconds, found.iterations, found.stop_reason)


def _root_mean_square(X: Array) -> float:
    return float(np.linalg.norm(X) / np.sqrt(X.size))
