"""Rules that decide claims, and what the words of a claim mean in numbers.

What counts as similar, slight, large or much faster was fixed from the words of the paper, before
these runs. Every rule takes the runs of its experiment and gives a `Verdict`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from math import inf, sqrt

import numpy as np
import pandas as pd

from experiments.paper import BEST, ONMF_APX, PUBLISHED, SIDES
from experiments.tables import label

AGREE, NEARLY, DIFFER, CANNOT = "agree", "nearly", "differ", "cannot be checked"

SIMILAR = 0.05  # "similar": at most this much above
SLIGHT = 0.10  # "slightly", "insignificant": at most this much
MUCH_FASTER = 2.0  # "significantly faster": at least this many times
HIGH_SPREAD = 2.0  # "high variance": the range over the seeds at least this many times wider
LARGE_ERROR = 0.01  # "large error" of a matrix that can be had without any: relative squared error
DEVIATIONS = 4.0  # "concentrates well": every matrix within so many standard deviations
DIGITS = 4  # of the published values

WORDS = {
    "recovery_error": "recovery error",
    "reconstruction_error": "reconstruction error",
    "seconds": "running time",
}
ERRORS = ("recovery_error", "reconstruction_error")
DING, NOISY = "onmf-ding-double", "onmf-ding-double-noisy"


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


def most(holds: Iterable[bool]) -> bool:
    """Whether more than half of them hold."""
    held = list(holds)
    return sum(held) > len(held) / 2


def noisy_levels(level: float) -> bool:
    """Levels with noise: without it errors are rounding, and ratios mean nothing."""
    return level > 0


def all_levels(level: float) -> bool:
    """Every level."""
    return True


@dataclass(frozen=True, eq=False)
class Runs:
    """The runs of one experiment, as a rule looks at them."""

    experiment: str
    rows: pd.DataFrame  # those that were measured
    missing: pd.DataFrame  # those that only say why they were not

    def of(self, *methods: str) -> pd.DataFrame:
        """The rows of some methods."""
        return self.rows[self.rows["method"].isin(methods)]

    def table(
        self,
        methods: Sequence[str],
        measure: str,
        within: Callable[[float], bool] = all_levels,
        fewest: int = 1,
        take: Callable[[pd.Series], float] = pd.Series.median,
    ) -> pd.DataFrame:
        """The median of a measure by level (rows) and method, at levels that all methods have.

        Raises `CannotError` where a method has none, or ``fewest`` levels are not there.
        """
        known = self.of(*methods).dropna(subset=[measure])
        self.refuse_lacking(methods, known, measure)
        values = known.groupby(["level", "method"], observed=True)[measure].agg(take)
        table = values.unstack().reindex(columns=list(methods)).dropna()
        table = table[[within(level) for level in table.index]]
        if len(table) < fewest:
            raise CannotError(
                f"No level of {self.experiment} has results of all methods of this claim."
            )
        return table

    def refuse_lacking(self, methods: Sequence[str], known: pd.DataFrame, measure: str) -> None:
        """Refuse to decide where there is nothing of some methods."""
        there = set(known["method"])
        what = "serially timed runs" if measure == "seconds" else "results"
        if lacking := ", ".join(label(method) for method in methods if method not in there):
            raise CannotError(f"No {what} of {lacking} in {self.experiment} are in.")

    def zeros(self, methods: Sequence[str], measure: str) -> pd.DataFrame:
        """By method: in how many runs a measure is exactly ``zero``, and how many ``have`` it."""
        known = self.of(*methods).dropna(subset=[measure])
        self.refuse_lacking(methods, known, measure)
        is_zero = known.assign(zero=known[measure] == 0).groupby("method", observed=True)["zero"]
        return is_zero.agg(zero="sum", have="size").reindex(list(methods))

    def verdict(
        self, holds: bool, said: str, methods: Sequence[str], held: pd.Series | None = None
    ) -> Verdict:
        """Agree or differ, with a word about runs that were cut or failed.

        A rule that ``held`` at more than half of the levels, but not at all, is nearly right: a
        near miss is no contradiction.
        """
        rows = self.of(*methods)
        if cut := int(rows["cut"].sum()):
            said += f" {cut} of these {len(rows)} runs were ended by the time limit."
        if failed := int(rows["failed"].sum()):
            said += f" {failed} of these {len(rows)} runs failed and are left out."
        levels = (
            ()
            if held is None
            else tuple((float(at), bool(satisfied)) for at, satisfied in held.items())
        )
        near = most(satisfied for _, satisfied in levels)
        return Verdict(AGREE if holds else NEARLY if near else DIFFER, said, levels)

    def by_level(
        self,
        held: pd.Series,
        said: str,
        methods: Sequence[str],
        enough: Callable[[Iterable[bool]], bool] = all,
    ) -> Verdict:
        """The verdict of a rule that ``held`` at some levels, with a word about where."""
        failing = ", ".join(f"{at:g}" for at, satisfied in held.items() if not satisfied)
        but = f", not at {failing}" if failing else ""
        kind = "numbers of components" if self.experiment == "inner-dimensions" else "noise levels"
        where = f"Holds at {int(held.sum())} of {len(held)} {kind}{but}."
        return self.verdict(enough(held), f"{where} {said}", methods, held)


def ratio(above: pd.Series, below: pd.Series | pd.DataFrame) -> pd.Series | pd.DataFrame:
    """Quotients in which two zeros make 1."""
    with np.errstate(divide="ignore", invalid="ignore"):
        quotients = below.rdiv(above, axis=0)
    return quotients.fillna(1.0)


def between(ratios: pd.Series) -> str:
    """The range of some ratios in words, with the levels of its ends."""
    low, high = ratios.idxmin(), ratios.idxmax()
    return f"{ratios[low]:.4f} (at {low:g}) to {ratios[high]:.4f} (at {high:g})"


@dataclass(frozen=True, slots=True)
class Bound:
    """Our median over a statistic of the others' (min, median or max) lies in [low, high)."""

    measure: str
    statistic: str
    words: str
    low: float = 0.0
    high: float = inf


