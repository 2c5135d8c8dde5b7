"""The definitions hold what the paper says, and runs come in an order that covers all early."""

from collections import Counter
from itertools import pairwise

import pytest

from orthonmf.baselines import BASELINES
from orthonmf.reproduction.definition import plan, plan_all
from orthonmf.reproduction.paper import FULL, OURS, PUBLISHED, QUICK, experiments

NOISES = (0, 0.01, 0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 1)
SINGLE = ["nmf", "pnmf", "onfs-ding", "nhl", "onmf-a", "hals", "em-onmf"]
PAPER = experiments(FULL)


def sizes(definition):
    return {(s.n_features, s.n_samples, s.orthogonal) for s in definition.settings}


def names(definition):
    return [method.name for method in definition.methods]


def test_there_are_five_experiments():
    wanted = ["experiment-1", "experiment-2", "inner-dimensions", "double-factor", "real-data"]
    assert list(PAPER) == wanted == list(experiments(QUICK))
    assert all(name == definition.name for name, definition in PAPER.items())


@pytest.mark.parametrize(
    ("name", "m", "n", "k", "orthogonal", "methods"),
    [
        ("experiment-1", 100, 5000, 10, "samples", SINGLE),
        ("experiment-2", 10, 50, 2, "samples", ["onmfs"]),
        ("double-factor", 100, 500, 5, "both",
         ["onmf-ding-double", "onmf-ding-double-noisy", "nmf"]),
    ],
)  # fmt: skip
def test_noise_sweeps(name, m, n, k, orthogonal, methods):
    definition = PAPER[name]
    assert sizes(definition) == {(m, n, orthogonal)}
    assert {s.n_components for s in definition.settings} == {k}
    assert tuple(s.noise for s in definition.settings) == NOISES
    assert names(definition) == ["onmf-apx", "onmf-apx-10", "best", *methods]
    assert all(method.seeds == tuple(range(7)) for method in definition.methods)
    assert len(list(plan(definition))) == len(NOISES) * 7 * (3 + len(methods))


def test_inner_dimensions():
    definition = PAPER["inner-dimensions"]
    assert sizes(definition) == {(100, 5000, "samples")}
    assert [s.n_components for s in definition.settings] == [2, 5, 10, 20, 30, 50]
    assert {s.noise for s in definition.settings} == {0.5}
    assert names(definition) == ["onmf-apx", "onmf-apx-10", "best", *SINGLE]
    assert len(list(plan(definition))) == 6 * 7 * 10


def test_real_data_have_forty_single_starts_on_both_sides():
    definition = PAPER["real-data"]
    assert {s.n_components for s in definition.settings} == {6}
    assert Counter(s.dataset for s in definition.settings) == dict.fromkeys(PUBLISHED, 2)
    assert {s.orthogonal for s in definition.settings} == {"samples", "features"}
    starts = {method.name: len(method.seeds) for method in definition.methods}
    assert starts == {"onmf-apx": 40, "onmf-apx-10": 3, "best": 3}


def test_published_values():
    ours = [one.published for one in PUBLISHED.values()]
    assert ours == [0.0467, 0.0760, 0.2382, 0.1279, 0.7685, 0.7386]
    earlier = [one.asteris for one in PUBLISHED.values()]
    assert earlier == [0.0462, 0.0788, 0.2447, 0.1278, 0.7609, 0.7252]


def test_limits():
    limits = {run.method: set() for run in plan_all(PAPER.values())}
    for run in plan_all(PAPER.values()):
        limits[run.method].add(run.time_limit)
    double = {"onmf-ding-double", "onmf-ding-double-noisy"}
    assert all(limits[name] == {60.0} for name in double)
    assert all(limits[name] == {30.0} for name in set(limits) - double)
    assert {run.time_limit for run in plan_all(experiments(QUICK).values())} == {5.0}


def test_quick_takes_three_of_each_grid():
    quick = experiments(QUICK)
    for name in ("experiment-1", "experiment-2", "double-factor"):
        noises = {s.noise for s in quick[name].settings}
        assert len(noises) == 3
        assert noises < set(NOISES)
        assert {method.seeds for method in quick[name].methods} == {(0, 1, 2)}
    dimensions = {s.n_components for s in quick["inner-dimensions"].settings}
    assert len(dimensions) == 3
    assert dimensions < {2, 5, 10, 20, 30, 50}


@pytest.mark.parametrize("scale", [FULL, QUICK])
def test_every_run_has_a_key_of_its_own_and_a_method_that_exists(scale):
    runs = plan_all(experiments(scale).values())
    assert len({run.key for run in runs}) == len(runs)
    assert {run.method for run in runs} <= {*OURS, *BASELINES}


def test_every_seed_of_everything_comes_before_the_next():
    runs = plan_all(PAPER.values())
    seeds = [run.seed for run in runs]
    assert seeds == sorted(seeds)
    first = [run for run in runs if run.seed == 0]
    assert {(r.experiment, r.setting, r.method) for r in first} == {
        (r.experiment, r.setting, r.method) for r in runs
    }
    matrices = [(r.experiment, r.setting, r.seed) for r in runs]
    changes = sum(a != b for a, b in pairwise(matrices))
    assert changes == len(set(matrices)) - 1  # methods that share a matrix follow each other
