"""A runner can be ended anywhere and goes on: no row lost, none repeated, the same numbers."""

import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest

from orthonmf.errors import InvalidInputError
from orthonmf.reproduction.definition import Method, Setting, plan_all
from orthonmf.reproduction.rows import HEADER, ResultsFile, read_rows
from orthonmf.reproduction.runner import carry_out, rows_on_disk
from tests.reproduction.tiny import RUNS, TINY

pytestmark = pytest.mark.slow  # all together take long

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def unbroken(tmp_path_factory):
    """The rows of the tiny experiment, run from start to end."""
    folder = tmp_path_factory.mktemp("unbroken")
    carry_out(RUNS, folder)
    return read_rows(folder / "results.csv")


def untimed(rows):
    """Rows by run, without what depends on the machine's speed."""
    return {row.key: replace(row, seconds=None, serial=0) for row in rows}


def start(folder, jobs):
    return subprocess.Popen(
        [sys.executable, "-m", "tests.reproduction.tiny", str(folder), str(jobs)],
        cwd=ROOT, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip


def wait_for_rows(process, folder, n_rows):
    path = folder / "results.csv"
    while not path.exists() or path.read_bytes().count(b"\n") < n_rows + 1:
        assert process.poll() is None, process.stderr.read()
        time.sleep(0.002)


def children_of(process):
    listed = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text()
    return [int(number) for number in listed.split()]


def is_running(number):
    try:
        return "\nState:\tZ" not in Path(f"/proc/{number}/status").read_text()
    except FileNotFoundError:
        return False


@pytest.mark.slow
def test_every_run_has_one_row_in_the_order_of_the_plan(unbroken):
    assert [row.key for row in unbroken] == [run.key for run in RUNS]
    assert all(row.serial == 1 and row.seconds > 0 for row in unbroken)
    assert all(row.reconstruction_error > 0 for row in unbroken)


@pytest.mark.slow
def test_a_killed_runner_goes_on_without_losing_or_repeating_a_row(unbroken, tmp_path):
    for n_rows in (3, 9):
        process = start(tmp_path, 1)
        wait_for_rows(process, tmp_path, n_rows)
        before = (tmp_path / "results.csv").read_bytes()
        process.send_signal(signal.SIGKILL)
        process.communicate()
        assert process.returncode == -signal.SIGKILL
        killed = (tmp_path / "results.csv").read_bytes()
        assert killed.startswith(before)
        assert n_rows <= len(read_rows(tmp_path / "results.csv")) < len(RUNS)
    carry_out(RUNS, tmp_path)
    content = (tmp_path / "results.csv").read_bytes()
    assert content.startswith(killed[: killed.rfind(b"\n") + 1])
    assert content.count(b"\n") == 1 + len(RUNS)
    assert untimed(read_rows(tmp_path / "results.csv")) == untimed(unbroken)


@pytest.mark.slow
def test_a_row_torn_by_a_kill_is_made_again(unbroken, tmp_path):
    results = ResultsFile(tmp_path / "results.csv")
    for row in unbroken[:-2]:
        results.add(row)
    whole = results.path.read_bytes()
    results.path.write_bytes(whole[:-20])
    carry_out(RUNS, tmp_path)
    assert results.path.read_bytes().count(b"\n") == 1 + len(RUNS)
    assert read_rows(results.path)[:-3] == unbroken[:-3]
    assert untimed(read_rows(results.path)) == untimed(unbroken)


@pytest.mark.slow
def test_what_is_done_is_not_done_again(unbroken, tmp_path):
    results = ResultsFile(tmp_path / "results.csv")
    for row in unbroken:
        results.add(row)
    before, seen = results.path.read_bytes(), []
    carry_out(RUNS, tmp_path, report=seen.append)
    assert results.path.read_bytes() == before
    assert [(now.done, now.total, now.row) for now in seen] == [(len(RUNS), len(RUNS), None)]


@pytest.mark.slow
def test_several_processes_give_the_same_rows_without_times_which_come_later(unbroken, tmp_path):
    runs = [run for run in RUNS if run.method != "onmfs"]  # which takes longest
    expected = untimed(row for row in unbroken if row.method != "onmfs")
    carry_out(runs, tmp_path, jobs=2)
    rows = read_rows(tmp_path / "results.csv")
    assert all(row.seconds is None and row.serial == 0 for row in rows)
    assert untimed(rows) == expected
    carry_out(runs, tmp_path, jobs=2)
    assert len((tmp_path / "results.csv").read_text().splitlines()) == 1 + len(runs)
    carry_out(runs, tmp_path)
    timed = read_rows(tmp_path / "results.csv")
    assert len(timed) == len(runs) == 12
    assert all(row.seconds > 0 and row.serial == 1 for row in timed)
    assert untimed(timed) == expected


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="needs /proc")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_no_worker_outlives_its_parent(number, tmp_path):
    process = start(tmp_path, 2)
    wait_for_rows(process, tmp_path, 1)
    workers = children_of(process)
    assert len(workers) >= 2
    process.send_signal(number)
    process.communicate()
    while any(map(is_running, workers)):
        time.sleep(0.01)
    assert len(read_rows(tmp_path / "results.csv")) >= 1