def every_level(
    runs: Runs,
    others: Sequence[str],
    bounds: Sequence[Bound],
    within: Callable[[float], bool] = noisy_levels,
) -> Verdict:
    """All bounds hold at every level that belongs to the claim."""
    held, said = [], []
    for bound in bounds:
        table = runs.table((ONMF_APX, *others), bound.measure, within)
        ratios = ratio(table[ONMF_APX], table[list(others)].agg(bound.statistic, axis=1))
        held.append((ratios >= bound.low) & (ratios < bound.high))
        said.append(f"{WORDS[bound.measure]} divided by {bound.words}: {between(ratios)}")
    together = pd.concat(held, axis=1).fillna(True).all(axis=1)
    return runs.by_level(together, f"ONMF-apx's median {'; '.join(said)}.", (ONMF_APX, *others))


def exactly_orthogonal(
    runs: Runs, always: Sequence[str], measure: str, never: Sequence[str] = ()
) -> Verdict:
    """The measure is exactly zero in every run of some methods, and in no run of others."""
    counts = runs.zeros((*always, *never), measure)
    wanted = counts["have"].where(counts.index.isin(always), 0)
    said = ", ".join(
        f"{label(method.Index)} {method.zero} of {method.have}" for method in counts.itertuples()
    )
    holds = bool((counts["zero"] == wanted).all())
    return runs.verdict(holds, f"Runs that are exactly orthogonal: {said}.", list(counts.index))


def below_most(runs: Runs, others: Sequence[str], measure: str) -> Verdict:
    """At every level our median is below that of more than half of the others."""
    table = runs.table((ONMF_APX, *others), measure, noisy_levels)
    below = table[list(others)].gt(table[ONMF_APX], axis=0).sum(axis=1)
    said = ", ".join(f"{count} of {len(others)} at {at:g}" for at, count in below.items())
    held = below > len(others) / 2
    return runs.by_level(held, f"ONMF-apx is below {said}.", (ONMF_APX, *others))


