"""Stability: what refits say about the groups of a fit, as numbers, tables and sentences."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np

from orthonmf.engine.loadings import one_per_row
from orthonmf.errors import InvalidInputError
from orthonmf.typing import Array
from orthonmf.vectors import divide

if TYPE_CHECKING:
    from orthonmf.factorization import Factorization

# What gets random weights in a refit: the coordinates of the points, which are on the other side,
# samples and features, or nothing; then other seeds alone.
RESAMPLES = ("coordinates", "both", None)
# What certainty a point needs to count as kept, unless another is asked for.
THRESHOLD = 0.8
# Jaccard indices from which on a group counts as found again, and below which it counts as gone.
STABLE, DISSOLVED = 0.75, 0.5
# Shares of two groups' points in each other's place that make them a pair.
EXCHANGES = 0.3
# Shares below this are left out of sentences.
WORTH_TELLING = 0.1
MOST_LINES = 8


@dataclass(frozen=True, eq=False)
class Membership:
    """What refits say about the points of one side: rows over samples, columns over features.

    Attributes
    ----------
    labels
        (N,) the groups of the fit; -1 for points without one or without weight, which are left
        out of every mean.
    counts
        (N, k) in how many refits every point was in each group, by the names of the fit.
    n_refits
        How many refits there were.
    jaccard
        (k,) the mean over refits of the Jaccard index of a group with its nearest group there.
    energy_certainty
        (k,) the mean certainty of the points of a group, each weighted by its captured energy.
    agreement
        The mean adjusted Rand index of consecutive refits, 0 for what chance alone gives.
    """

    labels: Array
    counts: Array
    n_refits: int
    jaccard: Array
    energy_certainty: Array
    agreement: float

    @cached_property
    def certainty(self) -> Array:
        """(N,) the share of refits in which a point is in its group; 0 for label -1."""
        own = self.counts[np.arange(len(self.labels)), np.maximum(self.labels, 0)]
        return np.where(self.labels >= 0, own, 0) / self.n_refits

    @property
    def second(self) -> Array:
        """(N,) the other group that a point is in most often; -1 where it is in no other."""
        others = self._others()
        return np.where(others.any(axis=1), others.argmax(axis=1), -1).astype(np.int32)

    @property
    def second_share(self) -> Array:
        """(N,) the share of refits in which it is there."""
        return np.asarray(self._others().max(axis=1) / self.n_refits)

    def _others(self) -> Array:
        """The counts (N, k + 1) of other groups than one's own; the last is an empty one."""
        others = np.pad(self.counts, ((0, 0), (0, 1)))
        inside = np.flatnonzero(self.labels >= 0)
        others[inside, self.labels[inside]] = 0
        return others

    def kept(self, threshold: float = THRESHOLD) -> Array:
        """(N,) the labels of points with at least this certainty, -1 for all others."""
        return np.where(self.certainty >= threshold, self.labels, -1)

    def kept_share(self, threshold: float = THRESHOLD) -> float:
        """The share of all points with a group that are kept."""
        return float(np.mean(self.kept(threshold)[self.labels >= 0] >= 0))

    @cached_property
    def exchange(self) -> Array:
        """(k, k) the mean share of refits in which points of group g are in group h."""
        members = one_per_row(self.labels, np.ones(len(self.labels)), len(self.jaccard))
        sizes = np.asarray(members.sum(axis=0)).ravel()
        return divide(members.T @ self.counts, self.n_refits * sizes[:, None])

    @property
    def groups(self) -> Any:
        """A DataFrame with a row for every group.

        ``size``, mean ``certainty``, ``energy_certainty``, ``jaccard``, the share of its points
        that are ``kept`` at 0.8, ``state`` ("stable", "unsure" or "dissolved", by the Jaccard
        index), and the groups that it ``exchanges_with``: whose points and its own are in each
        other's place in at least 0.3 of the refits, both directions added.
        """
        import pandas  # takes half a second

        k = len(self.jaccard)
        sizes = np.bincount(self.labels[self.labels >= 0], minlength=k)
        kept = self.kept()
        kept_sizes = np.bincount(kept[kept >= 0], minlength=k)
        moved = self.exchange
        both_ways = moved + moved.T
        np.fill_diagonal(both_ways, 0)
        return pandas.DataFrame(
            {
                "size": sizes,
                "certainty": np.diag(moved),
                "energy_certainty": self.energy_certainty,
                "jaccard": self.jaccard,
                "kept": kept_sizes / np.maximum(sizes, 1),
                "state": [state_of(index) for index in self.jaccard],
                "exchanges_with": [tuple(np.flatnonzero(g >= EXCHANGES)) for g in both_ways],
            },
            index=pandas.RangeIndex(k, name="group"),
        )


def state_of(jaccard: float) -> str:
    """What a Jaccard index says about a group, after Hennig's habit for bootstrapped clusters."""
    if jaccard >= STABLE:
        return "stable"
    return "unsure" if jaccard >= DISSOLVED else "dissolved"


