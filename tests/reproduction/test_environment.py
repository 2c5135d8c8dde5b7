"""The record of the environment, and the estimate of the time left."""

import json
import platform

import numpy as np
import pytest

import orthonmf
from orthonmf.errors import InvalidInputError
from orthonmf.reproduction.environment import environment, read_sittings, record_environment
from orthonmf.reproduction.rows import Row
from orthonmf.reproduction.runner import TimeLeft
from tests.reproduction.tiny import RUNS


def test_the_environment_names_versions_processor_and_threads(tmp_path):
    record_environment(tmp_path, jobs=1)
    (sitting,) = read_sittings(tmp_path / "environment.json")
    assert sitting["python"] == platform.python_version()
    assert sitting["numpy"] == np.__version__
    assert sitting["orthonmf"] == orthonmf.__version__
    assert {"scipy", "scikit-learn", "cpu", "cores", "date", "platform"} <= set(sitting)
    assert sitting["blas"]
    assert (sitting["threads_per_run"], sitting["jobs"], sitting["timed"]) == (1, 1, True)


def test_another_environment_is_another_sitting(tmp_path):
    path = tmp_path / "environment.json"
    record_environment(tmp_path, jobs=1)
    before = path.read_bytes()
    record_environment(tmp_path, jobs=1)
    assert path.read_bytes() == before
    record_environment(tmp_path, jobs=2)
    older = {**environment(2), "numpy": "1.0"}
    path.write_text(json.dumps({"sittings": [*read_sittings(path), older]}))
    record_environment(tmp_path, jobs=2)
    sittings = read_sittings(path)
    assert [one["jobs"] for one in sittings] == [1, 2, 2, 2]
    assert [one["timed"] for one in sittings] == [True, False, False, False]
    assert sittings[3]["numpy"] == np.__version__


@pytest.mark.parametrize("content", ["", "[]", "{}"])
def test_a_record_that_is_none_is_named(content, tmp_path):
    (tmp_path / "environment.json").write_text(content)
    with pytest.raises(InvalidInputError, match=r"environment\.json: this is no record"):
        record_environment(tmp_path, jobs=1)


def test_time_left_goes_by_method_and_by_the_average_for_those_not_seen():
    runs = [run for run in RUNS if run.method in ("onmf-apx", "onmfs")]  # four of each
    left = TimeLeft(runs, jobs=1)
    quick = [Row(*run.key) for run in runs if run.method == "onmf-apx"]
    slow = [Row(*run.key) for run in runs if run.method == "onmfs"]
    assert left.after(quick[0], 2.0) == 3 * 2 + 4 * 2
    assert left.after(slow[0], 10.0) == 3 * 2 + 3 * 10
    assert left.after(quick[1], 4.0) == 2 * 3 + 3 * 10
    beside = TimeLeft(runs, jobs=2)
    assert beside.after(quick[0], 2.0) == 7 * 2
