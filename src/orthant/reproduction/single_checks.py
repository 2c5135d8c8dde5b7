"""Checks of claims that stand alone: EM-ONMF's spread, inner dimensions, Ding's method, ONMFS."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from statistics import median

from orthant.reproduction.checks import above_zero
from orthant.reproduction.summary import ONMF_APX, Spread, is_cut, label
from orthant.reproduction.verdicts import (
    AGREE,
    DIFFER,
    ERRORS,
    HIGH_SPREAD,
    SLIGHT,
    WORDS,
    CannotError,
    Runs,
    Verdict,
    check,
    most,
    ratio,
)

DING, NOISY = "onmf-ding-double", "onmf-ding-double-noisy"


@check
def wide_spread(runs: Runs, method: str, others: Sequence[str]) -> Verdict:
    """At most levels the errors of a method range more widely over the seeds than the others'."""

    def width(spread: Spread) -> float | None:
        return spread.maximum - spread.minimum if spread.count > 1 else None

    table = runs.table((method, *others), "reconstruction_error", take=width)
    factors = {
        at: ratio(own, float(median(table[one][at] for one in others)))
        for at, own in table[method].items()
    }
    held = {at: factor >= HIGH_SPREAD for at, factor in factors.items()}
    said = (
        f"{runs.holds_at(held)} The range of {label(method)} over the middle range of the others: "
        f"{min(factors.values()):.3g} to {max(factors.values()):.3g}."
    )
    return runs.verdict(most(sum(held.values()), len(held)), said, (method, *others), held)


def onmfs_does_not_finish(runs: Runs) -> Verdict:
    """ONMFS is ended by the time limit."""
    rows = runs.measured.of(runs.experiment, "onmfs")
    if not rows:
        raise CannotError(
            "ONMFS is not run in experiment 1. The exhaustive search of its publication cannot be "
            "run there at all, and the ONMFS here draws a fixed number of samples, so its time "
            "says nothing about that search."
        )
    cut = sum(map(is_cut, rows))
    said = f"{cut} of {len(rows)} runs were ended by the time limit."
    return Verdict(AGREE if cut == len(rows) else DIFFER, said)


@check
def trend(runs: Runs, methods: Sequence[str]) -> Verdict:
    """For most methods recovery grows and reconstruction falls from the first level to the last."""
    changes = _changes(runs, methods, lambda heights: heights[-1] - heights[0])
    grows = [one for one, (recovery, _) in changes.items() if recovery > 0]
    falls = [one for one, (_, reconstruction) in changes.items() if reconstruction <= 0]
    both = [one for one in grows if one in falls]

    def count(names: Sequence[str]) -> str:
        which = ", ".join(label(one) for one in names) or "none"
        return f"{len(names)} of {len(methods)} ({which})"

    said = (
        f"Recovery error grows for {count(grows)}; reconstruction error falls for {count(falls)}; "
        f"both for {count(both)}."
    )
    return runs.verdict(most(len(both), len(methods)), said, methods)


@check
def little_change(runs: Runs, methods: Sequence[str]) -> Verdict:
    """For most methods both errors change little between the first and the last level."""
    changes = _changes(runs, methods, lambda heights: abs(ratio(heights[-1], heights[0]) - 1))
    small = [one for one, both in changes.items() if max(both) <= SLIGHT]
    said = f"Change of the recovery and the reconstruction error with k: {_percent(changes)}."
    return runs.verdict(most(len(small), len(methods)), said, methods)


@check
def changes_least(runs: Runs, others: Sequence[str]) -> Verdict:
    """Our medians range least over the levels, relative to their smallest."""
    methods = (ONMF_APX, *others)
    changes = _changes(runs, methods, lambda heights: ratio(max(heights), min(heights)) - 1)
    least = [min(changes, key=lambda one: changes[one][place]) for place in range(len(ERRORS))]
    named = (f"the {WORDS[one]} of {label(who)}" for one, who in zip(ERRORS, least, strict=True))
    mine = changes[ONMF_APX]
    holds = all(mine[i] < changes[one][i] for one in others for i in range(len(ERRORS)))
    said = (
        f"Least change: {' and '.join(named)}. Range over smallest, of both errors: "
        f"{_percent(changes)}."
    )
    return runs.verdict(holds, said, methods)


def _changes(
    runs: Runs, methods: Iterable[str], change: Callable[[list[float]], float]
) -> dict[str, list[float]]:
    """How both errors of every method change with the level: a function of all its medians."""
    tables = [runs.table(methods, measure, fewest=2) for measure in ERRORS]
    return {one: [change(list(table[one].values())) for table in tables] for one in methods}


def _percent(changes: dict[str, list[float]]) -> str:
    return ", ".join(f"{label(name)} {a:.1%} and {b:.1%}" for name, (a, b) in changes.items())


def more_iterations_with_less_noise(runs: Runs) -> Verdict:
    """Ding's method takes more iterations at the smallest noise than at the largest."""
    groups = runs.measured.groups(runs.experiment, DING)
    found = runs.measured.medians(runs.experiment, DING, "iterations")
    medians = {at: count for at, count in found.items() if above_zero(at)}
    if len(medians) < 2:
        raise CannotError(f"Two noise levels above 0 with results of {label(DING)} are needed.")
    first, last = min(medians), max(medians)
    each = ", ".join(f"{count:.0f} at noise {at:g}" for at, count in medians.items())
    limited = sum(row.stop_reason in ("time_limit", "max_iter") for row in groups[first].rows)
    said = (
        f"Median iterations: {each}. At noise {first:g} a limit ended {limited} of "
        f"{len(groups[first].rows)} runs."
    )
    holds = medians[first] > medians[last]
    if limited and not holds:
        raise CannotError(said)
    return Verdict(AGREE if holds else DIFFER, said)


def noisy_helps_without_noise(runs: Runs) -> Verdict:
    """Added noise lowers the recovery error of Ding's method on matrices without noise."""
    table = runs.table((DING, NOISY), "recovery_error", within=lambda at: at == 0)
    plain, noisy = (table[one][0.0] for one in (DING, NOISY))
    said = f"Median recovery error at noise 0: {plain:.4g} without and {noisy:.4g} with it."
    return runs.verdict(noisy < plain, said, (DING, NOISY))


def noisy_inflates(runs: Runs) -> Verdict:
    """Added noise raises the recovery error of Ding's method at most levels above 0."""
    table = runs.table((DING, NOISY), "recovery_error", within=above_zero)
    factors = {at: ratio(noisy, table[DING][at]) for at, noisy in table[NOISY].items()}
    held = {at: factor > 1 for at, factor in factors.items()}
    each = ", ".join(f"{factor:.3f} at {at:g}" for at, factor in factors.items())
    said = f"{runs.holds_at(held)} Factors: {each}."
    return runs.verdict(most(sum(held.values()), len(held)), said, (DING, NOISY), held)
