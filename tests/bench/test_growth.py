"""Exponents and slopes of synthetic figures come out exactly."""

import numpy as np
import pytest

from orthonmf.bench.data import Data
from orthonmf.bench.definition import growth, tasks_of
from orthonmf.bench.growth import exponent, slope, time_sizes


@pytest.mark.parametrize("power", [0.0, 0.5, 1.0, 1.3, 2.0])
def test_the_exponent_of_a_power_law_is_its_power(power):
    sizes = [1000, 2000, 4000, 8000]
    seconds = [3e-6 * size**power for size in sizes]
    assert exponent(sizes, seconds) == pytest.approx(power, abs=1e-12)


def test_the_exponent_is_the_least_squares_line_of_the_logarithms():
    sizes, seconds = [1, 2, 4, 8], [1.0, 2.5, 3.5, 9.0]
    expected = np.polyfit(np.log(sizes), np.log(seconds), 1)[0]
    assert exponent(sizes, seconds) == pytest.approx(expected, rel=1e-12)


def test_the_slope_of_memory_leaves_out_what_does_not_grow():
    assert slope([10, 20, 40], [7e6 + 33 * n for n in (10, 20, 40)]) == pytest.approx(33)


def test_every_size_doubles_and_so_does_what_is_made_of_it():
    axes = [task for task in growth(False) if task.title.startswith("time")]
    assert [task.what for task in axes] == ["rows", "columns", "components", "entries"]
    for task in axes:
        assert all(b == 2 * a for a, b in zip(task.sizes, task.sizes[1:], strict=False))
    entries = growth(True)[1]
    assert [data.make().nnz for data in entries.matrices] == list(entries.sizes)
    rows = growth(True)[0]
    assert [data.make().shape[0] for data in rows.matrices] == list(rows.sizes)


def test_sizes_are_timed_and_sweeps_to_convergence_reported():
    (task, *_) = tasks_of("growth", tiny=True)
    found = time_sizes([Data("uniform", n, 8, 2) for n in (50, 100)], 2)
    assert min(found["seconds"]) > 0
    assert all(one >= 1 for one in found["sweeps"] + found["sweeps_to_convergence"])
    assert task.n_steps == 1