def below_planted(runs: Runs, methods: Sequence[str]) -> Verdict:
    """At every noise above 0 more than half of the methods beat the planted solution."""
    matrices = runs.rows.drop_duplicates(["level", "seed"]).dropna(subset=["planted_error"])
    planted = matrices.groupby("level")["planted_error"].median()
    table = runs.table(
        methods, "reconstruction_error", lambda at: noisy_levels(at) and at in planted.index
    )
    ratios = table.div(planted.loc[table.index], axis=0)
    said = "; ".join(f"{label(method)} {between(ratios[method])}" for method in methods)
    held = (ratios < 1).sum(axis=1) > len(methods) / 2
    return runs.by_level(held, f"Median divided by the planted solution's: {said}.", methods)


def planted_concentrates(runs: Runs) -> Verdict:
    """The planted error of every matrix is sqrt(2mn) times the noise, within what chance allows."""
    known = runs.rows[runs.rows["planted_error"].notna() & (runs.rows["noise"] > 0)]
    if known.empty:
        raise CannotError("No planted errors above noise 0 are in.")
    drawn = known.drop_duplicates(["noise", "seed"])
    factors = drawn["planted_error"] / drawn["noise"]
    cells = (drawn["n_samples"] * drawn["n_features"]).astype(float)
    # The squared error has mean 2mn and standard deviation sqrt(20mn), in squared noises.
    off = ((factors**2 - 2 * cells).abs() / np.sqrt(20 * cells)).max()
    said = (
        f"{len(factors)} matrices: {factors.min():.1f} to {factors.max():.1f} times the noise "
        f"(expected {sqrt(2 * cells.iloc[0]):.1f}), at most {off:.1f} standard deviations off."
    )
    return decide(bool(off <= DEVIATIONS), said)


def much_faster(runs: Runs, others: Sequence[str]) -> Verdict:
    """Our median running time is below every other's by the factor, at every level."""
    table = runs.table((ONMF_APX, *others), "seconds")
    factors = table[list(others)].div(table[ONMF_APX], axis=0)
    (low_at, low), (high_at, high) = factors.stack().idxmin(), factors.stack().idxmax()
    said = (
        f"Smallest factor {factors.at[low_at, low]:.3g} ({label(low)} at {low_at:g}), "
        f"largest {factors.at[high_at, high]:.3g} ({label(high)} at {high_at:g})."
    )
    held = (factors >= MUCH_FASTER).all(axis=1)
    return runs.by_level(held, said, (ONMF_APX, *others))


def large_error_without_noise(runs: Runs, method: str) -> Verdict:
    """The median error of a method on matrices without noise is large."""
    rows = runs.of(method)
    errors = rows.loc[rows["level"] == 0, "relative_squared_error"].dropna()
    if errors.empty:
        raise CannotError(f"No results of {label(method)} at noise 0 are in.")
    said = (
        f"Relative squared error at noise 0 over {len(errors)} runs: median "
        f"{errors.median():.3g}, from {errors.min():.3g} to {errors.max():.3g}."
    )
    return runs.verdict(bool(errors.median() > LARGE_ERROR), said, (method,))


def wide_spread(runs: Runs, method: str, others: Sequence[str]) -> Verdict:
    """At most levels the errors of a method range more widely over the seeds than the others'."""

    def width(errors: pd.Series) -> float:
        return float(np.ptp(errors)) if len(errors) > 1 else np.nan

    table = runs.table((method, *others), "reconstruction_error", take=width)
    factors = ratio(table[method], table[list(others)].median(axis=1))
    said = (
        f"The range of {label(method)} over the middle range of the others: "
        f"{factors.min():.3g} to {factors.max():.3g}."
    )
    return runs.by_level(factors >= HIGH_SPREAD, said, (method, *others), most)


