"""The experiments through their door: a tiny run from the command to the page, and resumption."""

import csv
import os
import re
import signal
import subprocess
import sys
import time
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest

from experiments import __main__ as command_line
from experiments import bounds, runner
from experiments.__main__ import main
from experiments.checks import AGREE, DIFFER, NEARLY
from experiments.claims import judge
from experiments.machine import machine
from experiments.measuring import KEY, measure
from experiments.paper import FULL, PUBLISHED, QUICK, Run, Setting, experiments, plan
from experiments.runner import ENVIRONMENT, RESULTS, read_sittings
from experiments.tables import read_results
from orthonmf.datasets import make_planted

ROOT = Path(__file__).parents[2]
TINY = ("experiment-2", "--quick", "--methods", "onmf-apx,best,nmf")
KEPT = ROOT / "experiments" / "results"


def rows(folder):
    with open(folder / RESULTS, newline="") as file:
        return list(csv.DictReader(file))


@pytest.fixture(autouse=True, scope="module")
def patience():
    """A busy machine ends no run by its limit."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(command_line, "QUICK", replace(QUICK, time_limit=600.0))
        yield


@pytest.fixture(scope="module")
def done(tmp_path_factory):
    folder = tmp_path_factory.mktemp("tiny")
    assert main([*TINY, "-o", str(folder)]) == 0
    return folder


@pytest.mark.slow
def test_a_command_ends_with_rows_summary_figure_and_page(done):
    found = rows(done)
    assert len(found) == 3 * 3 * 3  # noises, seeds, methods
    assert all(float(row["seconds"]) > 0 and float(row["recovery_error"]) > 0 for row in found)
    assert {row["non_orthogonality"] for row in found if row["method"] == "best"} == {"0.0"}
    summary = pd.read_csv(done / "summary.csv")
    assert (summary["runs"] == 3).all()
    text = (done / "README.md").read_text()
    assert "ONMF-apx is perfectly orthogonal" not in text  # a claim of another experiment
    assert "| Both ONMF-apx and ONMFS are perfectly orthogonal." in text
    assert "![Experiment 2" in text
    assert "<svg" in (done / "experiment-2.svg").read_text()


@pytest.mark.slow
def test_nothing_is_run_again_and_files_are_made_again_byte_by_byte(done):
    before = {path.name: path.read_bytes() for path in done.iterdir()}
    assert main([*TINY, "-o", str(done)]) == 0
    assert {path.name: path.read_bytes() for path in done.iterdir()} == before


@pytest.mark.slow
def test_runs_side_by_side_find_the_same_without_times_and_are_timed_later(done, tmp_path):
    one = ("experiment-2", "--quick", "--methods", "best", "-o", str(tmp_path))
    assert main([*one, "-j", "2"]) == 0
    found = {tuple(row[name] for name in KEY): row for row in rows(tmp_path)}
    assert {row["seconds"] for row in found.values()} == {""}
    alone = {tuple(row[name] for name in KEY): row for row in rows(done)}
    for key, row in found.items():
        assert row["reconstruction_error"] == alone[key]["reconstruction_error"]
    assert main(list(one)) == 0
    assert all(row["seconds"] for row in rows(tmp_path))


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="signals as on Unix")
def test_an_interrupt_leaves_whole_rows_and_the_command_goes_on(tmp_path):
    command = [sys.executable, "-m", "experiments", *TINY[:2], "-o", str(tmp_path)]
    process = subprocess.Popen(command, cwd=ROOT, stderr=subprocess.PIPE, text=True, env=os.environ)
    path = tmp_path / RESULTS
    while process.poll() is None and (not path.exists() or path.read_text().count("\n") < 3):
        time.sleep(0.02)
    process.send_signal(signal.SIGINT)
    assert "the same command goes on" in process.communicate()[1]
    assert process.returncode == 130
    before = path.read_text()
    assert before.endswith("\n")
    assert main([*TINY, "-o", str(tmp_path)]) == 0
    assert path.read_text().startswith(before)
    keys = [tuple(row[name] for name in KEY) for row in rows(tmp_path)]
    assert len(keys) == len(set(keys))


def test_a_file_that_is_no_journal_is_refused_and_left(tmp_path):
    (tmp_path / RESULTS).write_text("name,value\n1,2\n")
    with pytest.raises(ValueError, match="line 1 is not experiment,dataset"):
        main([*TINY, "-o", str(tmp_path)])
    assert (tmp_path / RESULTS).read_text() == "name,value\n1,2\n"


def test_a_method_that_no_experiment_runs_is_refused(tmp_path):
    with pytest.raises(ValueError, match="runs a method called 'nmff'"):
        main(["experiment-2", "--methods", "nmff", "-o", str(tmp_path)])
    with pytest.raises(ValueError, match="called 'nmf'"):  # no baseline is over features
        main(["real-data", "--methods", "nmf", "-o", str(tmp_path)])


def test_the_plan_is_the_papers():
    full = experiments(FULL)
    assert list(full) == [
        "experiment-1", "experiment-2", "inner-dimensions", "double-factor", "real-data"
    ]  # fmt: skip
    runs = plan(full.values())
    assert len({run.key for run in runs}) == len(runs) == 2232
    assert [run.seed for run in runs] == sorted(run.seed for run in runs)
    assert len(plan(experiments(QUICK).values())) < len(runs) / 5


def test_a_limit_ends_ours_and_a_set_that_is_not_there_is_told(tmp_path):
    setting = Setting("planted", "samples", 3000, 100, 10, 0.5)
    row = measure(Run("experiment-1", setting, 0, "best", 1e-4))
    assert (row["stop_reason"], row.get("recovery_error")) == ("time_limit", None)
    kos = Run("real-data", Setting("bow-kos", "samples", 3430, 6906, 6), 0, "best", 30.0)
    (tmp_path / "bow_kos.npz").write_bytes(b"damaged")
    assert measure(kos, tmp_path)["stop_reason"].startswith("not measured: ")


def test_the_kept_page_is_that_of_the_kept_rows():
    verdicts = [verdict for judged in judge(read_results(KEPT / RESULTS)).values()
                for _, verdict in judged]  # fmt: skip
    counts = Counter(verdict.verdict for verdict in verdicts)
    text = (KEPT / "README.md").read_text()
    told = re.search(r"Of (\d+) claims .*? (\d+) agree.*?, (\d+) nearly, (\d+) differ", text)
    assert [int(number) for number in told.groups()] == [
        len(verdicts), counts[AGREE], counts[NEARLY], counts[DIFFER]
    ]  # fmt: skip
    assert len(verdicts) == 41
    assert sum(path.stat().st_size for path in KEPT.iterdir()) < 1.5e6


@pytest.mark.slow
def test_rows_of_other_code_are_not_gone_on_with(done, monkeypatch):
    command = [*TINY, "-o", str(done)]
    rows_before = (done / RESULTS).read_bytes()
    assert "minutes" in read_sittings(done / ENVIRONMENT)[0]
    monkeypatch.setattr(runner, "machine", lambda: machine() | {"code": "another"})
    with pytest.raises(ValueError, match="other code of the library; name another folder"):
        main(command)
    assert main([*command, "--page-only"]) == 0
    assert (done / RESULTS).read_bytes() == rows_before


def test_bounds_stand_next_to_our_errors_and_the_published_ones(tmp_path, monkeypatch):
    X = make_planted(30, 12, 6, 0.3, random_state=0).X
    monkeypatch.setattr(bounds, "PUBLISHED", {"mfeat-pix": PUBLISHED["mfeat-pix"]})
    monkeypatch.setattr(bounds, "load_uci", lambda name, home: X)
    bounds.prove(tmp_path, 5.0)
    table = bounds.table_of_bounds(tmp_path, {("mfeat-pix", "samples"): 0.2})
    assert table["Orthogonal over"].tolist() == ["samples", "features"]
    assert all(float(cell.split(", ")[1]) >= 1 for cell in table["orthonmf (best)"])
    assert bounds.times(0.20001, 0.1) == "0.2000, 2.001"
    assert bounds.times(0.2, 0.3) == "0.2000, below the bound"
