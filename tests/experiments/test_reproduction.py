"""The experiments through their door: a tiny run from the command to the page, and resumption."""

import csv
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pandas as pd
import pytest

from experiments.__main__ import main
from experiments.measuring import COLUMNS, KEY, measure
from experiments.paper import FULL, QUICK, Run, Setting, experiments, plan
from experiments.runner import RESULTS

ROOT = Path(__file__).parents[2]
TINY = ("experiment-2", "--quick", "--methods", "onmf-apx,best,nmf")
KEPT = ROOT / "experiments" / "results"


def rows(folder):
    with open(folder / RESULTS, newline="") as file:
        return list(csv.DictReader(file))


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
    assert (done / "experiment-2.svg").read_text().startswith("<svg")


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
    assert all(row["seconds"] for row in rows(tmp_path)[9:])


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
    path.write_text(before[:-5])  # as a crash in the middle of a line would leave it
    assert main([*TINY, "-o", str(tmp_path)]) == 0
    assert path.read_text().startswith("".join(before.splitlines(keepends=True)[:-1]))
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
    with open(KEPT / RESULTS) as file:
        assert file.readline().strip() == ",".join(COLUMNS)
    text = (KEPT / "README.md").read_text()
    verdicts = re.search(r"Of (\d+) claims .*? (\d+) agree.*?, (\d+) nearly, (\d+) differ", text)
    assert [int(one) for one in verdicts.groups()] == [41, 22, 4, 13]
    assert sum(path.stat().st_size for path in KEPT.iterdir()) < 1e6
