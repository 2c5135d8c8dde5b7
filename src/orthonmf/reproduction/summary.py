"""Measured: the runs that count, and what they amount to over the seeds."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from math import isfinite
from statistics import median
from typing import TypeVar

from orthonmf.baselines import BASELINES
from orthonmf.errors import InvalidInputError
from orthonmf.reproduction.definition import plan
from orthonmf.reproduction.paper import OURS, experiments
from orthonmf.reproduction.rows import COLUMNS, N_KEY, Row, is_missing

K = TypeVar("K")
ONMF_APX, OF_TEN, BEST = OURS
DEFINITIONS = experiments()
EXPERIMENTS = tuple(DEFINITIONS)
SIDES = ("samples", "features")  # of a real set: which of them belong to one component each
MEASURES = tuple(name for name in COLUMNS[N_KEY:] if name not in ("stop_reason", "serial"))
SETTING = tuple(name for name in COLUMNS[:N_KEY] if name not in ("seed", "time_limit"))


@dataclass(frozen=True, slots=True)
class Spread:
    """A measure over the seeds of one setting and method."""

    median: float
    minimum: float
    maximum: float
    count: int


@dataclass(frozen=True, slots=True)
class Group:
    """All runs of one method in one setting."""

    rows: tuple[Row, ...]

    @property
    def key(self) -> tuple[object, ...]:
        """What the runs share: the setting and the method."""
        return setting_of(self.rows[0])

    @property
    def cut(self) -> int:
        """How many of the runs were ended by the time limit."""
        return sum(is_cut(row) for row in self.rows)

    @property
    def failed(self) -> int:
        """How many of the runs have no result."""
        return sum(not is_measured(row) for row in self.rows)

    def spread(self, measure: str) -> Spread | None:
        """Median, smallest and largest value; None where nothing was measured."""
        values = [v for row in self.rows if (v := value(row, measure)) is not None]
        if not values:
            return None
        return Spread(float(median(values)), min(values), max(values), len(values))


class Measured:
    """The runs of all experiments, one per setting, method and seed.

    Where a run was made under several time limits, the one with the longest counts, and of equal
    ones the last. ``skipped`` holds the rows that only say why something was not measured.
    """

    def __init__(self, rows: Iterable[Row]) -> None:
        kept: dict[tuple[object, ...], Row] = {}
        for row in rows:
            if row.experiment not in EXPERIMENTS:
                raise InvalidInputError(
                    f"no experiment is called {row.experiment!r}; there are "
                    f"{', '.join(EXPERIMENTS)}"
                )
            key = (*setting_of(row), row.seed)
            if key not in kept or row.time_limit >= kept[key].time_limit:
                kept[key] = row
        self.skipped = [row for row in kept.values() if is_missing(row)]
        self.rows = [row for row in kept.values() if not is_missing(row)]

    def experiments(self) -> list[str]:
        """The experiments with at least one run, in the paper's order."""
        present = {row.experiment for row in (*self.rows, *self.skipped)}
        return [name for name in EXPERIMENTS if name in present]

    def of(self, experiment: str, *methods: str) -> list[Row]:
        """The runs of an experiment, of these methods or of all."""
        return [
            row
            for row in self.rows
            if row.experiment == experiment and (not methods or row.method in methods)
        ]

    def methods(self, experiment: str) -> list[str]:
        """The methods of an experiment: ours first, then as the registry has them."""
        return sorted({row.method for row in self.of(experiment)}, key=_method_place)

    def groups(self, experiment: str, method: str) -> dict[float, Group]:
        """The runs of a method by level: the noise, or the number of components.

        Real data have no levels; see `error_range`.
        """
        return dict(sorted(_group(self.of(experiment, method), level).items()))

    def by_method(self, experiment: str) -> tuple[dict[str, dict[float, Group]], list[float]]:
        """The groups of every method in order, and all levels of the experiment."""
        groups = {one: self.groups(experiment, one) for one in self.methods(experiment)}
        return groups, sorted({at for one in groups.values() for at in one})

    def statistics(
        self, experiment: str, method: str, measure: str, take: Callable[[Spread], float | None]
    ) -> dict[float, float]:
        """A statistic of a measure at every level where there is one."""
        spreads = {at: one.spread(measure) for at, one in self.groups(experiment, method).items()}
        found = {at: take(spread) for at, spread in spreads.items() if spread is not None}
        return {at: one for at, one in found.items() if one is not None}

    def medians(self, experiment: str, method: str, measure: str) -> dict[float, float]:
        """The median of a measure at every level where there is one."""
        return self.statistics(experiment, method, measure, lambda spread: spread.median)

    def planted_errors(self, experiment: str) -> dict[float, float]:
        """The median over the matrices of the planted solution's error, by level."""
        found: dict[float, dict[int, float]] = {}
        for row in self.of(experiment):
            if row.planted_error is not None:
                found.setdefault(level(row), {})[row.seed] = row.planted_error
        return {at: float(median(found[at].values())) for at in sorted(found)}

    def error_range(
        self, dataset: str, side: str, method: str, measure: str = "relative_squared_error"
    ) -> Spread | None:
        """The errors of a method on one side of a real set; None without runs."""
        rows = self.of("real-data", method)
        own = (row for row in rows if row.dataset == dataset and row.orthogonal == side)
        return Group(tuple(own)).spread(measure)

    def all_groups(self) -> list[Group]:
        """Every setting and method, experiments and methods in order, levels rising."""

        def place(group: Group) -> tuple[object, ...]:
            one = group.rows[0]
            return (
                EXPERIMENTS.index(one.experiment), one.dataset, one.orthogonal, level(one),
                one.n_samples, one.n_features, one.n_components,
                _method_place(one.method),
            )  # fmt: skip

        return sorted(_group(self.rows, setting_of).values(), key=place)


