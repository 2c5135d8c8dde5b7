"""Whole fits against those of others: seconds, ratio and error."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from orthant.bench.data import Data
from orthant.bench.measuring import MeasurementError, SkippedError, measured
from orthant.bench.rivals import CONTESTANTS, error_of
from orthant.bench.rows import Goal, Row
from orthant.bench.tasks import Step, without_figures
from orthant.fitting import factorize

WARM_SEED = 10**6
# What a default fit may leave to be gained: errors that differ by less are the same answer.
SAME_ERROR = 1e-4


def time_fits(
    data: dict[str, Any],
    contestant: str,
    seeds: list[int],
    certificate: str | None = None,
    warm_rows: int | None = None,
) -> dict[str, Any]:
    """Fit once to warm up, then once for every seed; runs in the process that measures.

    ``certificate`` names the setting whose certificate is timed by one further fit, and
    ``warm_rows`` says how many rows are enough to warm up; None means all.
    """
    described = Data(**data)
    X, k, fit = described.make(), described.n_components, CONTESTANTS[contestant]
    fit(X[:warm_rows], k, WARM_SEED)
    seconds, answers = [], []
    for seed in seeds:
        started = time.perf_counter()
        answer = fit(X, k, seed)
        taken = time.perf_counter() - started
        seconds.append(taken if answer.seconds is None else answer.seconds)
        answers.append(answer)
    found = {
        "seconds": seconds,
        "errors": [error_of(X, answer) for answer in answers],
        "notes": sorted({answer.note for answer in answers if answer.note}),
    }
    if certificate is not None:
        proven = factorize(X, k, orthogonal=certificate, random_state=seeds[0]).certificate
        found["certificate_seconds"] = proven.seconds
    return found


@dataclass(frozen=True, slots=True)
class Rival:
    """Somebody to compare with, and how many times faster we should be."""

    name: str
    goal: float | None = None
    n_seeds: int = 5
    warm_rows: int | None = None


@dataclass(frozen=True, slots=True)
class Contest:
    """One matrix, ours and some rivals, each in processes of its own that take turns.

    Every round starts a fresh process for ours and for each rival; seeds differ by round.
    """

    benchmark: str
    data: Data
    rivals: tuple[Rival, ...]
    orthogonal: str = "samples"
    n_seeds: int = 5
    n_rounds: int = 2

    @property
    def title(self) -> str:
        """The matrix in a few words."""
        noisy = self.data.kind in ("planted", "blocks")
        return self.data.title + (f" noise {self.data.noise:g}" if noisy else "")

    @property
    def n_steps(self) -> int:
        """One process for every round of ours and of every rival."""
        return self.n_rounds * (1 + len(self.rivals))

    def rows(self, step: Step) -> Iterator[Row]:
        """One row for every rival, also when it fails."""
        ours: dict[str, Any] = {}
        theirs: dict[str, dict[str, Any]] = {}
        failures: dict[str, Exception] = {}
        for number in range(self.n_rounds):
            step("orthant")
            try:
                joined(ours, self._ours(number))
            except (SkippedError, MeasurementError) as error:
                yield from (without_figures(self._row(rival), error) for rival in self.rivals)
                return
            for rival in self.rivals:
                step(rival.name)
                try:
                    if rival.name not in failures:
                        joined(theirs.setdefault(rival.name, {}), self._theirs(rival, number))
                except (SkippedError, MeasurementError) as error:
                    failures[rival.name] = error
                if number < self.n_rounds - 1:
                    continue
                if rival.name in failures:
                    yield without_figures(self._row(rival), failures[rival.name])
                else:
                    yield self._compared(rival, ours, theirs[rival.name])

    def _row(self, rival: Rival) -> Row:
        return Row(self.benchmark, self.title, rival.name)

    def _ours(self, number: int) -> dict[str, Any]:
        return measured(
            "fits",
            data=asdict(self.data),
            contestant="orthant both" if self.orthogonal == "both" else "orthant",
            seeds=_seeds(number, self.n_seeds),
            certificate=self.orthogonal if number == 0 else None,
        )

    def _theirs(self, rival: Rival, number: int) -> dict[str, Any]:
        return measured(
            "fits",
            data=asdict(self.data),
            contestant=rival.name,
            seeds=_seeds(number, rival.n_seeds),
            warm_rows=rival.warm_rows,
        )

    def _compared(self, rival: Rival, ours: dict[str, Any], theirs: dict[str, Any]) -> Row:
        figures = {
            "seconds": float(np.median(ours["seconds"])),
            "fewest_seconds": min(ours["seconds"]),
            "their_seconds": float(np.median(theirs["seconds"])),
            "their_fewest_seconds": min(theirs["seconds"]),
            "ratio": float(np.median(theirs["seconds"]) / np.median(ours["seconds"])),
            "ratio_of_minima": min(theirs["seconds"]) / min(ours["seconds"]),
            "error": float(np.median(ours["errors"])),
            "their_error": float(np.median(theirs["errors"])),
            "largest_error": max(ours["errors"]),
            "their_largest_error": max(theirs["errors"]),
            "certificate_seconds": ours["certificate_seconds"],
            "n_fits": len(ours["seconds"]),
            "their_n_fits": len(theirs["seconds"]),
        }
        allowed = figures["their_error"] * (1 + SAME_ERROR)
        goals = [Goal("error", "<=", allowed, figures["error"])]
        if rival.goal is not None:
            # Both: other work on the machine slows many threads more than few, which moves medians.
            goals.append(Goal("ratio", ">=", rival.goal, figures["ratio"]))
            goals.append(Goal("ratio of fewest", ">=", rival.goal, figures["ratio_of_minima"]))
        note = ", ".join(theirs["notes"])
        return replace(self._row(rival), figures=figures, goals=tuple(goals), note=note)


def _seeds(number: int, size: int) -> list[int]:
    """Other seeds in every round."""
    return list(range(number * size, (number + 1) * size))


def joined(all_rounds: dict[str, Any], found: dict[str, Any]) -> None:
    """Add what one round found to what the rounds before it did."""
    for name, values in found.items():
        if isinstance(values, list):
            all_rounds[name] = all_rounds.get(name, []) + values
        else:
            all_rounds[name] = values