def test_a_method_that_fails_is_recorded_and_the_others_go_on(tmp_path):
    methods = (Method("no-such-method", (0,), 30.0), Method("hals", (0,), 30.0))
    runs = plan_all([replace(TINY, methods=methods)])
    carry_out(runs, tmp_path)
    failed = [row.stop_reason.startswith("failed: ") for row in rows_on_disk(runs, tmp_path)]
    assert failed == [True, False, True, False]
    before = (tmp_path / "results.csv").read_bytes()
    carry_out(runs, tmp_path)
    assert (tmp_path / "results.csv").read_bytes() == before


def test_what_could_not_be_measured_is_tried_again_and_told_once(tmp_path):
    settings = (Setting("no-such-set", "samples", 5, 4, 2),)
    runs = plan_all([replace(TINY, settings=settings, methods=TINY.methods[:1])])
    seen = []
    for _ in range(2):
        carry_out(runs, tmp_path, data_home=tmp_path, report=seen.append)
    rows = rows_on_disk(runs, tmp_path)
    assert len(rows) == len(runs) == 2
    assert all(row.stop_reason.startswith("not measured: ") for row in rows)
    assert len((tmp_path / "results.csv").read_text().splitlines()) == 1 + 2
    assert len(seen) == 2 * (1 + 2)


@pytest.mark.slow
def test_a_folder_has_one_runner_at_a_time(unbroken, tmp_path):
    fcntl = pytest.importorskip("fcntl")
    with open(tmp_path / ".lock", "a") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        with pytest.raises(InvalidInputError, match="another runner is at work"):
            carry_out(RUNS[:1], tmp_path)
        assert not (tmp_path / "results.csv").exists()
    carry_out(RUNS[:1], tmp_path)
    assert untimed(read_rows(tmp_path / "results.csv")) == untimed(unbroken[:1])


def test_results_of_somebody_else_are_refused(tmp_path):
    (tmp_path / "results.csv").write_text("a,b\n1,2\n")
    with pytest.raises(InvalidInputError, match="not the header"):
        carry_out(RUNS, tmp_path)
    assert sorted(os.listdir(tmp_path)) == [".lock", "results.csv"]


def test_progress_counts_every_row_and_ends_with_nothing_left(tmp_path):
    seen = []
    carry_out(RUNS[:4], tmp_path, report=seen.append)
    assert [now.done for now in seen] == [0, 1, 2, 3, 4]
    assert seen[0].seconds_left is None
    assert all(now.seconds_left > 0 for now in seen[1:-1])
    assert seen[-1].seconds_left == 0
    assert (tmp_path / "results.csv").read_text().startswith(HEADER)
