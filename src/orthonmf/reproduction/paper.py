"""The paper's experiments as data: sizes, grids, methods, seeds, limits and published values.

The paper plots its noise levels and inner dimensions without listing them; the grids are ours.
"""

from __future__ import annotations

from dataclasses import dataclass

from orthonmf.reproduction.definition import PLANTED, Definition, Method, Setting

# The paper's algorithm as published, the best of ten starts of it, and the best we have.
OURS = ("onmf-apx", "onmf-apx-10", "best")
EARLIER = ("nmf", "pnmf", "onfs-ding", "nhl", "onmf-a", "hals", "em-onmf")
EARLIER_DOUBLE = ("onmf-ding-double", "onmf-ding-double-noisy")

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


def paper_order(names: set[str]) -> list[str]:
    """Some real sets in the order of the paper's table, then those that are not in it."""
    return [*(name for name in PUBLISHED if name in names), *sorted(names - set(PUBLISHED))]


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


FULL = Scale(NOISES, INNER_DIMENSIONS, N_SEEDS, N_STARTS, 3, 30.0, 60.0)
QUICK = Scale((0.05, 0.5, 1.0), (2, 10, 50), 3, 5, 1, 5.0, 5.0)


def experiments(scale: Scale = FULL) -> dict[str, Definition]:
    """All experiments of the paper by name."""
    noises, short, long = scale.noises, scale.time_limit, scale.long_limit
    single = _methods((*OURS, *EARLIER), scale, short)
    small = _methods((*OURS, "onmfs"), scale, short)
    double = _methods(OURS, scale, short) + _methods(EARLIER_DOUBLE, scale, long)
    sides = [
        Setting(name, side, *real.shape, N_COMPONENTS_REAL)
        for name, real in PUBLISHED.items()
        for side in ("samples", "features")
    ]
    runs = dict(zip(OURS, (scale.n_starts, scale.n_best, scale.n_best), strict=True))
    everything = (
        Definition(
            "experiment-1", "Experiment 1: one orthogonal factor, growing noise",
            tuple(Setting(PLANTED, "samples", 5000, 100, 10, s) for s in noises), single,
        ),
        Definition(
            "experiment-2", "Experiment 2: against ONMFS on small matrices",
            tuple(Setting(PLANTED, "samples", 50, 10, 2, s) for s in noises), small,
        ),
        Definition(
            "inner-dimensions", "Inner dimensions: one orthogonal factor, noise 0.5",
            tuple(Setting(PLANTED, "samples", 5000, 100, k, 0.5) for k in scale.inner_dimensions),
            single,
        ),
        Definition(
            "double-factor", "Two orthogonal factors, growing noise",
            tuple(Setting(PLANTED, "both", 500, 100, 5, s) for s in noises),
            double + _methods(("nmf",), scale, short),
        ),
        Definition(
            "real-data", "Real data: relative squared error at six components", tuple(sides),
            tuple(Method(name, tuple(range(n)), short) for name, n in runs.items()),
        ),
    )  # fmt: skip
    return {one.name: one for one in everything}


def _methods(names: tuple[str, ...], scale: Scale, limit: float) -> tuple[Method, ...]:
    seeds = tuple(range(scale.n_seeds))
    return tuple(Method(name, seeds, limit) for name in names)
