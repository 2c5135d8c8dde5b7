"""The benchmarks by name: what is measured, at which sizes, and what should be reached.

``tiny`` stands for sizes that take a moment: they show that the harness works and say nothing
about speed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import product
from typing import Any

from orthonmf.baselines import BASELINES as REGISTERED
from orthonmf.bench.certificates import CertificatesTask
from orthonmf.bench.data import Data, real
from orthonmf.bench.fits import Contest, OverheadTask, Rival
from orthonmf.bench.gpu import GpuFitsTask, GpuStreamTask, GpuSweepsTask
from orthonmf.bench.growth import GrowthTask, MemoryGrowthTask
from orthonmf.bench.memory import MemoryTask, affordable
from orthonmf.bench.phases import ProfileTask
from orthonmf.bench.places import PlacesTask
from orthonmf.bench.quality.sets import OF_THE_PAPER
from orthonmf.bench.rivals import BASELINES
from orthonmf.bench.sweep import SweepTask
from orthonmf.bench.tasks import Task
from orthonmf.inputs.parameters import as_choice
from orthonmf.onmf.algorithms import SETTINGS

EXPERIMENT_ONE = Data("planted", 5_000, 100, 10)
LARGE = (
    Data("planted", 200_000, 100, 50, dtype="float32"),
    Data("planted", 50_000, 1_000, 50, dtype="float32"),
)
SPARSE = tuple(real(name) for name in ("bow-kos", "bow-nips", "amazon-commerce-reviews"))
BLOCKS = Data("blocks", 2_000, 500, 8, noise=0.1)
GROUPS = replace(BLOCKS, kind="groups")
TINY = Data("planted", 300, 20, 3)
MEMORY_BYTES = 2_000_000_000

SWEEP_GOAL, SMALL_SWEEP_GOAL = 1.5, 3.0  # products
SMALL_GOAL, NMF_GOAL, LARGE_GOAL, SPARSE_GOAL = 3.0, 50.0, 30.0, 2.0  # times faster
OVERHEAD_GOAL = 3.0  # milliseconds
MEMORY_GOAL = 0.1  # of the input
GROWTH_GOAL, ROW_GOAL = 1.1, 40.0  # exponent, bytes per row
# Rows, columns, components; reads of X that a sweep may take.
GPU_SWEEPS: tuple[tuple[tuple[int, int, int], float], ...] = (
    ((20_000_000, 64, 16), 1.6),
    ((20_000_000, 100, 10), 1.6),
    ((20_000_000, 100, 20), 2.0),
    ((10_000_000, 128, 32), 2.0),
    ((10_000_000, 128, 64), 2.5),
    ((10_000_000, 200, 10), 2.5),
    ((5_000_000, 256, 32), 2.5),
    ((5_000_000, 256, 64), 2.5),
    ((4_000_000, 512, 100), 2.6),
    ((10_000_000, 128, 128), 4.5),
    ((10_000_000, 128, 256), 4.5),
    ((1_000_000, 1024, 256), 4.5),
)
# The same and a setting; seconds, times faster than all cores, seconds with a certificate; 0: none.
GPU_FITS: tuple[tuple[tuple[int, int, int], str, float, float, float], ...] = (
    ((20_000_000, 100, 10), "samples", 0.12, 30.0, 0.2),
    ((4_000_000, 512, 100), "samples", 0.2, 12.0, 0.5),
    ((2_500_000, 100, 10), "features", 0.2, 10.0, 0.0),
    ((2_500_000, 100, 10), "both", 0.0, 10.0, 0.0),
)
SMALL_SHAPE = (2_000, 20, 3)
GPU_TINY = ((SMALL_SHAPE, 0.0),), ((SMALL_SHAPE, "samples", 0.0, 0.0, 0.0),), SMALL_SHAPE


@dataclass(frozen=True, slots=True)
class Contests:
    """Whole fits of some matrices against some rivals."""

    matrices: tuple[Data, ...]
    tiny: Data
    rivals: tuple[Rival, ...]
    options: Mapping[str, Any] = field(default_factory=dict)  # of `Contest`
    n_tiny: int = 2  # how many of the rivals

    def tasks(self, benchmark: str, tiny: bool) -> list[Task]:
        """A contest for every matrix."""
        if tiny:
            rivals = tuple(replace(rival, n_seeds=1) for rival in self.rivals[: self.n_tiny])
            few = {**self.options, "n_seeds": 2, "n_rounds": 1}
            return [Contest(benchmark, self.tiny, rivals, **few)]
        return [Contest(benchmark, data, self.rivals, **self.options) for data in self.matrices]


def _baseline_rival(name: str) -> Rival:
    return Rival(name, n_seeds=1, warm_rows=500)


CONTESTS = {
    "small": Contests(
        (replace(EXPERIMENT_ONE, noise=0.1), EXPERIMENT_ONE),
        TINY,
        (Rival("three lines", SMALL_GOAL, 10), Rival("sklearn NMF", NMF_GOAL, 3)),
        {"n_seeds": 20},
    ),
    "large": Contests(
        LARGE, replace(TINY, dtype="float32"), (Rival("three lines", LARGE_GOAL, 2),)
    ),
    "sparse": Contests(
        SPARSE,
        Data("sparse", 200, 80, 3, density=0.1),
        (Rival("three lines", SPARSE_GOAL, 5),),
    ),
    "both": Contests(
        (BLOCKS,), Data("blocks", 120, 30, 3), (Rival("co-clustering"),), {"orthogonal": "both"}
    ),
    "core": Contests(
        (GROUPS, *(real(name) for name in ("mfeat-pix", "bow-kos"))),
        Data("groups", 120, 30, 3),
        tuple(
            Rival(name, n_seeds=1, warm_rows=200)
            for name in ("biclustering", "Ding's three factors")
        ),
        {"orthogonal": "core", "n_rounds": 1},
        n_tiny=1,
    ),
    "baselines": Contests(
        (EXPERIMENT_ONE,),
        TINY,
        tuple(map(_baseline_rival, BASELINES)),
        {"n_seeds": 20, "n_rounds": 1},
        n_tiny=1,
    ),
}


def sweep(tiny: bool) -> list[Task]:
    """One sweep against the product it contains."""
    if tiny:
        return [SweepTask(_uniform(TINY), SMALL_SWEEP_GOAL, n_repeats=2, n_rounds=1)]
    shapes, ks, dtypes = ((200_000, 100), (50_000, 1_000)), (10, 50), ("float32", "float64")
    cases = [Data("uniform", *shape, k, dtype=d) for shape, k, d in product(shapes, ks, dtypes)]
    small = SweepTask(_uniform(EXPERIMENT_ONE), SMALL_SWEEP_GOAL, n_repeats=100)
    return [*(SweepTask(data, SWEEP_GOAL) for data in cases), small]


def overhead(tiny: bool) -> list[Task]:
    """A fit in which only fixed costs are left."""
    return [OverheadTask(Data("planted", 20, 10, 3), OVERHEAD_GOAL, n_seeds=3 if tiny else 200)]


def memory(tiny: bool) -> list[Task]:
    """Peak memory beyond a dense input of 2 GB, or of what is free where that is less."""
    if tiny:
        return [MemoryTask(_uniform(TINY), "samples", MEMORY_GOAL)]
    n = affordable(MEMORY_BYTES) // (8 * 100)
    data = Data("uniform", n, 100, 10)
    return [MemoryTask(data, setting, MEMORY_GOAL) for setting in ("samples", "features")]


def places(tiny: bool) -> list[Task]:
    """The same fit from memory, from files and on a cluster."""
    data = Data("uniform", 200_000, 500, 20, dtype="float32")
    return [PlacesTask(Data("uniform", 2_000, 30, 3) if tiny else data)]


def growth(tiny: bool) -> list[Task]:
    """Exponents of time in rows, columns, stored entries and components; memory per row."""
    base, entries = Data("uniform", 20_000, 50, 5), Data("sparse", 20_000, 1_000, 5, density=0.005)
    n_doublings = n_repeats = 3
    if tiny:
        base, entries = Data("uniform", 100, 10, 2), Data("sparse", 100, 50, 2, density=0.1)
        n_doublings = n_repeats = 1
    names = {"rows": "n_samples", "columns": "n_features", "components": "n_components"}
    axes = [_double(what, base, name, n_doublings) for what, name in names.items()]
    axes = [*axes[: 1 if tiny else 3], _double("entries", entries, "density", n_doublings)]
    return [*(GrowthTask(*axis, GROWTH_GOAL, n_repeats) for axis in axes), _per_row(tiny)]


def _per_row(tiny: bool) -> Task:
    sizes = (3_000, 6_000) if tiny else (500_000, 1_000_000, 2_000_000)
    return MemoryGrowthTask(tuple(Data("uniform", n, 20, 10) for n in sizes), ROW_GOAL)


def _double(
    what: str, base: Data, name: str, n_doublings: int
) -> tuple[str, tuple[int, ...], tuple[Data, ...]]:
    """What doubles in words, its sizes, and the matrices."""
    factors = [2**power for power in range(n_doublings + 1)]
    matrices = tuple(replace(base, **{name: factor * getattr(base, name)}) for factor in factors)
    # Stored entries are counted; the description holds their share.
    unit = base.n_samples * base.n_features if name == "density" else 1
    return what, tuple(round(unit * getattr(data, name)) for data in matrices), matrices


def _uniform(data: Data) -> Data:
    return replace(data, kind="uniform")


def certificates(tiny: bool) -> list[Task]:
    """Ratios that are proven: the sets of the paper in every setting, the answer of ten starts."""
    if tiny:
        return [CertificatesTask(TINY, "samples", n_init=1)]
    matrices = [real(name) for name in OF_THE_PAPER]
    return [CertificatesTask(*one) for one in product(matrices, SETTINGS)]


def gpu(tiny: bool) -> list[Task]:
    """A matrix on a GPU: sweeps, whole fits, and rows that are streamed there."""
    sweeps, fits, stream = GPU_SWEEPS, GPU_FITS, (20_000_000, 100, 10)
    if tiny:
        sweeps, fits, stream = GPU_TINY
    data = _on_device(stream)
    sweep_cases = tuple((_on_device(shape), goal) for shape, goal in sweeps)
    fit_cases = tuple((_on_device(one[0]), *one[1:]) for one in fits)
    return [GpuSweepsTask(data, sweep_cases), GpuFitsTask(data, fit_cases), GpuStreamTask(data)]


def _on_device(shape: tuple[int, int, int]) -> Data:
    return Data("uniform", *shape, dtype="float32")


BENCHMARKS: dict[str, Callable[[bool], list[Task]]] = {
    "sweep": sweep,
    **{name: partial(contests.tasks, name) for name, contests in CONTESTS.items()},
    "overhead": overhead,
    "memory": memory,
    "places": places,
    "growth": growth,
    "certificates": certificates,
    "gpu": gpu,
}
# Minutes for every set, or a GPU: only when it is asked for by name.
LONG = ("certificates", "gpu")
PROFILED = {"small": (EXPERIMENT_ONE,), "large": LARGE, "sparse": SPARSE}


def tasks_of(name: str | None, *, tiny: bool = False) -> list[Task]:
    """The tasks of one benchmark, of one baseline by its name, or of all that do not take long."""
    names = [one for one in BENCHMARKS if tiny or one not in LONG]
    if name is not None and name not in BENCHMARKS and name in REGISTERED:
        one = replace(CONTESTS["baselines"], rivals=(_baseline_rival(name),))
        return one.tasks("baselines", tiny)
    if name is not None:
        names = [as_choice(name, (*BENCHMARKS, *REGISTERED), "NAME")]
    return [task for one in names for task in BENCHMARKS[one](tiny)]


def profiles_of(name: str | None, *, tiny: bool = False) -> list[Task]:
    """The tasks that tell where the time of these fits goes."""
    names = list(PROFILED) if name is None else [as_choice(name, tuple(PROFILED), "NAME")]
    return [
        ProfileTask(one, data)
        for one in names
        for data in ((CONTESTS[one].tiny,) if tiny else PROFILED[one])
    ]
