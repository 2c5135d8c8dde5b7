"""Best values are read, looked up, improved and written, and what is no value is refused."""

import json

import pytest

from orthonmf.bench.quality.best_known import BestKnown, Case, read_best_known
from orthonmf.errors import InvalidInputError

HELD = {"arcene_train": {"samples": {"2": 0.17, "6": 0.0756}, "both": {"6": 0}}}


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "best.json"
    path.write_text(json.dumps(HELD))
    return path


def test_values_are_found_by_set_setting_and_number(path):
    known = read_best_known(path)
    assert known.of(Case("arcene_train", "samples", 6)) == 0.0756
    assert known.of(Case("arcene-train", "both", 6)) == 0.0
    assert known.of(Case("arcene_train", "features", 6)) is None
    assert known.of(Case("arcene", "samples", 6)) is None


def test_a_name_spelled_the_same_comes_first():
    known = BestKnown({Case("a_b", "both", 2): 0.5, Case("a-b", "both", 2): 0.4})
    assert known.of(Case("a-b", "both", 2)) == 0.4
    assert known.of(Case("a_b", "both", 2)) == 0.5


def test_what_is_found_is_kept_where_it_is_smaller_under_the_name_of_the_file(path):
    found = {
        Case("arcene-train", "samples", 6): 0.07,
        Case("arcene-train", "samples", 2): 0.2,
        Case("new", "features", 3): 0.1 + 0.2,
    }
    read_best_known(path).with_found(found).write(path)
    assert json.loads(path.read_text()) == {
        "arcene_train": {"samples": {"2": 0.17, "6": 0.07}, "both": {"6": 0}},
        "new": {"features": {"3": 0.1 + 0.2}},
    }
    assert [one.name for one in path.parent.iterdir()] == ["best.json"]


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ('{"a": \n 1,}', "line 2: this is no JSON"),
        ("[" * 100_000, "this is no JSON"),
        ("[]", r"best.json: an object is needed; the layout is \{"),
        ('{"a": 0.1}', "a: an object is needed"),
        ('{"a": {"rows": {}}}', "a, rows: a setting is one of samples, features, both"),
        ('{"a": {"both": {"0": 0.1}}}', "a, both: '0' is no number of components"),
        ('{"a": {"both": {"six": 0.1}}}', "'six' is no number of components"),
        ('{"a": {"both": {"6": 1.5}}}', "a, both, 6: .* a number from 0 to 1, not 1.5"),
        ('{"a": {"both": {"6": NaN}}}', "not nan"),
        ('{"a": {"both": {"6": true}}}', "not True"),
        ('{"a": {"both": {"6": null}}}', "not None"),
    ],
)
def test_what_is_no_value_is_refused_with_its_place(text, why, path):
    path.write_text(text)
    with pytest.raises(InvalidInputError, match=why):
        read_best_known(path)


def test_bytes_that_are_no_text_are_refused(path):
    path.write_bytes(b"\xff\xfe{}")
    with pytest.raises(InvalidInputError, match="this is no JSON"):
        read_best_known(path)
