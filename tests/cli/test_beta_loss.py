"""Counts on the command line: one option, and results that speak of information."""

import json

import numpy as np
import pytest

from tests.topics import topics

LOSS = ("--beta-loss", "kullback-leibler")


@pytest.fixture
def counts(tmp_path):
    np.savetxt(tmp_path / "counts.csv", topics(60, 30, 3)[0], delimiter=",", fmt="%d")
    return "counts.csv"


def test_fit_transform_and_select_take_the_divergence(counts, run, tmp_path):
    done = run("fit", counts, "-k", "3", *LOSS, "-o", "out", "--seed", "0", "--report")
    assert "share of the information lost" in done.out
    assert "energy" not in done.out
    summary = json.loads((tmp_path / "out" / "summary.json").read_text())
    assert summary["beta_loss"] == "kullback-leibler"
    assert summary["relative_squared_error"] is None
    assert summary["captured"] == pytest.approx(1 - summary["relative_error"])
    told = json.loads(run("transform", "out", counts, "--json").out)
    assert sum(told["rows_per_component"]) == 60
    assert told["captured"] == pytest.approx(summary["captured"])
    done = run(
        "select-k", counts, "--k", "2:4", *LOSS, "--seed", "0", "--repetitions", "1", "-o", "out"
    )
    assert "held out" in done.out.splitlines()[0]
    assert "suggested: 3, the number that loses least of held-out counts" in done.out
    tried = json.loads((tmp_path / "out" / "selection.json").read_text())["candidates"]
    assert tried[1]["held_out_error"] == min(each["held_out_error"] for each in tried)
    run("report", "out", code=0)
    page = (tmp_path / "out" / "report.html").read_text()
    assert "held-out counts" in page
    assert "Agreement of two halves of the counts" in page


def test_certify_judges_labels_by_the_divergence(counts, run, tmp_path):
    (tmp_path / "labels.txt").write_text("".join(f"{row % 3}\n" for row in range(60)))
    words = ("certify", counts, "--labels", "labels.txt", "--certificate", "svd", "--json")
    told = json.loads(run(*words, *LOSS).out)
    assert "divergence" in told["certificate"]["sentence"]
    assert told["relative_error"] < 0.5
    assert "relative_squared_error" in json.loads(run(*words).out)
