"""The benchmarks through their door, on sizes that take a moment, and what their figures mean."""

import json

import numpy as np
import pandas as pd
import pytest

from benchmarks import quality, rivals, tables
from benchmarks.__main__ import ROWS, main
from benchmarks.rows import FAILED, MISSED, REACHED, SKIPPED, SkippedError, guard, judge, measure
from orthonmf.datasets import make_planted
from tests.gpu import has_gpu

NEEDS_GPU = {"gpu"} if not has_gpu() else set()
# One contest stands for all of them: they differ in their data alone.
TRIED = [*(name for name in ROWS if name not in ("speed", "one_call")), "core"]
X = make_planted(40, 12, 3, 0.1, random_state=0).X


@pytest.mark.slow
@pytest.mark.parametrize("name", TRIED)
def test_a_benchmark_gives_rows_with_figures(name, tmp_path):
    assert main([name, "--tiny", "-o", str(tmp_path)]) == 0
    document = json.loads((tmp_path / f"{name}.json").read_text())
    assert document["machine"]["numpy"] == np.__version__
    for row in document["rows"]:
        assert row["verdict"] in ({SKIPPED} if name in NEEDS_GPU else {"not judged"}), row
        assert sum(isinstance(value, (int, float)) for value in row.values()) or row["note"]
    if name == "places":
        assert [row["same_bits"] for row in document["rows"]] == [True] * len(document["rows"])


def test_goals_are_judged_by_their_relations():
    row = {"ratio": 2.0, "error": float("nan")}
    assert judge(row, ("ratio", ">=", 2.0))["verdict"] == REACHED
    assert judge(row, ("ratio", "<", 2.0))["verdict"] == f"{MISSED}: ratio"
    missed = judge(row, ("error", "<=", 1.0), ("ratio", "<=", 3.0))
    assert (missed["verdict"], missed["goals"]) == (f"{MISSED}: error", "error <= 1, ratio <= 3")


def skip():
    raise SkippedError("no such machine")


def test_what_cannot_be_measured_is_a_row_that_says_why():
    assert guard("case", skip) == {
        "case": "case", "against": "", "verdict": SKIPPED, "note": "no such machine"
    }  # fmt: skip
    assert guard("case", lambda: 1 / 0)["verdict"] == FAILED


@pytest.mark.slow
def test_measurements_have_a_process_of_their_own():
    import os

    assert measure(os.getpid) != os.getpid()
    assert guard("case", measure, os._exit, 3)["note"] == "its process was ended"


@pytest.mark.parametrize("name", ["three lines", "hals"])
def test_errors_are_those_of_the_factors_with_best_scales(name):
    answer = rivals.program(name)(X, 3, 0)
    unit = answer.directions / np.linalg.norm(answer.directions, axis=1, keepdims=True)
    fit = [max(x @ unit[s], 0.0) * unit[s] for x, s in zip(X, answer.labels, strict=True)]
    error = np.sum((X - fit) ** 2) / np.sum(X**2)
    assert rivals.error_of(X, answer) == pytest.approx(error, rel=1e-9)


def test_errors_of_blocks_are_those_of_their_best_rank_one_matrices():
    blocks = make_planted(40, 12, 3, 0.1, "both", random_state=0).X
    answer = rivals.program("co-clustering")(blocks, 3, 0)
    fit = np.zeros_like(blocks)
    for label in range(3):
        place = np.ix_(answer.labels == label, answer.column_labels == label)
        if blocks[place].size:
            U, s, V = np.linalg.svd(blocks[place], full_matrices=False)
            fit[place] = s[0] * np.outer(U[:, 0], V[0])
    error = np.sum((blocks - fit) ** 2) / np.sum(blocks**2)
    assert rivals.error_of(blocks, answer) == pytest.approx(error, rel=1e-9)


def test_gaps_count_from_the_best_value_known_or_here():
    programs = (("orthonmf", 1.0, (0.11, 0.12)), ("three lines", 2.0, (0.1, 0.1)))
    rows = [
        {"set": "a", "orthogonal": "samples", "n_components": 2, "program": program, "seed": seed,
         "error": error, "seconds": seconds, "n_components_found": 2}
        for program, seconds, errors in programs
        for seed, error in enumerate(errors)
    ]  # fmt: skip
    frame = quality.with_gaps(pd.DataFrame(rows), {})
    ours, theirs = quality.by_case(frame).to_dict("records")
    assert ours["median_gap"] == pytest.approx(0.15)
    assert (ours["above"], ours["mark"], theirs["mark"]) == (2, "", "better")
    known = quality.with_gaps(pd.DataFrame(rows), {("a", "samples", 2): 0.2})
    assert quality.by_case(known)["mark"].tolist() == ["new best", "new best"]
    total = quality.by_setting(frame, quality.by_case(frame)).set_index("program")
    assert total.loc["three lines", "cpu_of_ours"] == 2.0
    assert total.loc["three lines", "rows_better"] == 1
    assert quality.gap(0.0, 0.0) == 0.0


@pytest.mark.slow
def test_quality_of_a_folder_goes_on_with_the_fits_it_has(tmp_path, monkeypatch, capsys):
    sets, out, best = tmp_path / "sets", tmp_path / "out", tmp_path / "best.json"
    sets.mkdir()
    np.save(sets / "my_set.npy", X)
    (sets / "bad.npy").write_bytes(b"nothing")
    command = [str(sets), "-k", "2,3", "--seeds", "0:1", "-o", str(out), "--ten", "1", "--lines=1"]
    assert quality.main([*command, "--write-best", str(best)]) == 0
    said = capsys.readouterr().out
    assert "bad is left out" in said
    assert "n_init=10" in said
    values = json.loads(best.read_text())["my-set"]["samples"]
    assert values["3"] < values["2"] < 1
    monkeypatch.setattr(quality, "fit_once", None)  # which would fail if it were called
    assert quality.main([*command, "--best-known", str(best)]) == 0
    table = pd.read_csv(out / "quality.csv")
    assert (table["largest_gap"] >= 0).all()
    assert len(table) == 2 * (4 + 4 + 2)


@pytest.mark.slow
def test_gaps_on_tables_count_from_the_best_call_in_the_folder(tmp_path, capsys):
    command = ["--tables", "1", "--pattern", "blocks", "-o", str(tmp_path)]
    assert tables.main([*command, "--starts", "2"]) == 0
    assert "share within 1 %" in capsys.readouterr().out
    kept = pd.read_csv(tmp_path / "tables-fits.csv")
    assert sorted(kept["starts"]) == [1, 2]
    found = tables.with_gaps(kept, kept.assign(error=kept["error"] / 2))
    assert found["gap"].tolist() == pytest.approx(
        [found["error"].iloc[0] * 2 / kept["error"].min() - 1]
    )
