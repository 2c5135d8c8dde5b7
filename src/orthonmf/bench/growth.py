"""How time and memory grow when one side of the problem doubles again and again."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from orthonmf.bench.data import Data
from orthonmf.bench.measuring import clock, measure
from orthonmf.bench.rows import Goal, Row
from orthonmf.bench.tasks import Step, Task
from orthonmf.factorization import Factorization
from orthonmf.fitting import factorize

# Without a tolerance every descent does this many sweeps, whatever the size.
FIXED: dict[str, Any] = {"tol": 0.0, "max_iter": 10, "n_init": 1}


def time_sizes(sizes: list[Data], n_repeats: int) -> dict[str, Any]:
    """Fewest seconds of a fit of fixed length at every size, and sweeps to convergence.

    Sizes take turns, so that a slow minute of the machine slows all of them.
    """
    matrices = [(data.make(), data.n_components) for data in sizes]

    def fit(X: Any, k: int, **options: Any) -> Factorization:
        return factorize(X, k, random_state=0, certificate=None, **options)

    to_convergence = [fit(X, k).n_sweeps for X, k in matrices]
    rounds = [[clock(partial(fit, X, k, **FIXED)) for X, k in matrices] for _ in range(n_repeats)]
    return {
        "seconds": [min(taken for _, taken in turns) for turns in zip(*rounds, strict=True)],
        "sweeps": [found.n_sweeps for found, _ in rounds[-1]],
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
class GrowthTask(Task):
    """The time of a fit of fixed length while one size doubles."""

    what: str  # in words
    sizes: tuple[int, ...]
    matrices: tuple[Data, ...]
    goal: float
    n_repeats: int
    benchmark: str = "growth"

    @property
    def title(self) -> str:
        """What doubles."""
        return f"time, {self.what}"

    def rows(self, step: Step) -> Iterator[Row]:
        """One row: the exponent."""
        step(" ".join(f"{size:,}" for size in self.sizes))
        found = measure("sizes", sizes=self.matrices, n_repeats=self.n_repeats)
        power = exponent(self.sizes, found["seconds"])
        figures = {"sizes": list(self.sizes), "exponent": power, **found}
        goals = (Goal("exponent", "<=", self.goal, power),)
        yield Row(self.benchmark, self.title, "linear", figures, goals)


@dataclass(frozen=True, slots=True)
class MemoryGrowthTask(Task):
    """Peak memory beyond input and result while the rows double."""

    matrices: tuple[Data, ...]
    goal: float
    title: str = "memory, rows"
    benchmark: str = "growth"

    @property
    def n_steps(self) -> int:
        """One process for every size, since a peak is never forgotten by the allocator."""
        return len(self.matrices)

    def rows(self, step: Step) -> Iterator[Row]:
        """One row: bytes per further row."""
        beyond = []
        for data in self.matrices:
            step(f"{data.n_samples:,}")
            found = measure("peak", data=data, orthogonal="samples")
            beyond.append(found["extra"] - found["result"])
        sizes = [data.n_samples for data in self.matrices]
        per_row = slope(sizes, beyond)
        figures = {"sizes": sizes, "bytes": beyond, "bytes_per_row": per_row}
        goals = (Goal("bytes per row", "<", self.goal, per_row),)
        yield Row(self.benchmark, self.title, "input and result", figures, goals)
