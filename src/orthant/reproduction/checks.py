"""Checks that several claims share: medians at every level, exact zeros, ranges, factors of time.

Every function here returns a check: a function of the runs that gives a verdict.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from math import inf, sqrt

from orthant.reproduction.summary import ONMF_APX, Measured, label
from orthant.reproduction.verdicts import (
    AGREE,
    CANNOT,
    DEVIATIONS,
    DIFFER,
    MUCH_FASTER,
    WORDS,
    Check,
    Verdict,
    between,
    cannot,
    common_levels,
    holds_at,
    lacks,
    medians_of,
    ratio,
    verdict,
    zeros,
)


@dataclass(frozen=True, slots=True)
class Bound:
    """Our median over a reference made of the others' lies in [low, high)."""

    measure: str
    reference: Callable[[Iterable[float]], float]
    words: str
    low: float = 0.0
    high: float = inf


def every_level(
    experiment: str,
    others: Sequence[str],
    bounds: Sequence[Bound],
    within: Callable[[float], bool] = lambda at: at > 0,
) -> Check:
    """All bounds hold at every level that belongs to the claim."""

    def check(measured: Measured) -> Verdict:
        held: dict[float, bool] = {}
        parts = []
        for bound in bounds:
            table = medians_of(measured, experiment, (ONMF_APX, *others), bound.measure)
            lacking = lacks(table)
            levels = [at for at in common_levels(table) if within(at)]
            if lacking or not levels:
                return cannot(experiment, bound.measure, lacking)
            ratios = {
                at: ratio(table[ONMF_APX][at], bound.reference(table[one][at] for one in others))
                for at in levels
            }
            for at, one in ratios.items():
                held[at] = held.get(at, True) and bound.low <= one < bound.high
            parts.append(f"{WORDS[bound.measure]} divided by {bound.words}: {between(ratios)}")
        said = f"{holds_at(experiment, held)} ONMF-apx's median {'; '.join(parts)}."
        return verdict(all(held.values()), said, measured, experiment, (ONMF_APX, *others))

    return check


def exactly_orthogonal(experiment: str, methods: Sequence[str], measure: str) -> Check:
    """The measure is exactly zero in every run of these methods."""

    def check(measured: Measured) -> Verdict:
        counts = {one: zeros(measured, experiment, one, measure) for one in methods}
        lacking = [one for one, (_, count) in counts.items() if not count]
        if lacking:
            return cannot(experiment, measure, lacking)
        said = "; ".join(
            f"{label(one)}: exactly 0 in {exact} of {count} runs"
            for one, (exact, count) in counts.items()
        )
        holds = all(exact == count for exact, count in counts.values())
        return verdict(holds, f"{said}.", measured, experiment, methods)

    return check


def never_orthogonal(
    experiment: str, methods: Sequence[str], measure: str, always: Sequence[str] = ()
) -> Check:
    """The measure is never exactly zero for these methods, and always for some others."""

    def check(measured: Measured) -> Verdict:
        counts = {one: zeros(measured, experiment, one, measure) for one in (*methods, *always)}
        lacking = [one for one, (_, count) in counts.items() if not count]
        if lacking:
            return cannot(experiment, measure, lacking)
        holds = all(counts[one][0] == 0 for one in methods)
        holds &= all(counts[one][0] == counts[one][1] for one in always)
        said = "Runs that are exactly orthogonal: " + ", ".join(
            f"{label(one)} {exact} of {count}" for one, (exact, count) in counts.items()
        )
        return verdict(holds, f"{said}.", measured, experiment, (*methods, *always))

    return check


def below_most(experiment: str, others: Sequence[str], measure: str) -> Check:
    """At every level our median is below that of more than half of the others."""

    def check(measured: Measured) -> Verdict:
        table = medians_of(measured, experiment, (ONMF_APX, *others), measure)
        lacking, levels = lacks(table), [at for at in common_levels(table) if at > 0]
        if lacking or not levels:
            return cannot(experiment, measure, lacking)
        below = {at: sum(table[ONMF_APX][at] < table[one][at] for one in others) for at in levels}
        held = {at: count > len(others) / 2 for at, count in below.items()}
        said = f"{holds_at(experiment, held)} ONMF-apx is below " + ", ".join(
            f"{count} of {len(others)} at {at:g}" for at, count in below.items()
        )
        return verdict(all(held.values()), f"{said}.", measured, experiment, (ONMF_APX, *others))

    return check


def below_planted(experiment: str, methods: Sequence[str], share: float) -> Check:
    """At every noise above 0 more than this share of the methods beat the planted solution."""

    def check(measured: Measured) -> Verdict:
        table = medians_of(measured, experiment, methods, "reconstruction_error")
        planted = measured.planted_errors(experiment)
        lacking = lacks(table)
        levels = [at for at in common_levels(table) if at > 0 and at in planted]
        if lacking or not levels:
            return cannot(experiment, "reconstruction_error", lacking)
        below = {at: sum(table[one][at] < planted[at] for one in methods) for at in levels}
        held = {at: count > share * len(methods) for at, count in below.items()}
        said = (
            f"{holds_at(experiment, held)} Median divided by the planted solution's: "
            + "; ".join(
                f"{label(one)} {between({at: table[one][at] / planted[at] for at in levels})}"
                for one in methods
            )
        )
        return verdict(all(held.values()), f"{said}.", measured, experiment, methods)

    return check


def planted_concentrates(experiment: str) -> Check:
    """The planted error of every matrix is sqrt(2mn) times the noise, within what chance allows."""

    def check(measured: Measured) -> Verdict:
        rows = [r for r in measured.of(experiment) if r.planted_error is not None and r.noise]
        drawn = {(r.noise, r.seed): r for r in rows}.values()
        if not drawn:
            return Verdict(CANNOT, "No planted errors above noise 0 are in.")
        factors, off = [], []
        for row in drawn:
            assert row.planted_error is not None
            assert row.noise
            cells = row.n_samples * row.n_features
            # The squared error has mean 2mn and standard deviation sqrt(20mn), in squared noises.
            squared = (row.planted_error / row.noise) ** 2
            off.append(abs(squared - 2 * cells) / sqrt(20 * cells))
            factors.append(row.planted_error / row.noise)
        said = (
            f"{len(factors)} matrices: {min(factors):.1f} to {max(factors):.1f} times the noise "
            f"(expected {sqrt(2 * cells):.1f}), at most {max(off):.1f} standard deviations off."
        )
        return Verdict(AGREE if max(off) <= DEVIATIONS else DIFFER, said)

    return check


def much_faster(experiment: str, others: Sequence[str]) -> Check:
    """Our median running time is below every other's by the factor, at every level."""

    def check(measured: Measured) -> Verdict:
        table = medians_of(measured, experiment, (ONMF_APX, *others), "seconds")
        lacking, levels = lacks(table), common_levels(table)
        if lacking or not levels:
            return cannot(experiment, "seconds", lacking)
        factors = {
            (one, at): ratio(table[one][at], table[ONMF_APX][at]) for one in others for at in levels
        }
        held = {at: all(factors[one, at] >= MUCH_FASTER for one in others) for at in levels}
        (least, there), (most, elsewhere) = (
            pick(factors, key=factors.__getitem__) for pick in (min, max)
        )
        said = (
            f"{holds_at(experiment, held)} Smallest factor {factors[least, there]:.3g} "
            f"({label(least)} at {there:g}), largest {factors[most, elsewhere]:.3g} "
            f"({label(most)} at {elsewhere:g})."
        )
        return verdict(all(held.values()), said, measured, experiment, (ONMF_APX, *others))

    return check
