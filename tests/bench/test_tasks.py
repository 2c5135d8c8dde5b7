"""What cannot be measure is told, and never left out."""

from dataclasses import replace

import pytest

from orthonmf.bench.data import Data
from orthonmf.bench.definition import BENCHMARKS, LONG, SPARSE, profiles_of, tasks_of
from orthonmf.bench.fits import Contest, Rival
from orthonmf.bench.measuring import MeasurementError, measure
from orthonmf.bench.memory import affordable, bytes_of
from orthonmf.bench.tasks import Progress, run
from orthonmf.errors import InvalidInputError
from orthonmf.fitting import factorize


def rows_of(task):
    told = []
    return list(run([task], Progress([task], told.append))), told


@pytest.mark.slow
def test_a_real_set_that_is_not_there_is_skipped_with_a_reason(monkeypatch):
    monkeypatch.delenv("ORTHONMF_DATA_HOME", raising=False)
    contest = Contest("sparse", SPARSE[0], (Rival("three lines", 2.0), Rival("sklearn NMF")))
    rows, told = rows_of(contest)
    assert [row.against for row in rows] == ["three lines", "sklearn NMF"]
    assert {row.verdict for row in rows} == {"skipped"}
    assert all("ORTHONMF_DATA_HOME" in row.note for row in rows)
    assert told[0].startswith("[1 of 6, 0:00] sparse: bow-kos k=6 float64")


@pytest.mark.slow
def test_a_rival_that_fails_is_a_row_and_the_next_one_is_measured():
    data = Data("planted", 60, 8, 2)
    rivals = (Rival("nobody", 3.0, 1), Rival("three lines", 1e9, 1))
    contest = Contest("small", data, rivals, n_seeds=1, n_rounds=1)
    (failed, compared), _ = rows_of(contest)
    assert failed.verdict == "failed"
    assert "No baseline is called 'nobody'" in failed.note
    assert "nobody" in failed.note
    assert compared.missed[-2:] == ["ratio", "ratio of fewest"]
    assert compared.verdict.endswith("ratio, ratio of fewest")
    figures = compared.figures
    ratio = figures["their_seconds"] / figures["seconds"]
    assert figures["ratio"] == pytest.approx(ratio)
    assert figures["certificate_seconds"] > 0


@pytest.mark.slow
def test_a_process_that_fails_says_why():
    with pytest.raises(MeasurementError, match="KeyError: 'no such job'"):
        measure("no such job")


def test_the_result_is_counted_once():
    found = factorize(Data("planted", 100, 10, 3).make(), 3, random_state=0)
    one_copy = found.components.nbytes + found.labels.nbytes + found.scales.nbytes
    assert bytes_of(found) == one_copy + found.loadings.indptr.nbytes


def test_the_size_of_the_memory_benchmark_fits_the_machine():
    assert affordable(10) == 10
    assert affordable(2**60) < 2**60


def test_names_choose_tasks_and_wrong_ones_are_refused():
    assert [task.benchmark for task in tasks_of("overhead")] == ["overhead"]
    short = [name for name in BENCHMARKS if name not in LONG]
    assert list(dict.fromkeys(task.benchmark for task in tasks_of(None))) == short
    tiny = tasks_of(None, tiny=True)
    assert list(dict.fromkeys(task.benchmark for task in tiny)) == list(BENCHMARKS)
    with pytest.raises(InvalidInputError, match=r"'sweep', 'small', 'large'.*got 'speed'"):
        tasks_of("speed")
    with pytest.raises(InvalidInputError, match="'small', 'large', 'sparse'; got 'sweep'"):
        profiles_of("sweep")


def test_matrices_are_the_same_for_every_contestant():
    for kind in ("planted", "blocks", "uniform", "sparse"):
        data = Data(kind, 30, 8, 2, density=0.5, dtype="float32")
        one, other = data.make(), data.make()
        assert one.dtype == "float32"
        assert abs(one - other).max() == 0
        assert one.shape == (30, 8)
        assert abs(one - replace(data, kind=kind).make(1)).max() > 0
