"""Checks of claims: first those that several claims share, then those of one claim each."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from math import inf, sqrt
from statistics import median

from orthonmf.reproduction import verdicts as v
from orthonmf.reproduction.summary import ONMF_APX, Spread, is_cut, label
from orthonmf.reproduction.verdicts import CannotError, Runs, Verdict, Within, check, most, ratio

DING, NOISY = "onmf-ding-double", "onmf-ding-double-noisy"


@dataclass(frozen=True, slots=True)
class Bound:
    """Our median over a reference made of the others' lies in [low, high)."""

    measure: str
    reference: Callable[[Iterable[float]], float]
    words: str
    low: float = 0.0
    high: float = inf


def above_zero(at: float) -> bool:
    """Levels with noise: without it errors are rounding, and ratios mean nothing."""
    return at > 0


@check
def every_level(
    runs: Runs, others: Sequence[str], bounds: Sequence[Bound], within: Within = above_zero
) -> Verdict:
    """All bounds hold at every level that belongs to the claim."""
    held: dict[float, bool] = {}
    said = []
    for bound in bounds:
        table = runs.table((ONMF_APX, *others), bound.measure, within=within)
        ratios = {
            at: ratio(ours, bound.reference(table[one][at] for one in others))
            for at, ours in table[ONMF_APX].items()
        }
        for at, one in ratios.items():
            held[at] = held.get(at, True) and bound.low <= one < bound.high
        said.append(f"{v.WORDS[bound.measure]} divided by {bound.words}: {v.between(ratios)}")
    return runs.by_level(held, f"ONMF-apx's median {'; '.join(said)}.", (ONMF_APX, *others))


@check
def exactly_orthogonal(runs: Runs, methods: Sequence[str], measure: str) -> Verdict:
    """The measure is exactly zero in every run of these methods."""
    counts = runs.zeros(methods, measure)
    said = "; ".join(
        f"{label(one)}: exactly 0 in {exact} of {count} runs"
        for one, (exact, count) in counts.items()
    )
    holds = all(exact == count for exact, count in counts.values())
    return runs.verdict(holds, f"{said}.", methods)


@check
def never_orthogonal(
    runs: Runs, methods: Sequence[str], measure: str, always: Sequence[str] = ()
) -> Verdict:
    """The measure is never exactly zero for these methods, and always for some others."""
    counts = runs.zeros((*methods, *always), measure)
    holds = all(counts[one][0] == 0 for one in methods)
    holds &= all(counts[one][0] == counts[one][1] for one in always)
    said = ", ".join(f"{label(one)} {exact} of {count}" for one, (exact, count) in counts.items())
    return runs.verdict(holds, f"Runs that are exactly orthogonal: {said}.", tuple(counts))


@check
def below_most(runs: Runs, others: Sequence[str], measure: str) -> Verdict:
    """At every level our median is below that of more than half of the others."""
    table = runs.table((ONMF_APX, *others), measure, within=above_zero)
    below = {at: [ours < table[one][at] for one in others] for at, ours in table[ONMF_APX].items()}
    held = {at: most(those) for at, those in below.items()}
    said = ", ".join(f"{sum(those)} of {len(others)} at {at:g}" for at, those in below.items())
    return runs.by_level(held, f"ONMF-apx is below {said}.", (ONMF_APX, *others))


@check
def below_planted(runs: Runs, methods: Sequence[str]) -> Verdict:
    """At every noise above 0 more than half of the methods beat the planted solution."""
    planted = runs.measured.planted_errors(runs.experiment)
    table = runs.table(
        methods, "reconstruction_error", within=lambda at: above_zero(at) and at in planted
    )
    ratios = {
        one: {at: error / planted[at] for at, error in found.items()}
        for one, found in table.items()
    }
    levels = table[methods[0]]
    held = {at: most(table[one][at] < planted[at] for one in methods) for at in levels}
    said = "; ".join(f"{label(one)} {v.between(found)}" for one, found in ratios.items())
    return runs.by_level(held, f"Median divided by the planted solution's: {said}.", methods)


