"""Checks of claims that stand alone: EM-ONMF's spread, inner dimensions, Ding's method, ONMFS."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median

from orthant.reproduction.summary import ONMF_APX, Measured, is_cut, label
from orthant.reproduction.verdicts import (
    AGREE,
    CANNOT,
    DIFFER,
    HIGH_SPREAD,
    LARGE_ERROR,
    SLIGHT,
    WORDS,
    Check,
    Verdict,
    cannot,
    common_levels,
    holds_at,
    lacks,
    medians_of,
    ratio,
    verdict,
)

ERRORS = ("recovery_error", "reconstruction_error")
DING, NOISY = "onmf-ding-double", "onmf-ding-double-noisy"


def wide_spread(experiment: str, method: str, others: Sequence[str]) -> Check:
    """At most levels the errors of a method range more widely over the seeds than the others'."""

    def ranges(measured: Measured, name: str) -> dict[float, float]:
        groups = measured.groups(experiment, name)
        spreads = {at: group.spread("reconstruction_error") for at, group in groups.items()}
        return {
            at: one.maximum - one.minimum for at, one in spreads.items() if one and one.count > 1
        }

    def check(measured: Measured) -> Verdict:
        table = {name: ranges(measured, name) for name in (method, *others)}
        levels = common_levels(table)
        if lacks(table) or not levels:
            return cannot(experiment, "reconstruction_error", lacks(table))
        usual = {at: float(median(table[name][at] for name in others)) for at in levels}
        factors = {at: ratio(table[method][at], usual[at]) for at in levels}
        held = {at: factor >= HIGH_SPREAD for at, factor in factors.items()}
        said = (
            f"{holds_at(experiment, held)} The range of {label(method)} over the middle range of "
            f"the others: {min(factors.values()):.3g} to {max(factors.values()):.3g}."
        )
        most = sum(held.values()) > len(held) / 2
        return verdict(most, said, measured, experiment, (method, *others))

    return check


def large_error_without_noise(experiment: str, method: str) -> Check:
    """The median error of a method on matrices without noise is large."""

    def check(measured: Measured) -> Verdict:
        group = measured.groups(experiment, method).get(0.0)
        spread = group.spread("relative_squared_error") if group else None
        if spread is None:
            return Verdict(CANNOT, f"No results of {label(method)} at noise 0 are in.")
        said = (
            f"Relative squared error at noise 0 over {spread.count} runs: median "
            f"{spread.median:.3g}, from {spread.minimum:.3g} to {spread.maximum:.3g}."
        )
        holds = spread.median > LARGE_ERROR
        return verdict(holds, said, measured, experiment, (method,))

    return check


def onmfs_does_not_finish(measured: Measured) -> Verdict:
    """ONMFS is ended by the time limit in experiment 1."""
    rows = measured.of("experiment-1", "onmfs")
    if not rows:
        why = (
            "ONMFS is not run in experiment 1. The exhaustive search of its publication cannot be "
            "run there at all, and the ONMFS here draws a fixed number of samples, so its time "
            "says nothing about that search."
        )
        return Verdict(CANNOT, why)
    cut = sum(map(is_cut, rows))
    said = f"{cut} of {len(rows)} runs were ended by the time limit."
    return Verdict(AGREE if cut == len(rows) else DIFFER, said)


def trend(experiment: str, methods: Sequence[str]) -> Check:
    """For most methods recovery grows and reconstruction falls from the first level to the last."""

    def check(measured: Measured) -> Verdict:
        tables = [medians_of(measured, experiment, methods, one) for one in ERRORS]
        lacking = sorted({name for table in tables for name in lacks(table)})
        if lacking or any(len(common_levels(table)) < 2 for table in tables):
            return cannot(experiment, "recovery_error", lacking)
        grows, falls = (_methods_that_rise(table) for table in tables)
        falls = [name for name in methods if name not in falls]
        both = [name for name in grows if name in falls]
        said = (
            f"Recovery error grows for {_listed(grows, methods)}; reconstruction error falls for "
            f"{_listed(falls, methods)}; both for {_listed(both, methods)}."
        )
        return verdict(len(both) > len(methods) / 2, said, measured, experiment, methods)

    return check


def _methods_that_rise(table: dict[str, dict[float, float]]) -> list[str]:
    levels = common_levels(table)
    return [name for name, at in table.items() if at[levels[-1]] > at[levels[0]]]


def _listed(names: Sequence[str], methods: Sequence[str]) -> str:
    which = ", ".join(label(name) for name in names) or "none"
    return f"{len(names)} of {len(methods)} ({which})"


