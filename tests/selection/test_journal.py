"""Trials kept in a file: what is written is read again, and nothing else."""

import json
import os
from dataclasses import asdict

import numpy as np
import pytest

from orthonmf.errors import InvalidInputError
from orthonmf.selection.journal import TrialJournal
from orthonmf.selection.trial import Trial

X = np.random.default_rng(0).random((6, 4))
OPTIONS = {"orthogonal": "samples", "n_init": "auto"}
ONE = Trial(3, 0, 3, 0.25, 0.1, 0.5, 0.9, 0.8)
PAIR = Trial((2, 3), 1, 2, 0.125, None, 0.5, 0.9, -0.1)


def opened(path, data=X, options=OPTIONS, seed=7):
    return TrialJournal(path, data, options, seed)


@pytest.fixture
def path(tmp_path):
    """A file with one trial of a number and one of a pair."""
    journal = opened(tmp_path / "trials.jsonl")
    journal.add(ONE)
    journal.add(PAIR)
    return tmp_path / "trials.jsonl"


def test_trials_are_read_again_as_they_were_with_the_seed_of_the_file(path):
    journal = opened(path, seed=None)
    assert journal.seed == 7
    assert journal.trials == {(3, 0): ONE, ((2, 3), 1): PAIR}
    assert len(path.read_text().splitlines()) == 3


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"data": X[::-1].copy()}, "data"),
        ({"data": X.view(np.int64)}, "data"),
        ({"options": {**OPTIONS, "algorithm": "paper"}}, "algorithm"),
        ({"seed": 8}, "random_state"),
    ],
)
def test_what_differs_from_the_file_is_named(path, change, named):
    before = path.read_bytes()
    with pytest.raises(InvalidInputError, match=f"another selection: {named} differ"):
        opened(path, **change)
    assert path.read_bytes() == before


def rewrite(path, number, **values):
    lines = path.read_text().splitlines()
    lines[number] = json.dumps({**json.loads(lines[number]), **values})
    path.write_text("\n".join(lines) + "\n")


@pytest.mark.parametrize(
    "values",
    [
        {"repetition": 0.5},
        {"n_components_found": True},
        {"n_components": [2, 0]},
        {"relative_error": "small"},
        {"matched_cosine": float("nan")},
    ],
    ids=str,
)
def test_a_value_that_is_no_such_number_is_refused_with_its_line(path, values):
    rewrite(path, 1, **values)
    with pytest.raises(InvalidInputError, match=f"line 2: {next(iter(values))} is"):
        opened(path)


def test_a_line_that_lacks_a_value_and_a_header_without_entropy_are_refused(path):
    kept = path.read_text().splitlines()
    short = {name: value for name, value in asdict(ONE).items() if name != "null_error"}
    path.write_text("\n".join([kept[0], json.dumps(short)]) + "\n")
    with pytest.raises(InvalidInputError, match="line 2 lacks 'null_error'"):
        opened(path)
    path.write_text("\n".join(kept) + "\n")
    for entropy in (None, -1, "7", True):
        rewrite(path, 0, entropy=entropy)
        with pytest.raises(InvalidInputError, match="not a results file"):
            opened(path)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("not json\n", "line 1 is damaged"),
        ("[]\n", "line 1 is no JSON object"),
        ('{"title": "shopping list"}\n', "not a results file"),
    ],
)
def test_files_that_hold_something_else_are_refused(tmp_path, content, message):
    path = tmp_path / "results.jsonl"
    path.write_text(content)
    with pytest.raises(InvalidInputError, match=message):
        opened(path)
    assert path.read_text() == content


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no named pipes here")
def test_a_pipe_is_refused(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(InvalidInputError, match="a device or a pipe"):
        opened(tmp_path / "pipe")
