"""Selection: the trials summed up, a suggestion with its reason, a table and a plot."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from html import escape
from typing import Any

import numpy as np

from orthonmf.extras import import_extra
from orthonmf.selection.trial import Size, Trial

# Halves that agree this closely to the best are taken to agree as well.
LEEWAY = 0.05
MOST_LINES = 8
EXACT = 1e-12  # relative squared error of an answer that leaves nothing
SHOWN = ("relative_squared_error", "lower_bound", "null_error", "stability")


@dataclass(frozen=True, slots=True)
class Candidate:
    """One number of components, or pair of numbers of groups, over all repetitions.

    ``gain`` and ``null_gain`` are the share of the error that went since the candidate before
    (the first one: since no components at all), in the data and in permuted data. Before a pair
    are those with no more groups on either side: the best of them.
    """

    n_components: Size
    n_components_found: int
    relative_squared_error: float
    lower_bound: float | None
    null_error: float
    gain: float
    null_gain: float
    matched_cosine: float
    adjusted_rand: float
    stability: float
    stability_error: float

    @property
    def gains(self) -> bool:
        """Whether the error fell faster than chance explains."""
        return self.gain > self.null_gain


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
    >>> [one.n_components for one in selection.candidates]
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
    def table(self) -> Any:
        """The candidates as a pandas DataFrame indexed by ``n_components``."""
        pandas = import_extra("pandas", "report")
        names = [name for name in Candidate.__slots__ if name != "n_components"]
        rows = [[getattr(one, name) for name in names] for one in self.candidates]
        tried = [one.n_components for one in self.candidates]
        index = pandas.Index(tried, name="n_components", tupleize_cols=False)
        table = pandas.DataFrame(rows, columns=names, index=index)
        table["lower_bound"] = table["lower_bound"].astype(float)
        table["suggested"] = [one == self.suggestion for one in tried]
        return table

    def plot(self) -> Any:
        """A matplotlib Figure: errors and what is proven about them, and agreement of halves."""
        figure = import_extra("matplotlib.figure", "report").Figure((9, 3.6), layout="constrained")
        errors, stability = figure.subplots(1, 2)
        if isinstance(self.suggestion, tuple):
            self._plot_grid(figure, errors, "relative_squared_error", "relative squared error")
            self._plot_grid(figure, stability, "stability", "agreement of two halves")
            return figure
        k = [one.n_components for one in self.candidates]
        self._line(errors, k, "relative_squared_error", "error", "o-", "C0")
        self._line(errors, k, "lower_bound", "no error can be below", "v:", "C0")
        self._line(errors, k, "null_error", "permuted columns", "s--", "0.6")
        errors.set(xlabel="components", ylabel="relative squared error", ylim=(0, None))
        self._line(stability, k, "adjusted_rand", "labels (adjusted Rand index)", "o-", "C1")
        self._line(stability, k, "matched_cosine", "components (matched cosine)", "^-", "C2")
        stability.set(xlabel="components", ylabel="agreement of two halves", ylim=(None, 1.02))
        for axes in (errors, stability):
            axes.axvline(self.suggestion, color="C3", lw=1, label=f"suggested: {self.suggestion}")
            axes.legend(fontsize="small")
        return figure

    def _plot_grid(self, figure: Any, axes: Any, name: str, label: str) -> None:
        """One value for every pair, as colors; the suggestion is marked."""
        found: dict[Any, float] = {one.n_components: getattr(one, name) for one in self.candidates}
        rows, columns = (sorted({pair[side] for pair in found}) for side in (0, 1))
        values = np.array([[found.get((k, groups), np.nan) for groups in columns] for k in rows])
        drawn = axes.imshow(values, origin="lower", aspect="auto", cmap="viridis")
        axes.set_xticks(range(len(columns)), columns)
        axes.set_yticks(range(len(rows)), rows)
        chosen: Any = self.suggestion
        if chosen in found:
            place = columns.index(chosen[1]), rows.index(chosen[0])
            axes.plot(*place, "s", mfc="none", mec="C3", ms=14)
        axes.set(xlabel="groups of features", ylabel="groups of samples", title=label)
        figure.colorbar(drawn, ax=axes)

    def _line(self, axes: Any, k: list[Any], name: str, label: str, style: str, color: str) -> None:
        values = [getattr(one, name) for one in self.candidates]
        heights = [np.nan if value is None else value for value in values]
        axes.plot(k, heights, style, color=color, label=label, ms=4)

    def to_frame(self) -> Any:
        """The same as ``table``."""
        return self.table

    def _repr_html_(self) -> str:
        reason = f"<p>suggested: {self.suggestion}: {escape(self.reason)}</p>"
        look = {"border": 0, "float_format": "{:.4g}".format, "na_rep": ""}
        return reason + self.table[list(SHOWN)].to_html(**look)

    def __repr__(self) -> str:
        lines = [f"Selection(suggestion={self.suggestion}: {self.reason})"]
        for one in self.candidates[:MOST_LINES]:
            mark = "  <- suggested" if one.n_components == self.suggestion else ""
            lines.append(
                f"  {one.n_components}: error {one.relative_squared_error:.4g}, "
                f"stability {one.stability:.2f}{mark}"
            )
        more = len(self.candidates) - MOST_LINES
        return "\n".join([*lines, f"  and {more} more"] if more > 0 else lines)


def sum_up(trials: Iterable[Trial]) -> tuple[Candidate, ...]:
    """One record per number of components: the smallest error, means of the rest.

    An answer with fewer groups on either side is one of a pair too: it counts there.
    """
    by_k: dict[Size, list[Trial]] = {}
    for trial in sorted(trials, key=lambda one: one.place.order()):
        by_k.setdefault(trial.n_components, []).append(trial)
    candidates: list[Candidate] = []
    for k, group in by_k.items():
        before = _before(candidates, k)
        error_before = min((one.relative_squared_error for one in before), default=1.0)
        null_before = min((one.null_error for one in before), default=1.0)
        error = min(one.relative_squared_error for one in group)
        null = float(np.mean([one.null_error for one in group]))
        if isinstance(k, tuple):
            error, null = min(error, error_before), min(null, null_before)
        bounds = [one.lower_bound for one in group if one.lower_bound is not None]
        stabilities = [(one.matched_cosine + one.adjusted_rand) / 2 for one in group]
        candidates.append(
            Candidate(
                n_components=k,
                n_components_found=max(one.n_components_found for one in group),
                relative_squared_error=error,
                lower_bound=max(bounds, default=None),
                null_error=null,
                gain=_share(error_before - error, error_before),
                null_gain=_share(null_before - null, null_before),
                matched_cosine=float(np.mean([one.matched_cosine for one in group])),
                adjusted_rand=float(np.mean([one.adjusted_rand for one in group])),
                stability=float(np.mean(stabilities)),
                stability_error=_standard_error(stabilities),
            )
        )
    return tuple(candidates)


def _before(candidates: list[Candidate], size: Size) -> list[Candidate]:
    """The candidate before a number; those with no more groups on either side before a pair."""
    if not isinstance(size, tuple):
        return candidates[-1:]

    def within(pair: Any) -> bool:
        return pair[0] <= size[0] and pair[1] <= size[1]

    return [one for one in candidates if within(one.n_components)]


def _share(part: float, whole: float) -> float:
    return part / whole if whole > 0 else 0.0


def _standard_error(values: list[float]) -> float:
    return float(np.std(values, ddof=1) / np.sqrt(len(values))) if len(values) > 1 else 0.0


def _is_last(chosen: Size, candidates: tuple[Candidate, ...]) -> bool:
    """Whether no larger number was tried, or no larger one on a side of a pair."""
    tried = [_sides(one.n_components) for one in candidates]
    largest = [max(sides) for sides in zip(*tried, strict=True)]
    return any(size == most for size, most in zip(_sides(chosen), largest, strict=True))


def _sides(size: Size) -> tuple[int, ...]:
    return size if isinstance(size, tuple) else (size,)


def suggest(candidates: tuple[Candidate, ...]) -> tuple[Size, str]:
    """The largest number whose halves agree as well as any while the error still gains.

    Too few components are stable as well, so the largest of the stable ones is taken; too many
    split parts by chance, so that halves disagree and the error falls no faster than in data
    whose columns were permuted.
    """
    errors = [one.relative_squared_error for one in candidates]
    if max(errors) < EXACT and all(one.n_components_found == 1 for one in candidates):
        only = (1, 1) if isinstance(candidates[0].n_components, tuple) else 1
        return only, "a single component explains all of X: there is nothing to choose between"
    gaining = [one for one in candidates if one.gains]
    if not gaining:
        best = max(candidates, key=lambda one: one.stability)
        return best.n_components, (
            "the error never falls faster than in permuted data, so there may be no parts at "
            f"all; two halves agree best here (stability {best.stability:.2f})"
        )
    best = max(gaining, key=lambda one: one.stability)
    enough = best.stability - max(LEEWAY, best.stability_error)
    chosen = [one for one in gaining if one.stability >= enough][-1]
    more = ""
    if _is_last(chosen.n_components, candidates):
        more = "; it is the end of the range that was tried: try more"
    return chosen.n_components, (
        f"the largest number whose two halves agree as well as any (adjusted Rand index "
        f"{chosen.adjusted_rand:.2f}, matched cosine {chosen.matched_cosine:.2f}) while the "
        f"error still falls faster than in permuted data (by {chosen.gain:.0%} of itself "
        f"against {chosen.null_gain:.0%}){more}"
    )
