"""``orthonmf bench`` as users run it, on sizes that take a moment."""

import json
import signal
import subprocess
import sys

import pytest

import orthonmf
from orthonmf.bench.definition import BENCHMARKS
from tests.cli.running import COMMAND, ENVIRONMENT


def bench(*arguments, cwd):
    return subprocess.run(
        [*COMMAND, "bench", *arguments], cwd=cwd, capture_output=True, text=True,
        env=ENVIRONMENT,
    )  # fmt: skip


# Most processes that measure are forked from one that has imported everything, which is quick.
# What no other test starts as it is started for users is started so here.
MOSTLY_FORKED = """
import io, json, multiprocessing, subprocess, sys
from orthonmf.bench import worker
from orthonmf.cli.main import main

fresh, forks = subprocess.run, multiprocessing.get_context("fork")

def work(pipe, said):
    sys.stdin, sys.stdout = io.StringIO(said), io.StringIO()
    worker.main()
    pipe.send(sys.stdout.getvalue())

def run(command, *, input="", **options):
    order = json.loads(input or "{}")
    seen = order.get("job"), order.get("arguments", {}).get("place")
    if worker.__name__ not in command or seen in FRESH:
        FRESH.discard(seen)
        return fresh(command, input=input, **options)
    ours, theirs = forks.Pipe()
    process = forks.Process(target=work, args=(theirs, input))
    process.start()
    theirs.close()
    answer = ours.recv()
    process.join()
    return subprocess.CompletedProcess(command, process.exitcode, answer, "")

FRESH = {("sizes", None), ("peak", None), ("place", "Dask, two processes")}
subprocess.run = run
try:
    main()
finally:
    assert not FRESH
"""


@pytest.mark.slow
def test_every_benchmark_runs_on_tiny_sizes(tmp_path):
    done = subprocess.run(
        [sys.executable, "-c", MOSTLY_FORKED, "bench", "--tiny"], cwd=tmp_path,
        capture_output=True, text=True, env=ENVIRONMENT,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    rows_are_complete(done, tmp_path / "orthonmf-bench")
    tables_fit_and_progress_counts_to_the_end(done, tmp_path / "orthonmf-bench")


def rows_are_complete(done, folder):
    held = json.loads((folder / "bench.json").read_text())
    assert held["orthonmf"] == orthonmf.__version__
    assert held["tiny"] is True
    assert held["machine"]["cores"] >= 1
    rows = held["rows"]
    assert list(dict.fromkeys(row["benchmark"] for row in rows)) == list(BENCHMARKS)
    assert all(row["goals"] == [] for row in rows)
    skipped = [row for row in rows if row["verdict"] == "skipped"]
    assert {row["benchmark"] for row in skipped} <= {"gpu"}  # where there is none
    assert all("torch" in row["note"] for row in skipped)
    rows = [row for row in rows if row["benchmark"] != "gpu"]
    assert {row["verdict"] for row in rows} == {"not judged"}
    for row in rows:
        for name in ("error", "their_error"):
            if name in row["figures"]:
                assert 0 < row["figures"][name] < 1, row
    contests = [row["figures"] for row in rows if "their_seconds" in row["figures"]]
    assert len(contests) == 7
    for figures in contests:
        assert figures["ratio"] == pytest.approx(figures["their_seconds"] / figures["seconds"])
        assert figures["certificate_seconds"] > 0
    places = [row["figures"] for row in rows if row["benchmark"] == "places"]
    assert len(places) == 7
    assert all(figures["same_bits"] for figures in places)
    assert f"rows: {len(rows)} not judged" in done.stdout or not skipped


def tables_fit_and_progress_counts_to_the_end(done, folder):
    assert max(map(len, done.stdout.splitlines())) <= 80
    assert held_by(done.stdout, BENCHMARKS)
    lines = done.stderr.splitlines()
    total = int(lines[0].split()[2].rstrip(","))
    assert [int(line.split()[0][1:]) for line in lines] == list(range(1, total + 1))
    text = (folder / "bench.md").read_text()
    assert all(f"## {name}\n" in text for name in BENCHMARKS)
    assert {one.name for one in folder.iterdir()} == {"bench.json", "bench.md"}


def held_by(text, names):
    titles = {line.strip() for line in text.splitlines()}
    return set(names) <= titles


@pytest.mark.slow
def test_the_profile_of_one_fit_adds_up(tmp_path):
    done = bench("--profile", "--tiny", "small", "-o", "out", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert max(map(len, done.stdout.splitlines())) <= 80
    (row,) = json.loads((tmp_path / "out" / "profile.json").read_text())["rows"]
    assert sum(row["figures"]["shares"].values()) == pytest.approx(1.0, rel=1e-9)
    assert (tmp_path / "out" / "profile.md").exists()


def test_an_unknown_name_is_refused_and_the_names_are_told(run, tmp_path):
    done = run("bench", "speed")
    assert done.code == 2
    assert all(name in done.err for name in BENCHMARKS)
    assert list(tmp_path.iterdir()) == []


def test_a_file_of_somebody_else_is_not_replaced(run, tmp_path):
    (tmp_path / "bench.md").write_text("mine")
    done = run("bench", "overhead", "--tiny", "-o", ".")
    assert done.code == 2
    assert "did not write" in done.err
    assert (tmp_path / "bench.md").read_text() == "mine"


@pytest.mark.slow
def test_an_interrupt_keeps_the_rows_that_are_done(tmp_path):
    process = subprocess.Popen(
        [*COMMAND, "bench", "--tiny"], cwd=tmp_path, env=ENVIRONMENT,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    for line in process.stderr:
        if line.startswith("[2 of"):
            break
    process.send_signal(signal.SIGINT)
    _, said = process.communicate()
    assert process.returncode == 130
    assert "interrupted" in said
    rows = json.loads((tmp_path / "orthonmf-bench" / "bench.json").read_text())["rows"]
    assert rows[0]["benchmark"] == "sweep"
    assert {row["benchmark"] for row in rows} < set(BENCHMARKS)
