"""Verdicts: what the words of a claim mean in numbers, and how a finding is put into words.

What counts as similar, slight, large or much faster was fixed from the words of the paper, before
these runs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import inf
from statistics import median

from orthant.reproduction.summary import Measured, is_cut, is_measured, label, value

AGREE, DIFFER, CANNOT = "agree", "differ", "cannot be checked"

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


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether a claim holds here, and the numbers that say so."""

    verdict: str
    evidence: str


Check = Callable[[Measured], Verdict]
Medians = Mapping[str, Mapping[float, float]]


def medians_of(
    measured: Measured, experiment: str, methods: Iterable[str], measure: str
) -> dict[str, dict[float, float]]:
    """The medians of a measure by method and level."""
    return {one: measured.medians(experiment, one, measure) for one in methods}


def lacks(table: Medians) -> list[str]:
    """The methods of which nothing is there."""
    return [method for method, medians in table.items() if not medians]


def common_levels(table: Medians) -> list[float]:
    """The levels at which every method has a median."""
    return sorted(set.intersection(*(set(medians) for medians in table.values())))


def zeros(measured: Measured, experiment: str, method: str, measure: str) -> tuple[int, int]:
    """How many runs of a method have a measure of exactly zero, and how many have one at all."""
    found = [value(row, measure) for row in measured.of(experiment, method)]
    known = [one for one in found if one is not None]
    return sum(one == 0 for one in known), len(known)


def ratio(above: float, below: float) -> float:
    """A quotient that two zeros make 1."""
    if below == 0:
        return 1.0 if above == 0 else inf
    return above / below


def middle(values: Iterable[float]) -> float:
    """The median of the others' medians."""
    return float(median(values))


def between(ratios: Mapping[float, float]) -> str:
    """The range of some ratios in words, with the levels of its ends."""
    low, high = (pick(ratios, key=ratios.__getitem__) for pick in (min, max))
    return f"{ratios[low]:.4f} (at {low:g}) to {ratios[high]:.4f} (at {high:g})"


def holds_at(experiment: str, held: Mapping[float, bool]) -> str:
    """At how many levels something holds, and where it does not."""
    kind = "numbers of components" if experiment == "inner-dimensions" else "noise levels"
    failing = ", ".join(f"{at:g}" for at, one in sorted(held.items()) if not one)
    but = f", not at {failing}" if failing else ""
    return f"Holds at {sum(held.values())} of {len(held)} {kind}{but}."


def verdict(
    holds: bool, said: str, measured: Measured, experiment: str, methods: Iterable[str]
) -> Verdict:
    """Agree or differ, with a word about runs that were cut or failed."""
    rows = measured.of(experiment, *methods)
    notes = []
    cut = sum(map(is_cut, rows))
    if cut:
        notes.append(f"{cut} of these {len(rows)} runs were ended by the time limit.")
    failed = sum(not is_measured(row) for row in rows)
    if failed:
        notes.append(f"{failed} of these {len(rows)} runs failed and are left out.")
    return Verdict(AGREE if holds else DIFFER, " ".join((said, *notes)))


def cannot(experiment: str, measure: str, lacking: Sequence[str]) -> Verdict:
    """A verdict for runs that are not there."""
    if lacking:
        who = ", ".join(label(one) for one in lacking)
        what = "serially timed runs" if measure == "seconds" else "results"
        return Verdict(CANNOT, f"No {what} of {who} in {experiment} are in.")
    return Verdict(CANNOT, f"No level of {experiment} has results of all methods of this claim.")