@dataclass(frozen=True, slots=True, eq=False)
class Stability:
    """What refits say about the groups of a fit, as ``Factorization.refit`` makes it.

    All shares are shares of refits, and say nothing of how likely a group is.

    Attributes
    ----------
    samples, features
        The :class:`~orthonmf.stability.record.Membership` of the rows and of the columns; None
        for a side that the fit does not group. Each has what follows for itself.
    n_refits, resample, random_state
        How many refits, of what, from which seed.

    Examples
    --------
    >>> import numpy as np
    >>> import orthonmf
    >>> X = np.kron(np.eye(3), np.ones((20, 6))) + np.random.default_rng(0).random((60, 18)) / 10
    >>> stability = orthonmf.factorize(X, 3, random_state=0).refit(X, random_state=0)
    >>> print(stability.summary())
    100% of the rows keep their group in at least 16 of 20 refits.
    >>> float(stability.certainty.min()), stability.agreement
    (1.0, 1.0)
    """

    samples: Membership | None
    features: Membership | None
    n_refits: int
    resample: str | None
    random_state: int

    @property
    def _main(self) -> Membership:
        side = self.samples or self.features
        assert side is not None
        return side

    @property
    def certainty(self) -> Array | None:
        """(n,) the share of refits in which a row is in its group; None over features."""
        return None if self.samples is None else self.samples.certainty

    @property
    def feature_certainty(self) -> Array | None:
        """(m,) the same of the columns; None over samples."""
        return None if self.features is None else self.features.certainty

    @property
    def second(self) -> Array:
        """The other group that a row (over features: a column) is in most often, -1 for none."""
        return self._main.second

    @property
    def second_share(self) -> Array:
        """The share of refits in which it is there."""
        return self._main.second_share

    def kept(self, threshold: float = THRESHOLD) -> Array:
        """The labels of rows (over features: columns) with at least this certainty, else -1."""
        return self._main.kept(threshold)

    @property
    def agreement(self) -> float:
        """The mean adjusted Rand index of consecutive refits; over both that of the worse side."""
        sides = [side.agreement for side in (self.samples, self.features) if side is not None]
        return min(sides)

    @property
    def exchange(self) -> Array:
        """(k, k) the mean share of refits in which rows (columns) of group g are in group h."""
        return self._main.exchange

    @property
    def groups(self) -> Any:
        """A DataFrame with a row for every group of rows (over features: of columns)."""
        return self._main.groups

    def is_of(self, result: Factorization) -> bool:
        """Whether the labels are those of a result, but for points without weight."""
        rows = None if result.scales is None else result.labels
        return has_labels(self.samples, rows) and has_labels(self.features, result.feature_labels)

    def summary(self, threshold: float = THRESHOLD) -> str:
        """One sentence for every side: how many of its points keep their group."""
        least = next(
            count
            for count in range(self.n_refits + 2)
            if count > self.n_refits or count / self.n_refits >= threshold
        )
        return " ".join(
            f"{percent(side.kept_share(threshold)).capitalize()} of the {points} keep their group "
            f"in at least {least} of {self.n_refits} refits."
            for points, side in self._sides()
        )

    def findings(self) -> list[str]:
        """A sentence for every group that is not found again as it is: where its points go."""
        return [
            tell_group(side, group, points)
            for points, side in self._sides()
            for group in range(len(side.jaccard))
            if side.jaccard[group] < STABLE
        ]

    def _sides(self) -> list[tuple[str, Membership]]:
        named = (("rows", self.samples), ("features", self.features))
        return [(points, side) for points, side in named if side is not None]

    def plot(self, of: str | None = None) -> Any:
        """A matplotlib Figure: where points go, and a dot of certainty for each.

        ``of`` is "samples" or "features"; by default samples, unless only features have groups.
        """
        from orthonmf.stability.picture import draw

        named = {"samples": self.samples, "features": self.features}
        sides = {name: side for name, side in named.items() if side is not None}
        if of is not None and of not in sides:
            raise InvalidInputError(f"of must be one of {', '.join(sides)}; got {of!r}")
        return draw(self._main if of is None else sides[of])

    def __repr__(self) -> str:
        lines = [f"Stability({self.n_refits} refits, agreement={self.agreement:.2f})"]
        told = [self.summary(), *self.findings()]
        lines += [f"  {sentence}" for sentence in told[:MOST_LINES]]
        more = len(told) - MOST_LINES
        return "\n".join([*lines, f"  and {more} more"] if more > 0 else lines)

    def _repr_html_(self) -> str:
        head = f"<p>{escape(self.summary())} Agreement of refits {self.agreement:.2f}.</p>"
        look = {"border": 0, "float_format": "{:.2f}".format}
        return head + "".join(side.groups.to_html(**look) for _, side in self._sides())


def has_labels(side: Membership | None, labels: Array | None) -> bool:
    """Whether the points of a side that have a say have these labels; no side has none."""
    if side is None or labels is None:
        return side is None and labels is None
    same = len(side.labels) == len(labels)
    return same and bool(np.all((side.labels == labels) | (side.labels < 0)))


def percent(share: float) -> str:
    """A share in whole per cent; 0% and 100% are said of none and of all alone."""
    whole = round(100 * share)
    if share > 0 and whole == 0:
        return "under 1%"
    return "over 99%" if share < 1 - 1e-12 and whole == 100 else f"{whole}%"


def tell_group(side: Membership, group: int, points: str) -> str:
    """Where the points of a group go, in one sentence."""
    exchange = side.exchange
    moved, come = exchange[group], exchange[:, group]
    size = int(np.count_nonzero(side.labels == group))
    state = "is unsure" if side.jaccard[group] >= DISSOLVED else "dissolves"
    told = [f"on average a {points[:-1]} of it stays in {percent(moved[group])} of the refits"]
    others = [h for h in np.argsort(-moved, kind="stable") if h != group]
    told += [f"is in group {h} in {percent(moved[h])}" for h in others if moved[h] >= WORTH_TELLING]
    nowhere = 1.0 - float(moved.sum())
    if nowhere >= WORTH_TELLING:
        told.append(f"is in none of these groups in {percent(nowhere)}")
    told += [
        f"one of group {h} comes to it in {percent(come[h])}"
        for h in others
        if come[h] >= WORTH_TELLING
    ]
    return f"Group {group} ({size:,} {points}) {state}: {', '.join(told)}."