def planted_concentrates(runs: Runs) -> Verdict:
    """The planted error of every matrix is sqrt(2mn) times the noise, within what chance allows."""
    rows = runs.measured.of(runs.experiment)
    drawn = {
        (row.noise, row.seed): row for row in rows if row.planted_error is not None and row.noise
    }
    if not drawn:
        raise CannotError("No planted errors above noise 0 are in.")
    factors, off = [], []
    for row in drawn.values():
        assert row.planted_error is not None
        assert row.noise
        cells = row.n_samples * row.n_features
        factors.append(row.planted_error / row.noise)
        # The squared error has mean 2mn and standard deviation sqrt(20mn), in squared noises.
        off.append(abs(factors[-1] ** 2 - 2 * cells) / sqrt(20 * cells))
    said = (
        f"{len(factors)} matrices: {min(factors):.1f} to {max(factors):.1f} times the noise "
        f"(expected {sqrt(2 * cells):.1f}), at most {max(off):.1f} standard deviations off."
    )
    return v.decide(max(off) <= v.DEVIATIONS, said)


@check
def much_faster(runs: Runs, others: Sequence[str]) -> Verdict:
    """Our median running time is below every other's by the factor, at every level."""
    table = runs.table((ONMF_APX, *others), "seconds")
    levels = table[ONMF_APX]
    factors = {
        (one, at): ratio(table[one][at], ours) for one in others for at, ours in levels.items()
    }
    held = {at: all(factors[one, at] >= v.MUCH_FASTER for one in others) for at in levels}
    (least, there), (largest, elsewhere) = (
        pick(factors, key=factors.__getitem__) for pick in (min, max)
    )
    said = (
        f"Smallest factor {factors[least, there]:.3g} "
        f"({label(least)} at {there:g}), largest {factors[largest, elsewhere]:.3g} "
        f"({label(largest)} at {elsewhere:g})."
    )
    return runs.by_level(held, said, (ONMF_APX, *others))


@check
def large_error_without_noise(runs: Runs, method: str) -> Verdict:
    """The median error of a method on matrices without noise is large."""
    group = runs.measured.groups(runs.experiment, method).get(0.0)
    spread = group.spread("relative_squared_error") if group else None
    if spread is None:
        raise CannotError(f"No results of {label(method)} at noise 0 are in.")
    said = (
        f"Relative squared error at noise 0 over {spread.count} runs: median "
        f"{spread.median:.3g}, from {spread.minimum:.3g} to {spread.maximum:.3g}."
    )
    return runs.verdict(spread.median > v.LARGE_ERROR, said, (method,))


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
    held = {at: factor >= v.HIGH_SPREAD for at, factor in factors.items()}
    said = (
        f"The range of {label(method)} over the middle range of the others: "
        f"{min(factors.values()):.3g} to {max(factors.values()):.3g}."
    )
    return runs.by_level(held, said, (method, *others), most)


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
    return v.decide(cut == len(rows), said)


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
    return runs.verdict(most(one in both for one in methods), said, methods)


@check
def little_change(runs: Runs, methods: Sequence[str]) -> Verdict:
    """For most methods both errors change little between the first and the last level."""
    changes = _changes(runs, methods, lambda heights: abs(ratio(heights[-1], heights[0]) - 1))
    small = most(max(both) <= v.SLIGHT for both in changes.values())
    said = f"Change of the recovery and the reconstruction error with k: {_percent(changes)}."
    return runs.verdict(small, said, methods)


@check
def changes_least(runs: Runs, others: Sequence[str]) -> Verdict:
    """Our medians range least over the levels, relative to their smallest."""
    methods = (ONMF_APX, *others)
    changes = _changes(runs, methods, lambda heights: ratio(max(heights), min(heights)) - 1)
    least = [min(changes, key=lambda one: changes[one][place]) for place in range(len(v.ERRORS))]
    errors = zip(v.ERRORS, least, strict=True)
    named = (f"the {v.WORDS[one]} of {label(who)}" for one, who in errors)
    mine = changes[ONMF_APX]
    holds = all(mine[i] < changes[one][i] for one in others for i in range(len(v.ERRORS)))
    said = (
        f"Least change: {' and '.join(named)}. Range over smallest, of both errors: "
        f"{_percent(changes)}."
    )
    return runs.verdict(holds, said, methods)


def _changes(
    runs: Runs, methods: Iterable[str], change: Callable[[list[float]], float]
) -> dict[str, list[float]]:
    """How both errors of every method change with the level: a function of all its medians."""
    tables = [runs.table(methods, measure, fewest=2) for measure in v.ERRORS]
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
    return v.decide(holds, said)


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
    return runs.by_level(held, f"Factors: {each}.", (DING, NOISY), most)