def little_change(experiment: str, methods: Sequence[str]) -> Check:
    """For most methods both errors change little between the first and the last level."""

    def check(measured: Measured) -> Verdict:
        changes: dict[str, list[float]] = {name: [] for name in methods}
        for measure in ERRORS:
            table = medians_of(measured, experiment, methods, measure)
            levels = common_levels(table)
            if lacks(table) or len(levels) < 2:
                return cannot(experiment, measure, lacks(table))
            for name, at in table.items():
                changes[name].append(abs(ratio(at[levels[-1]], at[levels[0]]) - 1))
        small = [name for name, both in changes.items() if max(both) <= SLIGHT]
        said = f"Change of the recovery and the reconstruction error with k: {_both(changes)}."
        return verdict(len(small) > len(methods) / 2, said, measured, experiment, methods)

    return check


def changes_least(experiment: str, others: Sequence[str]) -> Check:
    """Our medians range least over the levels, relative to their smallest."""

    def check(measured: Measured) -> Verdict:
        changes: dict[str, list[float]] = {name: [] for name in (ONMF_APX, *others)}
        parts = []
        for measure in ERRORS:
            table = medians_of(measured, experiment, changes, measure)
            levels = common_levels(table)
            if lacks(table) or len(levels) < 2:
                return cannot(experiment, measure, lacks(table))
            for name, medians in table.items():
                heights = [medians[at] for at in levels]
                changes[name].append(ratio(max(heights), min(heights)) - 1)
            least = min(changes, key=lambda name: changes[name][-1])
            parts.append(f"the {WORDS[measure]} of {label(least)}")
        mine = changes[ONMF_APX]
        holds = all(mine[i] < changes[name][i] for name in others for i in range(2))
        said = (
            f"Least change: {' and '.join(parts)}. Range over smallest, of both errors: "
            f"{_both(changes)}."
        )
        return verdict(holds, said, measured, experiment, tuple(changes))

    return check


def _both(changes: dict[str, list[float]]) -> str:
    return ", ".join(f"{label(name)} {a:.1%} and {b:.1%}" for name, (a, b) in changes.items())


def more_iterations_with_less_noise(measured: Measured) -> Verdict:
    """Ding's method takes more iterations at the smallest noise than at the largest."""
    groups = measured.groups("double-factor", DING)
    spreads = {at: group.spread("iterations") for at, group in groups.items() if at > 0}
    medians = {at: one.median for at, one in spreads.items() if one is not None}
    if len(medians) < 2:
        return Verdict(
            CANNOT, f"Two noise levels above 0 with results of {label(DING)} are needed."
        )
    first, last = min(medians), max(medians)
    said = "Median iterations: " + ", ".join(
        f"{count:.0f} at noise {at:g}" for at, count in medians.items()
    )
    limited = sum(row.stop_reason in ("time_limit", "max_iter") for row in groups[first].rows)
    said += f". At noise {first:g} a limit ended {limited} of {len(groups[first].rows)} runs."
    if medians[first] > medians[last]:
        return Verdict(AGREE, said)
    return Verdict(CANNOT if limited else DIFFER, said)


def noisy_helps_without_noise(measured: Measured) -> Verdict:
    """Added noise lowers the recovery error of Ding's method on matrices without noise."""
    table = medians_of(measured, "double-factor", (DING, NOISY), "recovery_error")
    if 0.0 not in common_levels(table):
        return cannot("double-factor", "recovery_error", lacks(table))
    plain, noisy = (table[name][0.0] for name in (DING, NOISY))
    said = f"Median recovery error at noise 0: {plain:.4g} without and {noisy:.4g} with it."
    return verdict(noisy < plain, said, measured, "double-factor", (DING, NOISY))


def noisy_inflates(measured: Measured) -> Verdict:
    """Added noise raises the recovery error of Ding's method at most levels above 0."""
    table = medians_of(measured, "double-factor", (DING, NOISY), "recovery_error")
    levels = [at for at in common_levels(table) if at > 0]
    if not levels:
        return cannot("double-factor", "recovery_error", lacks(table))
    factors = {at: ratio(table[NOISY][at], table[DING][at]) for at in levels}
    held = {at: factor > 1 for at, factor in factors.items()}
    said = f"{holds_at('double-factor', held)} Factors: " + ", ".join(
        f"{factor:.3f} at {at:g}" for at, factor in factors.items()
    )
    holds = sum(held.values()) > len(held) / 2
    return verdict(holds, f"{said}.", measured, "double-factor", (DING, NOISY))