def onmfs_does_not_finish(runs: Runs) -> Verdict:
    """ONMFS is ended by the time limit."""
    rows = runs.of("onmfs")
    if rows.empty:
        raise CannotError(
            "ONMFS is not run in experiment 1. The exhaustive search of its publication cannot be "
            "run there at all, and the ONMFS here draws a fixed number of samples, so its time "
            "says nothing about that search."
        )
    said = f"{rows['cut'].sum()} of {len(rows)} runs were ended by the time limit."
    return decide(bool(rows["cut"].all()), said)


def _changes(
    runs: Runs, methods: Sequence[str], change: Callable[[pd.DataFrame], pd.Series]
) -> pd.DataFrame:
    """How both errors (columns) of every method (rows) change with the level."""
    return pd.DataFrame(
        {measure: change(runs.table(methods, measure, fewest=2)) for measure in ERRORS}
    )


def _percent(changes: pd.DataFrame) -> str:
    return ", ".join(f"{label(name)} {a:.1%} and {b:.1%}" for name, a, b in changes.itertuples())


def trend(runs: Runs, methods: Sequence[str]) -> Verdict:
    """For most methods recovery grows and reconstruction falls from the first level to the last."""
    changes = _changes(runs, methods, lambda table: table.iloc[-1] - table.iloc[0])
    grows, falls = changes[ERRORS[0]] > 0, changes[ERRORS[1]] <= 0

    def count(which: pd.Series) -> str:
        names = ", ".join(label(method) for method in which.index[which]) or "none"
        return f"{which.sum()} of {len(methods)} ({names})"

    said = (
        f"Recovery error grows for {count(grows)}; reconstruction error falls for {count(falls)}; "
        f"both for {count(grows & falls)}."
    )
    return runs.verdict(most(grows & falls), said, methods)


def little_change(runs: Runs, methods: Sequence[str]) -> Verdict:
    """For most methods both errors change little between the first and the last level."""
    changes = _changes(runs, methods, lambda table: (table.iloc[-1] / table.iloc[0] - 1).abs())
    said = f"Change of the recovery and the reconstruction error with k: {_percent(changes)}."
    return runs.verdict(most((changes <= SLIGHT).all(axis=1)), said, methods)


def changes_least(runs: Runs, others: Sequence[str]) -> Verdict:
    """Our medians range least over the levels, relative to their smallest."""
    methods = (ONMF_APX, *others)
    changes = _changes(runs, methods, lambda table: table.max() / table.min() - 1)
    named = (f"the {WORDS[measure]} of {label(changes[measure].idxmin())}" for measure in ERRORS)
    holds = bool((changes.loc[list(others)] > changes.loc[ONMF_APX]).all(axis=None))
    said = (
        f"Least change: {' and '.join(named)}. Range over smallest, of both errors: "
        f"{_percent(changes)}."
    )
    return runs.verdict(holds, said, methods)


def more_iterations_with_less_noise(runs: Runs) -> Verdict:
    """Ding's method takes more iterations at the smallest noise than at the largest."""
    rows = runs.of(DING)
    medians = rows[rows["level"] > 0].groupby("level")["iterations"].median().dropna()
    if len(medians) < 2:
        raise CannotError(f"Two noise levels above 0 with results of {label(DING)} are needed.")
    first = rows[rows["level"] == medians.index[0]]
    limited = int(first["stop_reason"].isin(["time_limit", "max_iter"]).sum())
    each = ", ".join(f"{count:.0f} at noise {at:g}" for at, count in medians.items())
    said = (
        f"Median iterations: {each}. At noise {medians.index[0]:g} a limit ended {limited} of "
        f"{len(first)} runs."
    )
    holds = bool(medians.iloc[0] > medians.iloc[-1])
    if limited and not holds:
        raise CannotError(said)
    return decide(holds, said)