def _group(rows: Iterable[Row], key: Callable[[Row], K]) -> dict[K, Group]:
    found: dict[K, list[Row]] = {}
    for row in rows:
        found.setdefault(key(row), []).append(row)
    return {one: Group(tuple(own)) for one, own in found.items()}


def setting_of(row: Row) -> tuple[object, ...]:
    """What runs with several seeds share: the setting and the method."""
    return tuple(getattr(row, name) for name in SETTING)


def count_planned(experiment: str) -> int:
    """How many runs the whole experiment has."""
    return sum(1 for _ in plan(DEFINITIONS[experiment]))


def level(row: Row) -> float:
    """Where a run stands on the horizontal axis of its experiment."""
    value = row.n_components if row.experiment == "inner-dimensions" else row.noise
    return float(value or 0.0)


def level_word(experiment: str) -> str:
    """What the levels of an experiment are."""
    return "components" if experiment == "inner-dimensions" else "noise"


def value(row: Row, measure: str) -> float | None:
    """A measure of a run; of "either_non_orthogonality" the larger one of both factors.

    None where it was not measured or is no finite number.
    """
    if measure == "either_non_orthogonality":
        pair = (value(row, "non_orthogonality"), value(row, "column_non_orthogonality"))
        known = [one for one in pair if one is not None]
        return max(known) if len(known) == 2 else None
    found: float | None = getattr(row, measure)
    return None if found is None or not isfinite(found) else found


def is_cut(row: Row) -> bool:
    """Whether the time limit ended the run."""
    return row.stop_reason == "time_limit"


def is_measured(row: Row) -> bool:
    """Whether the run has a result."""
    return any(
        value(row, one) is not None for one in ("relative_squared_error", "reconstruction_error")
    )


def label(method: str) -> str:
    """The name of a method for people."""
    ours = {ONMF_APX: "ONMF-apx", OF_TEN: "ONMF-apx, best of 10", BEST: "orthonmf (best)"}
    if method in ours:
        return ours[method]
    return BASELINES[method].label if method in BASELINES else method


def _method_place(method: str) -> tuple[int, str]:
    known = (*OURS, *BASELINES)
    return (known.index(method) if method in known else len(known), method)
