"""Selection: the trials summed up, a suggestion with its reason, a table and a plot."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass, fields
from html import escape
from itertools import groupby
from operator import attrgetter, le
from typing import Any

import numpy as np
import pandas as pd

from orthonmf.extras import import_extra
from orthonmf.selection.trial import Size, Trial, sides_of, size_of

# Halves that agree this closely to the best are taken to agree as well.
LEEWAY = 0.05
MOST_LINES = 8
END_OF_RANGE = "; it is the end of the range that was tried: try more"
EXACT = 1e-12  # relative error of an answer that leaves nothing
SHOWN = ("relative_error", "lower_bound", "null_error", "stability")
OPTIONAL = ("lower_bound", "refit_agreement", "held_out_error")
# The curves of two charts: of which figures, and what they are called.
ERRORS = {
    "relative_error": "error",
    "lower_bound": "no error can be below",
    "null_error": "permuted data",
    "held_out_error": "held-out counts",
}
AGREEMENTS = {
    "adjusted_rand": "labels (adjusted Rand index)",
    "matched_cosine": "components (matched cosine)",
    "refit_agreement": "refits (adjusted Rand index)",
}
LOOKS = ("o-", "v:", "s--", "D-")


@dataclass(frozen=True, slots=True)
class Candidate:
    """One number of components, or pair of numbers of groups, over all repetitions.

    ``gain`` and ``null_gain`` are the share of the error that went since the candidate before
    (the first one: since no components at all), in the data and in permuted data. Before a pair
    are those with no more groups on either side: the best of them. Errors are squared errors over
    the squared norm of X; under the Kullback-Leibler divergence they are shares of the information
    lost, and ``held_out_error`` is that of counts which played no part in the fit.
    """

    n_components: Size
    n_components_found: int
    relative_error: float
    lower_bound: float | None
    null_error: float
    gain: float
    null_gain: float
    matched_cosine: float
    adjusted_rand: float
    stability: float
    stability_error: float
    refit_agreement: float | None = None
    held_out_error: float | None = None


@dataclass(frozen=True, slots=True)
class Selection:
    """What :func:`orthonmf.select_n_components` found.

    Attributes
    ----------
    suggestion, reason
        A number of components, or a pair of numbers of groups, and why that one.
    candidates
        One record per number of components, ascending.
    trials
        All repetitions.
    random_state
        The seed that gives the same again.

    Examples
    --------
    >>> import orthonmf
    >>> X = orthonmf.datasets.make_planted(60, 20, 3, noise=0.1, random_state=0).X
    >>> selection = orthonmf.select_n_components(X, (2, 3), n_repetitions=1, random_state=0)
    >>> [candidate.n_components for candidate in selection.candidates]
    [2, 3]
    >>> selection.suggestion, selection.reason  # doctest: +ELLIPSIS
    (3, '...')
    """

    suggestion: Size
    reason: str
    candidates: tuple[Candidate, ...]
    trials: tuple[Trial, ...]
    random_state: int | None = None

    @property
    def table(self) -> pd.DataFrame:
        """The candidates as a DataFrame indexed by ``n_components``."""
        tried = [candidate.n_components for candidate in self.candidates]
        index = pd.Index(tried, name="n_components", tupleize_cols=False)
        columns = [field.name for field in fields(Candidate) if field.name != "n_components"]
        table = pd.DataFrame(map(asdict, self.candidates), index=index)[columns]
        table = table.astype(dict.fromkeys(OPTIONAL, float))
        table["suggested"] = [size == self.suggestion for size in tried]
        return table

    def plot(self) -> Any:
        """A matplotlib Figure: errors and what is proven about them, and agreement of halves."""
        figure = import_extra("matplotlib.figure", "report").Figure((9, 3.6), layout="constrained")
        errors, stability = figure.subplots(1, 2)
        table = self.table
        if isinstance(self.suggestion, tuple):
            _draw_grid(errors, table["relative_error"], self.suggestion)
            _draw_grid(stability, table["stability"], self.suggestion)
            errors.set_title("relative error")
            stability.set_title("agreement of two halves")
            return figure
        for axes, curves in ((errors, ERRORS), (stability, AGREEMENTS)):
            for (name, label), look in zip(curves.items(), LOOKS, strict=False):
                if not table[name].isna().all():
                    axes.plot(table.index, table[name], look, label=label, ms=4)
            axes.axvline(self.suggestion, color="0.5", lw=1, label=f"suggested: {self.suggestion}")
            axes.legend(fontsize="small")
        errors.set(xlabel="components", ylabel="relative error", ylim=(0, None))
        stability.set(xlabel="components", ylabel="agreement of two halves", ylim=(None, 1.02))
        return figure

    def _repr_html_(self) -> str:
        reason = f"<p>suggested: {self.suggestion}: {escape(self.reason)}</p>"
        look = {"border": 0, "float_format": "{:.4g}".format, "na_rep": ""}
        held_out = ["held_out_error"] if self._held_out else []
        return reason + self.table[[*SHOWN, *held_out]].to_html(**look)

    @property
    def _held_out(self) -> bool:
        return self.candidates[0].held_out_error is not None

    def __repr__(self) -> str:
        lines = [f"Selection(suggestion={self.suggestion}: {self.reason})"]
        for candidate in self.candidates[:MOST_LINES]:
            mark = "  <- suggested" if candidate.n_components == self.suggestion else ""
            held_out = f"held out {candidate.held_out_error:.4g}, " if self._held_out else ""
            lines.append(
                f"  {candidate.n_components}: error {candidate.relative_error:.4g}, "
                f"{held_out}stability {candidate.stability:.2f}{mark}"
            )
        more = len(self.candidates) - MOST_LINES
        return "\n".join([*lines, f"  and {more} more"] if more > 0 else lines)


def _draw_grid(axes: Any, values: pd.Series, suggestion: Any) -> None:
    """One value for every pair, as colors; the suggestion is marked."""
    grid = values.set_axis(pd.MultiIndex.from_tuples(values.index)).unstack()
    drawn = axes.imshow(grid, origin="lower", aspect="auto", cmap="viridis")
    axes.set_xticks(range(grid.shape[1]), grid.columns)
    axes.set_yticks(range(grid.shape[0]), grid.index)
    if suggestion in values.index:
        place = grid.columns.get_loc(suggestion[1]), grid.index.get_loc(suggestion[0])
        axes.plot(*place, "s", mfc="none", mec="C3", ms=14)
    axes.set(xlabel="groups of features", ylabel="groups of samples")
    axes.figure.colorbar(drawn, ax=axes)


def sum_up(trials: Iterable[Trial]) -> tuple[Candidate, ...]:
    """One record per number of components: the smallest error, means of the rest.

    An answer with fewer groups on either side is one of a pair too: it counts there.
    """
    ascending = sorted(trials, key=lambda trial: size_of(trial.n_components))
    candidates: list[Candidate] = []
    for k, same_size in groupby(ascending, key=attrgetter("n_components")):
        group = list(same_size)
        before = candidates[-1:]
        if isinstance(k, tuple):
            # Those with no more groups on either side.
            before = [c for c in candidates if all(map(le, sides_of(c.n_components), k))]
        error_before = min((smaller.relative_error for smaller in before), default=1.0)
        null_before = min((smaller.null_error for smaller in before), default=1.0)
        error = min(trial.relative_error for trial in group)
        null = float(np.mean([trial.null_error for trial in group]))
        if isinstance(k, tuple):
            error, null = min(error, error_before), min(null, null_before)
        bounds = [trial.lower_bound for trial in group if trial.lower_bound is not None]
        refits = [t.refit_agreement for t in group if t.refit_agreement is not None]
        cosines = np.array([trial.matched_cosine for trial in group])
        indices = np.array([trial.adjusted_rand for trial in group])
        held_out: list[Any] = [trial.held_out_error for trial in group]
        stabilities = (cosines + indices) / 2
        spread = stabilities.std(ddof=1) if len(group) > 1 else 0.0
        candidates.append(
            Candidate(
                n_components=k,
                n_components_found=max(trial.n_components_found for trial in group),
                relative_error=error,
                lower_bound=max(bounds, default=None),
                null_error=null,
                gain=(error_before - error) / error_before if error_before > 0 else 0.0,
                null_gain=(null_before - null) / null_before if null_before > 0 else 0.0,
                matched_cosine=float(cosines.mean()),
                adjusted_rand=float(indices.mean()),
                stability=float(stabilities.mean()),
                stability_error=float(spread / np.sqrt(len(group))),
                refit_agreement=refits[0] if refits else None,
                held_out_error=None if held_out.count(None) else float(np.mean(held_out)),
            )
        )
    return tuple(candidates)


def _is_last(chosen: Size, candidates: tuple[Candidate, ...]) -> bool:
    """Whether no larger number was tried, or no larger one on a side of a pair."""
    tried = [sides_of(candidate.n_components) for candidate in candidates]
    largest = [max(sides) for sides in zip(*tried, strict=True)]
    return any(size == most for size, most in zip(sides_of(chosen), largest, strict=True))


def suggest(candidates: tuple[Candidate, ...]) -> tuple[Size, str]:
    """The number that loses least of held-out counts, or one by the agreement of halves.

    Without held-out counts that is the largest number whose halves agree as well as any while the
    error still gains. Too few components are stable as well, so the largest of the stable ones is
    taken; too many split parts by chance, so that halves disagree and the error falls no faster
    than in data whose columns were permuted.
    """
    errors = [candidate.relative_error for candidate in candidates]
    in_use = [candidate.n_components_found for candidate in candidates]
    if max(errors) < EXACT and max(in_use) == 1:
        only = (1, 1) if isinstance(candidates[0].n_components, tuple) else 1
        return only, "a single component explains all of X: there is nothing to choose between"
    if candidates[0].held_out_error is not None:
        return _suggest_by_counts(candidates)
    # Whether the error fell faster than chance explains.
    gaining = [candidate for candidate in candidates if candidate.gain > candidate.null_gain]
    best = max(gaining or candidates, key=attrgetter("stability"))
    if not gaining:
        return best.n_components, (
            "the error never falls faster than in permuted data, so there may be no parts at "
            f"all; two halves agree best here (stability {best.stability:.2f})"
        )
    enough = best.stability - max(LEEWAY, best.stability_error)
    chosen = [candidate for candidate in gaining if candidate.stability >= enough][-1]
    more = END_OF_RANGE if _is_last(chosen.n_components, candidates) else ""
    return chosen.n_components, (
        f"the largest number whose two halves agree as well as any (adjusted Rand index "
        f"{chosen.adjusted_rand:.2f}, matched cosine {chosen.matched_cosine:.2f}) while the "
        f"error still falls faster than in permuted data (by {chosen.gain:.0%} of itself "
        f"against {chosen.null_gain:.0%}){more}"
    )


def _suggest_by_counts(candidates: tuple[Candidate, ...]) -> tuple[Size, str]:
    """The smallest number that loses least of held-out counts."""
    errors = [float(candidate.held_out_error or 0.0) for candidate in candidates]
    least = min(errors)
    chosen = candidates[errors.index(least)]
    if least >= 1:
        return chosen.n_components, (
            "no number of groups tells more about held-out counts than a single profile does, so "
            "there may be no parts at all; this one loses least"
        )
    more = END_OF_RANGE if _is_last(chosen.n_components, candidates) else ""
    return chosen.n_components, (
        f"the number that loses least of held-out counts ({least:.1%} of their "
        "information): every count goes to one of two halves at random, and groups of either are "
        f"judged by the other{more}"
    )
