"""The fits that are judged: the default call, ten tournaments, and three lines of scikit-learn.

Every program has one thread, so that the CPU seconds of that thread are all it took, whatever
else the machine does. All errors are computed from the factors, none is anybody's own account.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache, cached_property, partial
from typing import Any

import numpy as np
from scipy.sparse import csr_array
from threadpoolctl import threadpool_limits

from orthonmf.bench.measuring import clock
from orthonmf.bench.quality.best_known import Case
from orthonmf.bench.rivals import Answer, error_of, three_lines
from orthonmf.datasets import make_planted
from orthonmf.engine.sources import digest_rows
from orthonmf.factorization import Factorization
from orthonmf.fitting import factorize
from orthonmf.measures import relative_squared_error
from orthonmf.onmf.algorithms import SETTINGS
from orthonmf.reproduction.environment import THREADS_PER_RUN

OURS, THREE_LINES, TEN = "orthonmf", "three lines", "n_init=10"


class Matrix:
    """A set in float64, what its columns are as rows, and a digest that tells it from others."""

    def __init__(self, X: Any) -> None:
        self.X = X.astype(np.float64, copy=False)

    @cached_property
    def digest(self) -> str:
        """The same for the same entries."""
        return digest_rows(self.X)

    @cached_property
    def columns(self) -> Any:
        """(m, n) the columns as rows; scikit-learn has no other way to cluster them."""
        turned = self.X.T
        return csr_array(turned) if hasattr(turned, "tocsr") else np.ascontiguousarray(turned)

    def points(self, orthogonal: str) -> Any:
        """What is clustered, as rows."""
        return self.columns if orthogonal == "features" else self.X


@dataclass(frozen=True, slots=True)
class Fit:
    """What one fit gave: its relative squared error, and the CPU seconds it took."""

    error: float
    seconds: float
    n_components_found: int


@dataclass(frozen=True, slots=True)
class Program:
    """Who fits, how its error is found, and in which settings it takes part."""

    fit: Callable[[Matrix, Case, int], Any]
    judge: Callable[[Matrix, Case, Any], tuple[float, int]]  # its error, and components in use
    settings: tuple[str, ...] = field(default=tuple(SETTINGS))


def _fit_ours(matrix: Matrix, case: Case, seed: int, **options: Any) -> Factorization:
    asked = {**options, "orthogonal": case.orthogonal, "certificate": None}
    n_jobs = THREADS_PER_RUN
    return factorize(matrix.X, case.n_components, random_state=seed, n_jobs=n_jobs, **asked)


def _judge_ours(matrix: Matrix, case: Case, found: Factorization) -> tuple[float, int]:
    # The measure is in the paper's orientation, but the error of a transpose is the same.
    error = relative_squared_error(matrix.X, found.loadings, found.components)
    return error, found.n_components_found


def _fit_three_lines(matrix: Matrix, case: Case, seed: int) -> Answer:
    return three_lines(matrix.points(case.orthogonal), case.n_components, seed)


def _judge_three_lines(matrix: Matrix, case: Case, found: Answer) -> tuple[float, int]:
    return error_of(matrix.points(case.orthogonal), found), len(np.unique(found.labels))


PROGRAMS = {
    OURS: Program(_fit_ours, _judge_ours),
    THREE_LINES: Program(_fit_three_lines, _judge_three_lines, ("samples", "features")),
    TEN: Program(partial(_fit_ours, n_init=10), _judge_ours),
}


def fit_once(name: str, matrix: Matrix, case: Case, seed: int) -> Fit:
    """One fit of a program that has been warmed up, with one thread."""
    _warm_up(name, case.orthogonal)
    return _fit(name, matrix, case, seed)


@cache
def _warm_up(name: str, orthogonal: str) -> None:
    """A small fit, so that what is only done the first time is not counted."""
    matrix = Matrix(make_planted(40, 12, 3, 0.1, "both", random_state=0).X)
    _fit(name, matrix, Case("", orthogonal, 3), 0)


def _fit(name: str, matrix: Matrix, case: Case, seed: int) -> Fit:
    program = PROGRAMS[name]
    matrix.points(case.orthogonal)  # to turn the matrix is nobody's time
    with threadpool_limits(THREADS_PER_RUN), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # how many components are in use is kept
        found, seconds = clock(partial(program.fit, matrix, case, seed), time.thread_time)
        error, n_found = program.judge(matrix, case, found)
    return Fit(error, seconds, n_found)
