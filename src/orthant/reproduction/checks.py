"""Checks that several claims share: medians at every level, exact zeros, factors of time."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from math import inf, sqrt

from orthant.reproduction.summary import ONMF_APX, label
from orthant.reproduction.verdicts import (
    AGREE,
    DEVIATIONS,
    DIFFER,
    LARGE_ERROR,
    MUCH_FASTER,
    WORDS,
    CannotError,
    Runs,
    Verdict,
    Within,
    between,
    check,
    most,
    ratio,
)


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
        said.append(f"{WORDS[bound.measure]} divided by {bound.words}: {between(ratios)}")
    text = f"{runs.holds_at(held)} ONMF-apx's median {'; '.join(said)}."
    return runs.verdict(all(held.values()), text, (ONMF_APX, *others), held)


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
    below = {
        at: sum(ours < table[one][at] for one in others) for at, ours in table[ONMF_APX].items()
    }
    held = {at: most(count, len(others)) for at, count in below.items()}
    said = ", ".join(f"{count} of {len(others)} at {at:g}" for at, count in below.items())
    text = f"{runs.holds_at(held)} ONMF-apx is below {said}."
    return runs.verdict(all(held.values()), text, (ONMF_APX, *others), held)


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
    held = {
        at: most(sum(table[one][at] < planted[at] for one in methods), len(methods))
        for at in table[methods[0]]
    }
    said = "; ".join(f"{label(one)} {between(found)}" for one, found in ratios.items())
    text = f"{runs.holds_at(held)} Median divided by the planted solution's: {said}."
    return runs.verdict(all(held.values()), text, methods, held)


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
    return Verdict(AGREE if max(off) <= DEVIATIONS else DIFFER, said)


@check
def much_faster(runs: Runs, others: Sequence[str]) -> Verdict:
    """Our median running time is below every other's by the factor, at every level."""
    table = runs.table((ONMF_APX, *others), "seconds")
    levels = table[ONMF_APX]
    factors = {
        (one, at): ratio(table[one][at], ours) for one in others for at, ours in levels.items()
    }
    held = {at: all(factors[one, at] >= MUCH_FASTER for one in others) for at in levels}
    (least, there), (largest, elsewhere) = (
        pick(factors, key=factors.__getitem__) for pick in (min, max)
    )
    said = (
        f"{runs.holds_at(held)} Smallest factor {factors[least, there]:.3g} "
        f"({label(least)} at {there:g}), largest {factors[largest, elsewhere]:.3g} "
        f"({label(largest)} at {elsewhere:g})."
    )
    return runs.verdict(all(held.values()), said, (ONMF_APX, *others), held)


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
    return runs.verdict(spread.median > LARGE_ERROR, said, (method,))
