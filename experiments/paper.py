"""The paper's experiments as data: sizes, grids, methods, seeds, limits and published values.

The paper plots its noise levels and inner dimensions without listing them; the grids are ours.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import astuple, dataclass, replace

PLANTED = "planted"
# The paper's algorithm as published, the best of ten starts of it, and the best we have.
ONMF_APX, OF_TEN, BEST = OURS = ("onmf-apx", "onmf-apx-10", "best")
EARLIER = ("nmf", "pnmf", "onfs-ding", "nhl", "onmf-a", "hals", "em-onmf")
EARLIER_DOUBLE = ("onmf-ding-double", "onmf-ding-double-noisy")
SIDES = ("samples", "features")  # of a real set: which of them belong to one component each

NOISES = (0.0, 0.01, 0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 1.0)
INNER_DIMENSIONS = (2, 5, 10, 20, 30, 50)
N_SEEDS = 7  # each is a new matrix; figures show the median
N_STARTS = 40  # single starts of the paper's algorithm on every real set and side
N_COMPONENTS_REAL = 6


@dataclass(frozen=True, slots=True)
class RealSet:
    """A real set of the paper's table: its shape, and the published relative squared errors."""

    label: str
    shape: tuple[int, int]  # samples x features
    published: float  # of the paper's algorithm
    asteris: float  # the smallest in Asteris, Papailiopoulos & Dimakis 2015


PUBLISHED = {
    "amazon-commerce-reviews": RealSet("Amzn Com. Rev", (1500, 10000), 0.0467, 0.0462),
    "arcene-train": RealSet("Arcene Train", (100, 10000), 0.0760, 0.0788),
    "mfeat-pix": RealSet("Mfeat Pix", (2000, 240), 0.2382, 0.2447),
    "pems-train": RealSet("Pems Train", (267, 138672), 0.1279, 0.1278),
    "bow-kos": RealSet("BoW: KOS", (3430, 6906), 0.7685, 0.7609),
    "bow-nips": RealSet("BoW: NIPS", (1500, 12419), 0.7386, 0.7252),
}


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
    """A method as an experiment runs it: for so many seeds, each within a limit in seconds."""

    name: str
    n_seeds: int
    time_limit: float


@dataclass(frozen=True, slots=True)
class Experiment:
    """Every method on every setting."""

    name: str
    title: str
    settings: tuple[Setting, ...]
    methods: tuple[Method, ...]

    def runs(self) -> list[Run]:
        """All runs, setting by setting."""
        return [
            Run(self.name, setting, seed, method.name, method.time_limit)
            for setting in self.settings
            for method in self.methods
            for seed in range(method.n_seeds)
        ]


@dataclass(frozen=True, slots=True)
class Run:
    """One method on the data of one setting and one seed."""

    experiment: str
    setting: Setting
    seed: int
    method: str
    time_limit: float

    @property
    def key(self) -> tuple[object, ...]:
        """What tells this run from all others: the first columns of its row."""
        return (self.experiment, *astuple(self.setting), self.seed, self.method, self.time_limit)


@dataclass(frozen=True, slots=True)
class Scale:
    """How much of everything is run."""

    noises: tuple[float, ...]
    inner_dimensions: tuple[int, ...]
    n_seeds: int
    n_starts: int  # of the paper's algorithm on real data
    n_best: int  # runs of `best` on real data
    time_limit: float  # seconds of one run
    long_limit: float  # of one run of ONMF-Ding-double, with noise or without
    proof_limit: float  # of the search for one bound on a real set


FULL = Scale(NOISES, INNER_DIMENSIONS, N_SEEDS, N_STARTS, 3, 30.0, 60.0, 60.0)
QUICK = Scale((0.05, 0.5, 1.0), (2, 10, 50), 3, 5, 1, 5.0, 5.0, 3.0)


def experiments(scale: Scale = FULL) -> dict[str, Experiment]:
    """All experiments of the paper by name."""
    noises, short, long = scale.noises, scale.time_limit, scale.long_limit

    def methods(names: Iterable[str], limit: float = short) -> tuple[Method, ...]:
        return tuple(Method(name, scale.n_seeds, limit) for name in names)

    single = methods((*OURS, *EARLIER))
    starts = dict(zip(OURS, (scale.n_starts, scale.n_best, scale.n_best), strict=True))
    everything = (
        Experiment(
            "experiment-1", "Experiment 1: one orthogonal factor, growing noise",
            tuple(Setting(PLANTED, "samples", 5000, 100, 10, s) for s in noises), single,
        ),
        Experiment(
            "experiment-2", "Experiment 2: against ONMFS on small matrices",
            tuple(Setting(PLANTED, "samples", 50, 10, 2, s) for s in noises),
            methods((*OURS, "onmfs")),
        ),
        Experiment(
            "inner-dimensions", "Inner dimensions: one orthogonal factor, noise 0.5",
            tuple(Setting(PLANTED, "samples", 5000, 100, k, 0.5) for k in scale.inner_dimensions),
            single,
        ),
        Experiment(
            "double-factor", "Two orthogonal factors, growing noise",
            tuple(Setting(PLANTED, "both", 500, 100, 5, s) for s in noises),
            methods(OURS) + methods(EARLIER_DOUBLE, long) + methods(("nmf",)),
        ),
        Experiment(
            "real-data", "Real data: relative squared error at six components",
            tuple(
                Setting(name, side, *real.shape, N_COMPONENTS_REAL)
                for name, real in PUBLISHED.items()
                for side in SIDES
            ),
            tuple(Method(name, n, short) for name, n in starts.items()),
        ),
    )  # fmt: skip
    return {experiment.name: experiment for experiment in everything}


def plan(chosen: Iterable[Experiment]) -> list[Run]:
    """All runs of several experiments: the first seed of everything, then the second, and so on.

    Whatever share is done covers all settings, and methods that share a matrix follow each other.
    """
    runs = [run for experiment in chosen for run in experiment.runs()]
    return sorted(runs, key=lambda run: run.seed)  # which keeps the order within a seed


def choose_methods(
    chosen: Iterable[Experiment], names: Iterable[str], takes: Callable[[str, Setting], bool]
) -> list[Experiment]:
    """The experiments with these methods only: their own, and others where ``takes`` says so.

    Others get the seeds and the limit of the first method. A name that no experiment takes is
    refused.
    """
    names, narrowed = list(dict.fromkeys(names)), []
    for experiment in chosen:
        own = {method.name: method for method in experiment.methods}
        methods = tuple(
            own.get(name, replace(experiment.methods[0], name=name))
            for name in names
            if name in own or all(takes(name, setting) for setting in experiment.settings)
        )
        if methods:
            narrowed.append(replace(experiment, methods=methods))
    used = {method.name for experiment in narrowed for method in experiment.methods}
    if unknown := [name for name in names if name not in used]:
        raise ValueError(f"no experiment here runs a method called {unknown[0]!r}")
    return narrowed
