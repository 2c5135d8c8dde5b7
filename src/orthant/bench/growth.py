"""How time and memory grow when one side of the problem doubles again and again."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from orthant.bench.data import Data
from orthant.bench.measuring import measured
from orthant.bench.rows import Goal, Row
from orthant.bench.tasks import Step
from orthant.fitting import factorize

# Without a tolerance every descent does this many sweeps, whatever the size.
FIXED: dict[str, Any] = {"tol": 0.0, "max_iter": 10, "n_init": 1, "certificate": None}


def time_sizes(sizes: list[dict[str, Any]], n_repeats: int) -> dict[str, Any]:
    """Fewest seconds of a fit of fixed length at every size, and sweeps to convergence.

    Sizes take turns, so that a slow minute of the machine slows all of them. Runs in the process
    that measures.
    """
    described = [Data(**size) for size in sizes]
    matrices = [data.make() for data in described]
    seconds = np.full((n_repeats, len(sizes)), np.inf)
    sweeps = [0] * len(sizes)
    to_convergence = [
        factorize(X, data.n_components, random_state=0, certificate=None).n_sweeps
        for X, data in zip(matrices, described, strict=True)
    ]
    for repeat in range(n_repeats):
        for place, (X, data) in enumerate(zip(matrices, described, strict=True)):
            started = time.perf_counter()
            found = factorize(X, data.n_components, random_state=0, **FIXED)
            seconds[repeat, place] = time.perf_counter() - started
            sweeps[place] = found.n_sweeps
    return {
        "seconds": seconds.min(axis=0).tolist(),
        "sweeps": sweeps,
        "sweeps_to_convergence": to_convergence,
    }


def exponent(sizes: Sequence[float], values: Sequence[float]) -> float:
    """The power of the size that fits the values best: least squares of the logarithms."""
    return slope(np.log(sizes).tolist(), np.log(values).tolist())


def slope(sizes: Sequence[float], values: Sequence[float]) -> float:
    """Least-squares slope of the values over the sizes."""
    steps = np.asarray(sizes, dtype=np.float64) - np.mean(sizes)
    return float(steps @ (np.asarray(values) - np.mean(values)) / (steps @ steps))


@dataclass(frozen=True, slots=True)
class GrowthTask:
    """The time of a fit of fixed length while one size doubles."""

    what: str  # in words
    sizes: tuple[int, ...]
    matrices: tuple[Data, ...]
    goal: float
    n_repeats: int = 3
    benchmark: str = "growth"

    @property
    def title(self) -> str:
        """What doubles."""
        return f"time, {self.what}"

    @property
    def n_steps(self) -> int:
        """One process for all sizes."""
        return 1

    def rows(self, step: Step) -> Iterator[Row]:
        """One row: the exponent."""
        step(" ".join(f"{size:,}" for size in self.sizes))
        found = measured(
            "sizes", sizes=[asdict(data) for data in self.matrices], n_repeats=self.n_repeats
        )
        power = exponent(self.sizes, found["seconds"])
        figures = {"sizes": list(self.sizes), "exponent": power, **found}
        goals = (Goal("exponent", "<=", self.goal, power),)
        yield Row(self.benchmark, self.title, "linear", figures, goals)


@dataclass(frozen=True, slots=True)
class MemoryGrowthTask:
    """Peak memory beyond input and result while the rows double."""

    matrices: tuple[Data, ...]
    goal: float
    benchmark: str = "growth"

    @property
    def title(self) -> str:
        """What is measured."""
        return "memory, rows"

    @property
    def n_steps(self) -> int:
        """One process for every size, since a peak is never forgotten by the allocator."""
        return len(self.matrices)

    def rows(self, step: Step) -> Iterator[Row]:
        """One row: bytes per further row."""
        beyond = []
        for data in self.matrices:
            step(f"{data.n_samples:,}")
            found = measured("peak", data=asdict(data), orthogonal="samples")
            beyond.append(found["extra"] - found["result"])
        sizes = [data.n_samples for data in self.matrices]
        per_row = slope(sizes, beyond)
        figures = {"sizes": sizes, "bytes": beyond, "bytes_per_row": per_row}
        goals = (Goal("bytes per row", "<", self.goal, per_row),)
        yield Row(self.benchmark, self.title, "input and result", figures, goals)
