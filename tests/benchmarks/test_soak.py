"""The soak notices answers that are wrong and handles that are kept, and is content with ours."""

from dataclasses import replace

import numpy as np
import pytest

import orthonmf
from benchmarks import soak, soak_cases

QUICK = (soak_cases.fit, soak_cases.brute_force, soak_cases.files, soak_cases.graph)
SLOW = (soak_cases.certificate, soak_cases.refit, soak_cases.command)


@pytest.mark.filterwarnings("ignore::orthonmf.errors.FewerComponentsWarning")
@pytest.mark.parametrize(
    "kind",
    [
        *QUICK,
        *(pytest.param(kind, marks=pytest.mark.slow) for kind in SLOW),
        pytest.param(soak_cases.dask, marks=[pytest.mark.slow, pytest.mark.cluster]),
    ],
)
def test_right_answers_pass(kind, tmp_path):
    kind(np.random.default_rng(3), tmp_path)


def wrong(field, change):
    """The answer of `factorize`, but for one field."""
    honest = orthonmf.factorize

    def fit(X, **options):
        result = honest(X, **options)
        value = getattr(result, field)
        return result if value is None else replace(result, **{field: change(value)})

    return fit


@pytest.mark.parametrize(
    ("field", "change"),
    [
        ("relative_squared_error", lambda error: error + 1e-3),
        ("divergence", lambda divergence: divergence * 1.01 + 1),
        ("labels", lambda labels: np.roll(labels, 1) + 1),
    ],
)
def test_a_wrong_answer_is_told_with_the_line_that_repeats_it(field, change, monkeypatch, capsys):
    monkeypatch.setattr(orthonmf, "factorize", wrong(field, change))
    first = soak.ROUND.index(soak_cases.brute_force)
    number = next(case for case in range(first, 40) if soak.main(["--case", str(case)]) == 1)
    assert f"; python -m benchmarks soak --seed 0 --case {number}\n" in capsys.readouterr().out


def test_what_grows_is_told_apart_from_what_warms_up():
    held = dict.fromkeys(soak.ALLOWED, 10.0)
    warming = [held | {"memory MB": 100.0 + min(number, 3) * 50} for number in range(16)]
    assert set(soak.growth(warming)["verdict"]) == {"flat"}
    leaking = [held | {"file descriptors": 10.0 + number} for number in range(16)]
    grown = soak.growth(leaking).set_index("held by the process")["verdict"]
    assert list(grown.index[grown == "**grows**"]) == ["file descriptors"]
    assert set(soak.growth(leaking[:4])["verdict"]) == {"too short to tell"}


@pytest.mark.slow
def test_a_round_ends_with_a_summary(tmp_path, monkeypatch):
    monkeypatch.setattr(soak, "ROUND", QUICK)
    assert soak.main(["--rounds", "1", "--write", str(tmp_path / "soak.md")]) == 0
    text = (tmp_path / "soak.md").read_text()
    assert "Nothing was violated." in text
    assert "| brute_force | 1 |" in text
