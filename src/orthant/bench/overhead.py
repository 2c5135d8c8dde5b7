"""The fixed costs of a fit: milliseconds on a matrix so small that nothing else is left."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass

import numpy as np

from orthant.bench.data import Data
from orthant.bench.measuring import measured
from orthant.bench.rows import Goal, Row
from orthant.bench.tasks import Step


@dataclass(frozen=True, slots=True)
class OverheadTask:
    """A fit so small that nothing but fixed costs is left."""

    data: Data
    goal: float
    n_seeds: int = 200
    benchmark: str = "overhead"

    @property
    def title(self) -> str:
        """The matrix in a few words."""
        return self.data.title

    @property
    def n_steps(self) -> int:
        """One process."""
        return 1

    def rows(self, step: Step) -> Iterator[Row]:
        """One row of milliseconds."""
        step("orthant")
        found = measured(
            "fits",
            data=asdict(self.data),
            contestant="orthant",
            seeds=list(range(self.n_seeds)),
            certificate="samples",
        )
        median = float(np.median(found["seconds"]))
        figures = {
            "seconds": median,
            "fewest_seconds": min(found["seconds"]),
            "error": float(np.median(found["errors"])),
            "certificate_seconds": found["certificate_seconds"],
            "n_fits": len(found["seconds"]),
        }
        goals = (Goal("milliseconds", "<", self.goal, 1e3 * median),)
        yield Row(self.benchmark, self.title, "nothing", figures, goals)
