"""Fits are found again, those of another state are refused, damage is named."""

import json

import pytest

from orthonmf.bench.quality.best_known import Case
from orthonmf.bench.quality.fits import Fit
from orthonmf.bench.quality.journal import FitJournal
from orthonmf.errors import InvalidInputError

CASE, FIT = Case("a", "both", 3), Fit(0.25, 0.5, 2)


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "new" / "fits.jsonl"
    FitJournal(path).add("digest", CASE, "orthonmf", 4, FIT)
    return path


def test_a_fit_is_found_again_by_its_data_and_options(path):
    journal = FitJournal(path)
    assert len(journal) == 1
    assert journal.get("digest", CASE, "orthonmf", 4) == FIT
    assert journal.get("digest", CASE._replace(name="renamed"), "orthonmf", 4) == FIT
    assert journal.get("other", CASE, "orthonmf", 4) is None
    assert journal.get("digest", CASE._replace(n_components=2), "orthonmf", 4) is None
    assert journal.get("digest", CASE, "three lines", 4) is None
    assert journal.get("digest", CASE, "orthonmf", 5) is None


def test_fits_of_another_state_of_the_code_are_refused(path):
    first, *rest = path.read_text().splitlines()
    path.write_text("\n".join([json.dumps({**json.loads(first), "code": "0"}), *rest, ""]))
    with pytest.raises(InvalidInputError, match=r"another state \(code differ\).*--output"):
        FitJournal(path)


@pytest.mark.parametrize("line", ["{}", '{"data": 1}', "[]", "{", '{"error": "x"}'])
def test_a_damaged_line_is_named(line, path):
    path.write_text(path.read_text() + line + "\n")
    with pytest.raises(InvalidInputError, match="line 3 is"):
        FitJournal(path)


@pytest.mark.parametrize("text", ["mine\n", "mine", '{"title": "another"}\n'])
def test_a_file_of_somebody_else_is_refused_and_left_alone(text, path):
    path.write_text(text)
    with pytest.raises(InvalidInputError, match=r"does not hold fits|is damaged"):
        FitJournal(path)
    assert path.read_text() == text
