"""Methods of the user: registered once, then known by name."""

import os
import sys
from dataclasses import replace

import numpy as np
import pytest

from orthonmf.baselines import BASELINES, Baseline, Iterate, register, solve
from orthonmf.baselines.plugins import VARIABLE, load_plugins
from orthonmf.errors import InvalidInputError, InvalidTypeError


def fixed(M, k, *, rng):
    """One random start and nothing else."""
    yield Iterate(rng.random((M.shape[0], k)), rng.random((k, M.shape[1])))
    return "finished"


MINE = Baseline("mine-42", "Mine", ("nowhere",), fixed, max_iter=5, tol=0.0)


@pytest.fixture(autouse=True)
def _forget(monkeypatch):
    before = dict(BASELINES)
    monkeypatch.delenv(VARIABLE, raising=False)
    yield
    BASELINES.clear()
    BASELINES.update(before)


def test_a_method_of_the_user_is_solved_by_its_name():
    assert register(MINE) is MINE
    assert register(MINE) is MINE  # again is no harm
    found = solve("mine-42", np.eye(4) + 1, 2, random_state=0)
    assert found.stop_reason == "finished"
    assert found.hardened is not None
    with pytest.raises(InvalidInputError, match="did you mean mine-42"):
        solve("mine-24", np.eye(4), 2)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"name": "nmf"}, "there already"),
        ({"name": "best"}, "there already"),
        ({"name": "My Method"}, "small letters"),
        ({"orthogonal": "features"}, "orthogonal"),
        ({"iterates": lambda M: None}, "takes no"),
    ],
)
def test_what_cannot_be_run_is_refused(changes, message):
    with pytest.raises((InvalidInputError, InvalidTypeError), match=message):
        register(replace(MINE, **changes))
    with pytest.raises(InvalidTypeError, match="Baseline"):
        register(fixed)


def test_plug_ins_are_imported_once_and_named_to_other_processes(tmp_path, monkeypatch):
    path = tmp_path / "my_plugin.py"
    path.write_text("import sys\nsys.loaded_plugins = getattr(sys, 'loaded_plugins', 0) + 1\n")
    monkeypatch.setattr(sys, "loaded_plugins", 0, raising=False)
    load_plugins([str(path)])
    load_plugins([str(path)])
    load_plugins()
    assert sys.loaded_plugins == 1
    assert os.environ[VARIABLE] == str(path)
    with pytest.raises(InvalidInputError, match="no_such_module_at_all cannot be imported"):
        load_plugins(["no_such_module_at_all"])
    with pytest.raises(InvalidInputError, match=r"gone\.py cannot be imported"):
        load_plugins([str(tmp_path / "gone.py")])
