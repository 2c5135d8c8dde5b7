"""One set becomes its rows; what cannot be read or fitted is a row that says so."""

import numpy as np
import pytest

from orthonmf.bench.quality.best_known import BestKnown, Case
from orthonmf.bench.quality.journal import FitJournal
from orthonmf.bench.quality.sets import NamedSet, sets_of_paper
from orthonmf.bench.quality.task import Grid, QualityTask
from orthonmf.bench.tasks import Progress, run


@pytest.fixture
def X():
    return np.random.default_rng(0).random((12, 5))


@pytest.fixture
def rows_of(tmp_path):
    def rows_of(load, grid, known=None):
        journal = FitJournal(tmp_path / "fits.jsonl")
        held = NamedSet("a", load, "folder/a.npy")
        task = QualityTask(held, grid, BestKnown(known or {}), journal)
        told = []
        return list(run([task], Progress([task], told.append))), told

    return rows_of


def test_every_setting_and_number_is_a_row_with_all_who_take_part(X, rows_of):
    grid = Grid(["samples", "both"], [2, 3], [7, 8])
    rows, told = rows_of(lambda: X, grid, {Case("a", "samples", 2): 1e-3})
    assert [row.case for row in rows] == [
        "a samples k=2", "a samples k=3", "a both k=2", "a both k=3",
    ]  # fmt: skip
    counts = [
        {name: one["n_fits"] for name, one in row.figures["programs"].items()} for row in rows
    ]
    assert counts[0] == {"orthonmf": 2, "three lines": 2}
    assert counts[2] == {"orthonmf": 2}
    assert [row.figures["best_is_known"] for row in rows] == [True, False, False, False]
    assert len(told) == 12
    assert told[-1].startswith("[12 of 12,")


def test_ten_tournaments_take_part_with_the_first_seeds():
    grid = Grid(["samples", "both"], [2], [7, 8, 9], n_ten=1)
    samples, both = (grid.programs(case) for case in grid.cases("a"))
    assert samples == {"orthonmf": [7, 8, 9], "three lines": [7, 8, 9], "n_init=10": [7]}
    assert both == {"orthonmf": [7, 8, 9], "n_init=10": [7]}


def test_fits_of_the_journal_are_not_done_again(X, rows_of, tmp_path):
    few, more = Grid(["samples"], [2], [0]), Grid(["samples"], [2], [0, 1])
    (first,), _ = rows_of(lambda: X, few)
    kept = (tmp_path / "fits.jsonl").read_text()
    rows_of(lambda: X, more)
    held = (tmp_path / "fits.jsonl").read_text()
    assert held.startswith(kept)
    assert len(held.splitlines()) == len(kept.splitlines()) + 2
    rows_of(lambda: X, more)
    assert (tmp_path / "fits.jsonl").read_text() == held
    (changed,), _ = rows_of(lambda: X**2, few)  # another matrix under the same name
    assert changed.figures["best_found"] != first.figures["best_found"]


def test_an_interrupt_between_two_fits_loses_none(X, rows_of, tmp_path):
    grid = Grid(["samples"], [2], [0, 1, 2])
    (whole,), _ = rows_of(lambda: X, grid)
    path = tmp_path / "fits.jsonl"
    lines = path.read_text().splitlines(keepends=True)
    path.write_text("".join(lines[:3]) + lines[3][:20])  # a header, two fits, a torn line
    (again,), _ = rows_of(lambda: X, grid)
    assert path.read_text().startswith("".join(lines[:3]))
    assert len(path.read_text().splitlines()) == len(lines)
    for name, one in whole.figures["programs"].items():
        assert again.figures["programs"][name]["gaps"] == one["gaps"]


def test_a_rival_that_fails_is_told_and_the_row_is_there(X, rows_of):
    (row,), _ = rows_of(lambda: X, Grid(["features"], [9], [0, 1]))
    assert list(row.figures["programs"]) == ["orthonmf"]
    assert row.note.startswith("three lines failed: n_samples=5 should be >= n_clusters=9")


def no_file():
    raise FileNotFoundError(2, "No such file", "folder/a.npy")


def test_the_sets_of_the_paper_are_asked_for_where_they_are_absent(rows_of, monkeypatch):
    monkeypatch.delenv("ORTHONMF_DATA_HOME", raising=False)
    (row,), _ = rows_of(sets_of_paper()[0].load, Grid(["both"], [6], [0]))
    assert row.verdict == "skipped"
    assert "set ORTHONMF_DATA_HOME to the folder that holds the sets" in row.note


@pytest.mark.parametrize(
    ("load", "why"),
    [
        (no_file, "No such file: 'folder/a.npy'"),
        (lambda: np.full((3, 2), -1.0), r"folder/a.npy: Negative values.*X\[0, 0\]"),
        (lambda: np.full((3, 2), np.nan), "folder/a.npy: "),
    ],
)
def test_a_set_that_cannot_be_had_is_one_row_with_the_reason(load, why, rows_of):
    (row,), told = rows_of(load, Grid(["samples", "both"], [2, 3], [0]))
    assert row.verdict == "skipped"
    assert told == []
    with pytest.raises(AssertionError, match=why):
        raise AssertionError(row.note)
