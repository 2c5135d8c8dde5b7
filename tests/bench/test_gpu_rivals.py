"""Rivals on a GPU are measured only where they are installed, by what an iteration adds."""

import sys
import types

import pytest

from orthonmf.bench.gpu_rivals import LONG, RIVALS, SHORT, installed_rivals, time_rivals


def test_programs_that_are_not_there_are_left_out(monkeypatch):
    monkeypatch.setattr("orthonmf.bench.gpu_rivals.find_spec", lambda module: None)
    assert installed_rivals() == {}
    assert time_rivals(None, 3, lambda work, repeats: 1.0) == {}


def test_an_iteration_is_the_difference_of_a_long_run_and_a_short_one(monkeypatch):
    made = []
    module = types.ModuleType("flash_kmeans")
    module.batch_kmeans_Euclid = lambda x, k, max_iters, tol: made.append((k, max_iters, tol))
    monkeypatch.setitem(sys.modules, "flash_kmeans", module)
    monkeypatch.setattr(
        "orthonmf.bench.gpu_rivals.installed_rivals",
        lambda: {"flash-kmeans": RIVALS["flash-kmeans"][1]},
    )

    def seconds(work, repeats):
        work()
        return 0.5 + 0.01 * made[-1][1]  # half a second before the first iteration

    class Rows:
        def __getitem__(self, key):
            return self

    found = time_rivals(Rows(), 7, seconds)
    assert made == [(7, LONG, 0.0), (7, SHORT, 0.0)]
    assert found["flash-kmeans"] == pytest.approx(0.01)
