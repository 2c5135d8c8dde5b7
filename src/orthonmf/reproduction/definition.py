"""What an experiment is: settings, methods with their limits and seeds, and the runs they make."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import astuple, dataclass, replace

PLANTED = "planted"

Key = tuple[str, str, str, int, int, int, float | None, int, str, float]


@dataclass(frozen=True, slots=True)
class Setting:
    """One problem: which data, what is orthogonal, and how many components are asked for."""

    dataset: str  # PLANTED, or the name of a real set
    orthogonal: str  # "samples", "features" or "both"
    n_samples: int
    n_features: int
    n_components: int
    noise: float | None = None  # mean of the noise of planted data


@dataclass(frozen=True, slots=True)
class Method:
    """A method as an experiment runs it: once per seed, each time within a limit in seconds."""

    name: str
    seeds: tuple[int, ...]
    time_limit: float


@dataclass(frozen=True, slots=True)
class Run:
    """One method on the data of one setting and one seed."""

    experiment: str
    setting: Setting
    seed: int
    method: str
    time_limit: float

    @property
    def key(self) -> Key:
        """What tells this run from all others: the first columns of its row."""
        return (self.experiment, *astuple(self.setting), self.seed, self.method, self.time_limit)


@dataclass(frozen=True, slots=True)
class Definition:
    """An experiment: every method on every setting."""

    name: str
    title: str
    settings: tuple[Setting, ...]
    methods: tuple[Method, ...]


def plan(definition: Definition) -> Iterator[Run]:
    """All runs of an experiment."""
    for setting in definition.settings:
        for method in definition.methods:
            for seed in method.seeds:
                yield Run(definition.name, setting, seed, method.name, method.time_limit)


def choose_methods(
    definitions: Iterable[Definition], names: Iterable[str], takes: Callable[[str, Setting], bool]
) -> list[Definition]:
    """The experiments with these methods only: their own, and others where ``takes`` says so.

    Others get the seeds and the limit of the first method. Raises KeyError for a name that no
    experiment takes.
    """
    wanted = list(dict.fromkeys(names))
    chosen = []
    for one in definitions:
        own = {method.name: method for method in one.methods}
        methods = tuple(
            own.get(name, replace(one.methods[0], name=name))
            for name in wanted
            if name in own or all(takes(name, setting) for setting in one.settings)
        )
        if methods:
            chosen.append(replace(one, methods=methods))
    used = {method.name for one in chosen for method in one.methods}
    if lacking := [name for name in wanted if name not in used]:
        raise KeyError(lacking[0])
    return chosen


def plan_all(definitions: Iterable[Definition]) -> list[Run]:
    """All runs of several experiments: the first seed of everything, then the second, and so on.

    Whatever share is done covers all settings, and methods that share a matrix follow each other.
    """
    runs = [run for definition in definitions for run in plan(definition)]
    return sorted(runs, key=lambda run: run.seed)  # which keeps the order within a seed