def noisy_helps_without_noise(runs: Runs) -> Verdict:
    """Added noise lowers the recovery error of Ding's method on matrices without noise."""
    table = runs.table((DING, NOISY), "recovery_error", lambda at: at == 0)
    plain, noisy = table.iloc[0]
    said = f"Median recovery error at noise 0: {plain:.4g} without and {noisy:.4g} with it."
    return runs.verdict(bool(noisy < plain), said, (DING, NOISY))


def noisy_inflates(runs: Runs) -> Verdict:
    """Added noise raises the recovery error of Ding's method at most levels above 0."""
    table = runs.table((DING, NOISY), "recovery_error", noisy_levels)
    factors = ratio(table[NOISY], table[DING])
    each = ", ".join(f"{factor:.3f} at {at:g}" for at, factor in factors.items())
    return runs.by_level(factors > 1, f"Factors: {each}.", (DING, NOISY), most)


def real_errors(
    runs: Runs, name: str, side: str, method: str, measure: str = "relative_squared_error"
) -> pd.Series:
    """The errors of a method on one side of a real set."""
    rows = runs.of(method)
    return rows.loc[(rows["dataset"] == name) & (rows["orthogonal"] == side), measure].dropna()


def fits(published: float, errors: pd.Series) -> bool:
    """Whether a published value lies within the range of some errors, to its digits."""
    return bool(round(errors.min(), DIGITS) <= published <= round(errors.max(), DIGITS))


def in_range(runs: Runs, name: str) -> Verdict:
    """The published value lies within the range of the single starts on one of the sides."""
    errors = {side: real_errors(runs, name, side, ONMF_APX) for side in SIDES}
    known = {side: values for side, values in errors.items() if len(values)}
    if not known:
        reasons = runs.missing.loc[runs.missing["dataset"] == name, "stop_reason"].unique()
        said = "; ".join(sorted(reasons)) or "no results are in"
        raise CannotError(f"{said[0].upper()}{said[1:]}.")
    said = "; ".join(
        f"over {side}: {values.min():.4f} to {values.max():.4f}, median {values.median():.4f}, "
        f"{len(values)} starts{_best(runs, name, side)}"
        for side, values in known.items()
    )
    fitting = [side for side, values in known.items() if fits(PUBLISHED[name].published, values)]
    if not fitting and len(known) < len(SIDES):
        raise CannotError(f"Only one side is in: {said}.")
    where = f"Within the range over {' and over '.join(fitting)}" if fitting else "In no range"
    return decide(bool(fitting), f"{where}; {said}.")


def _best(runs: Runs, name: str, side: str) -> str:
    errors = real_errors(runs, name, side, BEST)
    return f" (best: {errors.median():.4f})" if len(errors) else ""


def against_asteris(
    runs: Runs, names: Sequence[str], below: float, all_needed: bool = False
) -> Verdict:
    """On one side, the same for all sets measured, median over earlier value is at most a ratio."""
    ratios = {
        side: {
            name: errors.median() / PUBLISHED[name].asteris
            for name in names
            if len(errors := real_errors(runs, name, side, ONMF_APX))
        }
        for side in SIDES
    }
    there = {name for by_name in ratios.values() for name in by_name}
    if not there or (all_needed and any(len(ratios[side]) < len(names) for side in SIDES)):
        raise CannotError("Results of these sets on both sides are needed.")
    good = [
        side
        for side, by_name in ratios.items()
        if by_name and all(ratio <= below for ratio in by_name.values())
    ]
    said = "; ".join(
        f"over {side} "
        + ", ".join(f"{PUBLISHED[name].label} {ratio:.3f}" for name, ratio in by_name.items())
        for side, by_name in ratios.items()
    )
    missing = ", ".join(PUBLISHED[name].label for name in names if name not in there)
    without = f" Not measured: {missing}." if missing else ""
    where = f"Holds over {' and over '.join(good)}" if good else "Holds on neither side"
    return decide(bool(good), f"{where}. Median over the value of Asteris et al.: {said}.{without}")
