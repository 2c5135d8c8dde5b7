"""Where the time of a fit goes, found by timing the library's functions from outside.

While a fit is profiled every function of ``PHASES`` is replaced, wherever the library holds it,
by one that adds its time to its phase. The outermost one counts: sweeps inside the seeding are
seeding. What no phase claims is the rest, so the shares add up to the whole.
"""

from __future__ import annotations

import functools
import importlib
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from time import perf_counter
from typing import Any

from orthonmf.bench.data import Data
from orthonmf.bench.fits import WARM_SEED
from orthonmf.bench.measuring import clock, measure
from orthonmf.bench.rows import Row
from orthonmf.bench.tasks import Step, Task
from orthonmf.fitting import factorize

N_REPEATS = 5
REST = "the rest"
# The functions of each phase as module:name, or module:class.method.
PHASES: dict[str, tuple[str, ...]] = {
    "validation": ("orthonmf.inputs.data:as_matrix",),
    "seeding": ("orthonmf.onmf.search.starts:make_start",),
    "sweeps": ("orthonmf.onmf.search.descent:descend",),
    "moves and escapes": (
        "orthonmf.onmf.search.moves:move_points",
        "orthonmf.onmf.search.escapes:recombine",
        "orthonmf.onmf.search.escapes:breathe",
    ),
    "exact directions": ("orthonmf.onmf.exact_directions:find_exact_directions",),
    "final assignment": ("orthonmf.onmf.publish:publish",),
    "certificate": ("orthonmf.certifying:Evidence.look",),
}
PHASE_NAMES = (*PHASES, REST)


class Stopwatch:
    """Adds up seconds by phase; a phase inside another counts for the outer one."""

    def __init__(self) -> None:
        self.seconds = dict.fromkeys(PHASES, 0.0)
        self._busy = False

    def time(self, phase: str, function: Callable[..., Any]) -> Callable[..., Any]:
        """The function, its time added to a phase."""

        @functools.wraps(function)
        def run(*args: Any, **kwargs: Any) -> Any:
            if self._busy:
                return function(*args, **kwargs)
            self._busy = True
            started = perf_counter()
            try:
                return function(*args, **kwargs)
            finally:
                self.seconds[phase] += perf_counter() - started
                self._busy = False

        return run


@contextmanager
def watch(stopwatch: Stopwatch) -> Iterator[None]:
    """Replace the functions of all phases inside, and put them back after.

    A function that the library no longer has is an error: its time would hide in the rest.
    """
    replaced: list[tuple[Any, str, Any]] = []
    try:
        for phase, places in PHASES.items():
            for place in places:
                for holder, name, function in _holders(place):
                    replaced.append((holder, name, function))
                    setattr(holder, name, stopwatch.time(phase, function))
        yield
    finally:
        for holder, name, function in replaced:
            setattr(holder, name, function)


def _holders(place: str) -> list[tuple[Any, str, Any]]:
    """Every module of the library that holds a function, by whatever name, or its class."""
    module_name, _, path = place.partition(":")
    holder: Any = importlib.import_module(module_name)
    *outer, name = path.split(".")
    for one in outer:
        holder = getattr(holder, one)
    function = getattr(holder, name)
    if outer:
        return [(holder, name, function)]
    modules = [one for key, one in sys.modules.items() if key.split(".")[0] == "orthonmf"]
    return [
        (module, held, function)
        for module in modules
        for held, value in list(vars(module).items())
        if value is function
    ]


def _prove(X: Any, k: int, seed: int) -> Any:
    """A fit with default settings, and a look at its certificate."""
    return factorize(X, k, random_state=seed).certificate


def time_phases(data: Data, n_repeats: int) -> dict[str, Any]:
    """Mean seconds of every phase of a fit with default settings, and of its certificate."""
    X, k = data.make(), data.n_components
    _prove(X, k, WARM_SEED)
    stopwatch = Stopwatch()
    with watch(stopwatch):
        fits = (partial(_prove, X, k, seed) for seed in range(n_repeats))
        whole = sum(clock(fit)[1] for fit in fits)
    seconds = {phase: spent / n_repeats for phase, spent in stopwatch.seconds.items()}
    seconds[REST] = whole / n_repeats - sum(seconds.values())
    return {"seconds": seconds, "whole": whole / n_repeats}


@dataclass(frozen=True, slots=True)
class ProfileTask(Task):
    """Where the time goes on one matrix."""

    benchmark: str
    data: Data

    def rows(self, step: Step) -> Iterator[Row]:
        """One row: seconds and share of every phase."""
        step("profile")
        found = measure("phases", data=self.data, n_repeats=N_REPEATS)
        whole, seconds = found["whole"], found["seconds"]
        shares = {phase: spent / whole for phase, spent in seconds.items()}
        figures = {"seconds": whole, "seconds_by_phase": seconds, "shares": shares}
        yield Row(self.benchmark, self.title, "", figures)
