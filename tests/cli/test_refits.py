"""``fit --refits``: what refits say in the files, on the page, and in the terminal."""

import json

import numpy as np
import pytest

import orthonmf
from tests.cli.running import check_refused, rows_of


@pytest.fixture
def folder(run, table):
    """What fit wrote with refits over both sides, and the page."""
    told = run("fit", table, "-k", 3, "--orthogonal", "both", "--refits", 6, "--seed", 0,
               "--report", "-o", "out")  # fmt: skip
    assert told.code == 0, told.err
    assert "of the rows keep their group in at least 5 of 6 refits." in " ".join(told.out.split())
    return table.parent / "out"


def test_tables_model_summary_and_page_tell_the_same(folder, blocks):
    stability = orthonmf.load(folder / "stability.npz")
    result = orthonmf.load(folder / "model.npz")
    again = result.refit(blocks, 6, random_state=0)
    np.testing.assert_array_equal(again.samples.counts, stability.samples.counts)
    for name, certainty in (
        ("assignments.csv", stability.certainty),
        ("features.csv", stability.feature_certainty),
    ):
        assert [float(row["certainty"]) for row in rows_of(folder / name)] == certainty.tolist()
    assert [int(row["second"]) for row in rows_of(folder / "assignments.csv")] == (
        stability.second.tolist()
    )
    told = json.loads((folder / "summary.json").read_text())["refits"]
    assert told["summary"] == stability.summary()
    assert told["agreement"] == stability.agreement
    assert stability.summary() in (folder / "report.html").read_text()


def test_the_page_is_made_again_with_refits_and_a_later_fit_without_removes_them(
    run, folder, table
):
    (folder / "report.html").unlink()
    run("report", "out", code=0)
    assert "Would these groups come back?" in (folder / "report.html").read_text()
    X = np.random.default_rng(0).random((30, 12))
    orthonmf.save(
        orthonmf.factorize(X, 3, random_state=0).refit(X, 2, random_state=0),
        folder / "stability.npz",
    )
    check_refused(run("report", "out"), "refits of the model")
    run("fit", table, "-k", 3, "-o", "out", code=0)
    assert not (folder / "stability.npz").exists()
    assert "certainty" not in (folder / "assignments.csv").read_text()
    assert json.loads((folder / "summary.json").read_text())["refits"] is None


def test_weights_and_preparation_go_along_and_one_refit_is_refused(run, table):
    run("fit", table, "-k", 3, "--weights", "chi-square", "--log1p", "--refits", 2, code=0)
    check_refused(run("fit", table, "-k", 3, "--refits", 1), "--refits 1")


def test_select_k_tells_refits_next_to_halves_in_the_terminal_and_on_the_page(run, table):
    asked = ("select-k", table, "--k", "2:3", "--repetitions", 1, "--seed", 0)
    assert "refits" not in run(*asked).out
    told = run(*asked, "--refits", 3, "-o", "out")
    assert "refits" in told.out.splitlines()[0]
    candidates = json.loads((table.parent / "out" / "selection.json").read_text())["candidates"]
    assert all(-1 <= candidate["refit_agreement"] <= 1 for candidate in candidates)
    run("fit", table, "-k", 3, "-o", "out", "--report", code=0)
    assert "refits (adjusted Rand index)" in (table.parent / "out" / "report.html").read_text()
