"""Verdicts: what the words of a claim mean in numbers, and how a finding is put into words.

What counts as similar, slight, large or much faster was fixed from the words of the paper, before
these runs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from math import inf
from typing import Concatenate, ParamSpec

from orthonmf.reproduction.summary import Group, Measured, Spread, label, value

AGREE, NEARLY, DIFFER, CANNOT = "agree", "nearly", "differ", "cannot be checked"

SIMILAR = 0.05  # "similar": at most this much above
SLIGHT = 0.10  # "slightly", "insignificant": at most this much
MUCH_FASTER = 2.0  # "significantly faster": at least this many times
HIGH_SPREAD = 2.0  # "high variance": the range over the seeds at least this many times wider
LARGE_ERROR = 0.01  # "large error" of a matrix that can be had without any: relative squared error
DEVIATIONS = 4.0  # "concentrates well": every matrix within so many standard deviations

WORDS = {
    "recovery_error": "recovery error",
    "reconstruction_error": "reconstruction error",
    "seconds": "running time",
}
ERRORS = ("recovery_error", "reconstruction_error")
LEVELS = {"inner-dimensions": "numbers of components"}  # all others have noise levels

Within = Callable[[float], bool]
P = ParamSpec("P")


class CannotError(Exception):
    """A claim that the runs that are in do not decide, and why."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether a claim holds here, and the numbers that say so."""

    verdict: str
    evidence: str
    held: tuple[tuple[float, bool], ...] = ()  # every level, and whether the rule holds there


def decide(holds: bool, evidence: str) -> Verdict:
    """Agree or differ."""
    return Verdict(AGREE if holds else DIFFER, evidence)


@dataclass(frozen=True, slots=True)
class Runs:
    """The runs of one experiment, as a check looks at them."""

    measured: Measured
    experiment: str

    def table(
        self,
        methods: Iterable[str],
        measure: str,
        *,
        within: Within = lambda at: True,
        fewest: int = 1,
        take: Callable[[Spread], float | None] = lambda spread: spread.median,
    ) -> dict[str, dict[float, float]]:
        """The median of a measure by method and level, at all levels that every method has.

        Raises `CannotError` where a method has none, or ``fewest`` levels are not there.
        """
        table = {
            one: self.measured.statistics(self.experiment, one, measure, take) for one in methods
        }
        self.refuse_lacking((one for one, found in table.items() if not found), measure)
        levels = [at for at in sorted(set.intersection(*map(set, table.values()))) if within(at)]
        if len(levels) < fewest:
            raise CannotError(
                f"No level of {self.experiment} has results of all methods of this claim."
            )
        return {one: {at: found[at] for at in levels} for one, found in table.items()}

    def zeros(self, methods: Iterable[str], measure: str) -> dict[str, tuple[int, int]]:
        """How many runs of each method have exactly zero, and how many have the measure at all."""
        counts = {}
        for one in methods:
            found = [value(row, measure) for row in self.measured.of(self.experiment, one)]
            known = [one for one in found if one is not None]
            counts[one] = sum(one == 0 for one in known), len(known)
        self.refuse_lacking((one for one, (_, count) in counts.items() if not count), measure)
        return counts

    def refuse_lacking(self, lacking: Iterable[str], measure: str) -> None:
        """Refuse to decide where there is nothing of some methods."""
        who = ", ".join(label(one) for one in lacking)
        what = "serially timed runs" if measure == "seconds" else "results"
        if who:
            raise CannotError(f"No {what} of {who} in {self.experiment} are in.")

    def verdict(
        self,
        holds: bool,
        said: str,
        methods: Iterable[str],
        held: Mapping[float, bool] | None = None,
    ) -> Verdict:
        """Agree or differ, with a word about runs that were cut or failed.

        A rule that ``held`` at more than half of the levels, but not at all, is nearly right: a
        near miss is no contradiction.
        """
        runs = Group(tuple(self.measured.of(self.experiment, *methods)))
        if runs.cut:
            said += f" {runs.cut} of these {len(runs.rows)} runs were ended by the time limit."
        if runs.failed:
            said += f" {runs.failed} of these {len(runs.rows)} runs failed and are left out."
        levels = tuple(sorted((held or {}).items()))
        near = most(one for _, one in levels)
        return Verdict(AGREE if holds else NEARLY if near else DIFFER, said, levels)

    def by_level(
        self,
        held: Mapping[float, bool],
        said: str,
        methods: Iterable[str],
        enough: Callable[[Iterable[bool]], bool] = all,
    ) -> Verdict:
        """The verdict of a rule that ``held`` at some levels, with a word about where."""
        failing = ", ".join(f"{at:g}" for at, one in sorted(held.items()) if not one)
        but = f", not at {failing}" if failing else ""
        kind = LEVELS.get(self.experiment, "noise levels")
        where = f"Holds at {sum(held.values())} of {len(held)} {kind}{but}."
        return self.verdict(enough(held.values()), f"{where} {said}", methods, held)


Check = Callable[[Runs], Verdict]


def check(rule: Callable[Concatenate[Runs, P], Verdict]) -> Callable[P, Check]:
    """A rule that several claims share: called with what a claim is about, it gives a check."""

    def about(*args: P.args, **kwargs: P.kwargs) -> Check:
        return lambda runs: rule(runs, *args, **kwargs)

    about.__doc__ = rule.__doc__
    return about


def most(holds: Iterable[bool]) -> bool:
    """Whether more than half of them hold."""
    found = list(holds)
    return sum(found) > len(found) / 2


def ratio(above: float, below: float) -> float:
    """A quotient that two zeros make 1."""
    if below == 0:
        return 1.0 if above == 0 else inf
    return above / below


def between(ratios: Mapping[float, float]) -> str:
    """The range of some ratios in words, with the levels of its ends."""
    low, high = (pick(ratios, key=ratios.__getitem__) for pick in (min, max))
    return f"{ratios[low]:.4f} (at {low:g}) to {ratios[high]:.4f} (at {high:g})"
