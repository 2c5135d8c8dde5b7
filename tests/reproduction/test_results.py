"""What is published from a folder of results, whatever part of them is there."""

import csv
from dataclasses import replace

import pytest

from orthonmf.errors import InvalidInputError
from orthonmf.reproduction.results import publish, summary_csv
from orthonmf.reproduction.rows import FAILED
from orthonmf.reproduction.summary import EXPERIMENTS, Measured
from tests.reproduction.made_results import made_rows, small, write_results

MEASURES = (
    "recovery_error", "reconstruction_error", "relative_squared_error", "non_orthogonality",
    "column_non_orthogonality", "seconds", "planted_error",
)  # fmt: skip


def summary_of(rows):
    return list(csv.DictReader(summary_csv(Measured(rows)).splitlines()))


def nmf_row(seed=0, **changes):
    (row,) = [
        row
        for row in made_rows()
        if (row.experiment, row.method, row.noise, row.seed) == ("experiment-1", "nmf", 0.1, seed)
    ]
    return replace(row, **changes)


def test_a_summary_has_median_range_and_count():
    errors = (3.0, 1.0, 10.0, 2.0)
    rows = [nmf_row(seed, recovery_error=error) for seed, error in enumerate(errors)]
    rows[0] = replace(rows[0], stop_reason="time_limit", seconds=None, serial=0)
    (line,) = summary_of(rows)
    assert (line["experiment"], line["method"], line["noise"]) == ("experiment-1", "nmf", "0.1")
    found = [line[f"recovery_error_{one}"] for one in ("median", "minimum", "maximum", "count")]
    assert found == ["2.5", "1.0", "10.0", "4"]
    assert (line["runs"], line["cut"], line["failed"]) == ("4", "1", "0")
    assert line["seconds_count"] == "3"


def test_failed_runs_and_numbers_that_are_none_have_no_measures():
    empty = dict.fromkeys(MEASURES)
    rows = [
        nmf_row(0, **empty, stop_reason=f"{FAILED}it diverged"),
        nmf_row(1, reconstruction_error=float("nan"), relative_squared_error=float("inf")),
    ]
    (line,) = summary_of(rows)
    assert (line["runs"], line["failed"], line["reconstruction_error_count"]) == ("2", "2", "0")
    assert line["reconstruction_error_median"] == ""
    assert line["recovery_error_count"] == "1"


def test_the_longest_limit_counts_and_of_equal_ones_the_last():
    rows = [
        nmf_row(recovery_error=1.0, time_limit=30.0),
        nmf_row(recovery_error=2.0, time_limit=30.0),
        nmf_row(recovery_error=3.0, time_limit=5.0),
    ]
    (line,) = summary_of(rows)
    assert (line["recovery_error_median"], line["runs"]) == ("2.0", "1")


def test_all_runs_are_in_the_summary_once():
    rows = made_rows()
    lines = summary_of(rows)
    measured = [row for row in rows if row.dataset != "pems-train"]
    assert sum(int(line["runs"]) for line in lines) == len(measured)
    assert [line["experiment"] for line in lines] == sorted(
        (line["experiment"] for line in lines),
        key=EXPERIMENTS.index,
    )


@pytest.mark.slow
def test_everything_is_written(tmp_path):
    folder = write_results(tmp_path / "r", filter(small, made_rows()))
    written = publish(folder)
    figures = [f"{name}.{kind}" for name in EXPERIMENTS for kind in ("svg", "png")]
    assert [path.name for path in written] == ["summary.csv", "summary.tex", *figures, "index.html"]
    assert {path.name for path in folder.iterdir()} == {
        "results.csv", "environment.json", *(path.name for path in written),
    }  # fmt: skip


@pytest.mark.slow
def test_what_is_written_again_is_the_same(tmp_path):
    rows = (row for row in made_rows() if row.experiment == "experiment-2" and small(row))
    folder = write_results(tmp_path / "r", rows)
    written = publish(folder)
    before = {path: path.read_bytes() for path in written}
    assert publish(folder) == written
    assert {path: path.read_bytes() for path in written} == before


@pytest.mark.slow
def test_few_rows_are_enough(tmp_path):
    folder = write_results(tmp_path / "one", [nmf_row(seconds=None)], environment=None)
    names = [path.name for path in publish(folder)]
    figures = ["experiment-1.svg", "experiment-1.png"]
    assert names == ["summary.csv", "summary.tex", *figures, "index.html"]
    text = (folder / "index.html").read_text()
    assert "1 of 630 runs are in." in text
    assert "The environment was not recorded." in text
    assert "timed serially only: 0 of 1 runs" in text


def test_no_rows_are_enough_too(tmp_path):
    folder = write_results(tmp_path / "none", [])
    assert [path.name for path in publish(folder)] == ["summary.csv", "summary.tex", "index.html"]


@pytest.mark.slow
def test_sets_that_cannot_be_had_alone_are_reported(tmp_path):
    rows = [row for row in made_rows() if row.dataset == "pems-train"]
    folder = write_results(tmp_path / "pems", rows)
    assert (folder / "real-data.png") in publish(folder)
    text = (folder / "index.html").read_text()
    assert "0 of 552 runs are in. pems-train: 92 runs not measured: the set cannot be had." in text


def test_an_unknown_experiment_is_an_error_and_nothing_is_written(tmp_path):
    folder = write_results(tmp_path / "odd", [nmf_row(experiment="experiment-9")])
    with pytest.raises(InvalidInputError, match="no experiment is called 'experiment-9'"):
        publish(folder)
    assert sorted(path.name for path in folder.iterdir()) == ["environment.json", "results.csv"]
