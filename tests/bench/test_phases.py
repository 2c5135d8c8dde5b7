"""The shares of a profile add up to the whole, and the library is as before afterwards."""

import numpy as np
import pytest

import orthonmf.fitting
import orthonmf.inputs.data
import orthonmf.onmf.search.one_side
from orthonmf.bench import phases
from orthonmf.bench.data import Data
from orthonmf.bench.phases import PHASE_NAMES, REST, Stopwatch, time_phases, watch


@pytest.mark.parametrize("kind", ["planted", "sparse"])
def test_phases_add_up_to_the_whole_and_the_known_ones_appear(kind):
    data = Data(kind, 400, 30, 4, density=0.3)
    found = time_phases(data, 3)
    seconds = found["seconds"]
    assert tuple(seconds) == PHASE_NAMES
    assert sum(seconds.values()) == pytest.approx(found["whole"], rel=1e-9)
    assert min(seconds.values()) >= 0
    for phase in ("validation", "seeding", "sweeps", "final assignment", "certificate", REST):
        assert seconds[phase] > 0, phase


def test_every_function_is_put_back():
    before = dict(vars(orthonmf.fitting)), dict(vars(orthonmf.onmf.search.one_side))
    with watch(Stopwatch()):
        assert vars(orthonmf.fitting)["publish"] is not before[0]["publish"]
    assert (vars(orthonmf.fitting), vars(orthonmf.onmf.search.one_side)) == before


def test_watching_does_not_change_the_answer():
    X = np.random.default_rng(0).random((200, 12))
    plain = orthonmf.fitting.factorize(X, 3, random_state=0)
    with watch(Stopwatch()):
        seen = orthonmf.fitting.factorize(X, 3, random_state=0)
    assert np.array_equal(plain.components, seen.components)


def test_a_function_that_is_gone_is_an_error_and_nothing_stays_replaced(monkeypatch):
    before = orthonmf.inputs.data.as_matrix
    gone = {**phases.PHASES, "sweeps": ("orthonmf.inputs.data:no_such_function",)}
    monkeypatch.setattr(phases, "PHASES", gone)
    with pytest.raises(AttributeError, match="no_such_function"), watch(Stopwatch()):
        pass
    assert orthonmf.inputs.data.as_matrix is before


def test_time_inside_another_phase_counts_for_the_outer_one():
    stopwatch = Stopwatch()
    inner = stopwatch.time("sweeps", lambda: None)
    stopwatch.time("seeding", inner)()
    assert stopwatch.seconds["sweeps"] == 0
    assert stopwatch.seconds["seeding"] > 0
