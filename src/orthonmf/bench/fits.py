"""Whole fits against those of others, and alone where only fixed costs are left."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from orthonmf.bench.data import Data
from orthonmf.bench.measuring import clock, measure
from orthonmf.bench.rivals import ask_for, error_of, program
from orthonmf.bench.rows import Goal, Row
from orthonmf.bench.tasks import CANNOT, Step, Task, without_figures
from orthonmf.fitting import factorize

WARM_SEED = 10**6
# What a default fit may leave to be gained: errors that differ by less are the same answer.
SAME_ERROR = 1e-4
# Ours by what is asked for; samples are plain "orthonmf".
OURS = {"both": "orthonmf both", "core": "orthonmf core"}


def time_fits(
    data: Data,
    contestant: str,
    seeds: list[int],
    certificate: str | None = None,
    warm_rows: int | None = None,
) -> dict[str, Any]:
    """Fit once to warm up, then once for every seed.

    ``certificate`` names the setting, or "core", whose certificate is timed by one further fit, and
    ``warm_rows`` says how many rows are enough to warm up; None means all.
    """
    X, k, fit = data.make(), data.n_components, program(contestant)
    fit(X[:warm_rows], k, WARM_SEED)
    answers = [clock(partial(fit, X, k, seed)) for seed in seeds]
    found = {
        "seconds": [taken if one.seconds is None else one.seconds for one, taken in answers],
        "errors": [error_of(X, answer) for answer, _ in answers],
        "notes": sorted({answer.note for answer, _ in answers if answer.note}),
    }
    if certificate is not None:
        proven = factorize(X, **ask_for(k, certificate), random_state=seeds[0]).certificate
        found["certificate_seconds"] = proven.seconds
    return found


def _figures(found: dict[str, Any], prefix: str = "") -> dict[str, Any]:
    return {
        f"{prefix}seconds": float(np.median(found["seconds"])),
        f"{prefix}fewest_seconds": min(found["seconds"]),
        f"{prefix}error": float(np.median(found["errors"])),
        f"{prefix}n_fits": len(found["seconds"]),
    }


@dataclass(frozen=True, slots=True)
class OverheadTask(Task):
    """A fit so small that nothing but fixed costs is left."""

    data: Data
    goal: float  # milliseconds
    n_seeds: int
    benchmark: str = "overhead"

    def rows(self, step: Step) -> Iterator[Row]:
        """One row of milliseconds."""
        step("orthonmf")
        who = {"contestant": "orthonmf", "certificate": "samples"}
        found = measure("fits", data=self.data, seeds=list(range(self.n_seeds)), **who)
        figures = {**_figures(found), "certificate_seconds": found["certificate_seconds"]}
        goals = (Goal("milliseconds", "<", self.goal, 1e3 * figures["seconds"]),)
        yield Row(self.benchmark, self.title, "nothing", figures, goals)


@dataclass(frozen=True, slots=True)
class Rival:
    """Somebody to compare with, and how many times faster we should be."""

    name: str
    goal: float | None = None
    n_seeds: int = 5
    warm_rows: int | None = None


@dataclass(frozen=True, slots=True)
class Contest(Task):
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
        noisy = self.data.kind in ("planted", "blocks", "groups")
        return self.data.title + (f" noise {self.data.noise:g}" if noisy else "")

    @property
    def n_steps(self) -> int:
        """One process for every round of ours and of every rival."""
        return self.n_rounds * (1 + len(self.rivals))

    def rows(self, step: Step) -> Iterator[Row]:
        """One row for every rival, also when it fails."""
        ours = Rival(OURS.get(self.orthogonal, "orthonmf"), None, self.n_seeds)
        found: dict[str, dict[str, Any]] = {}
        failures: dict[str, Exception] = {}
        for number in range(self.n_rounds):
            for one in (ours, *self.rivals):
                step("orthonmf" if one is ours else one.name)
                try:
                    if one.name not in failures:
                        join(found.setdefault(one.name, {}), self._fit(one, number, one is ours))
                except CANNOT as error:
                    failures[one.name] = error
                if ours.name in failures:
                    reason = failures[ours.name]
                    yield from (without_figures(self._row(rival), reason) for rival in self.rivals)
                    return
                if one is not ours and number == self.n_rounds - 1:
                    if one.name in failures:
                        yield without_figures(self._row(one), failures[one.name])
                    else:
                        yield self._compare(one, found[ours.name], found[one.name])

    def _row(self, rival: Rival) -> Row:
        return Row(self.benchmark, self.title, rival.name)

    def _fit(self, one: Rival, number: int, is_ours: bool) -> dict[str, Any]:
        """One round, with other seeds than the rounds before; ours is proven in the first."""
        return measure(
            "fits",
            data=self.data,
            contestant=one.name,
            seeds=list(range(number * one.n_seeds, (number + 1) * one.n_seeds)),
            certificate=self.orthogonal if is_ours and number == 0 else None,
            warm_rows=one.warm_rows,
        )

    def _compare(self, rival: Rival, ours: dict[str, Any], theirs: dict[str, Any]) -> Row:
        figures = {
            **_figures(ours),
            **_figures(theirs, "their_"),
            "ratio": float(np.median(theirs["seconds"]) / np.median(ours["seconds"])),
            "ratio_of_minima": min(theirs["seconds"]) / min(ours["seconds"]),
            "largest_error": max(ours["errors"]),
            "their_largest_error": max(theirs["errors"]),
            "certificate_seconds": ours["certificate_seconds"],
        }
        allowed = figures["their_error"] * (1 + SAME_ERROR)
        goals = [Goal("error", "<=", allowed, figures["error"])]
        if rival.goal is not None:
            # Both: other work on the machine slows many threads more than few, which moves medians.
            goals.append(Goal("ratio", ">=", rival.goal, figures["ratio"]))
            goals.append(Goal("ratio of fewest", ">=", rival.goal, figures["ratio_of_minima"]))
        note = ", ".join(theirs["notes"])
        return replace(self._row(rival), figures=figures, goals=tuple(goals), note=note)


def join(all_rounds: dict[str, Any], found: dict[str, Any]) -> None:
    """Add what one round found to what the rounds before it did."""
    for name, values in found.items():
        if isinstance(values, list):
            all_rounds[name] = all_rounds.get(name, []) + values
        else:
            all_rounds[name] = values
