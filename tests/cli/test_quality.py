"""``orthonmf bench quality`` as users run it, on a folder of small matrices."""

import json
import signal
import subprocess

import numpy as np
import pytest
from scipy.io import mmwrite
from scipy.sparse import coo_array

from tests.cli.running import COMMAND, ENVIRONMENT

pytestmark = pytest.mark.slow  # all together take long


@pytest.fixture
def folder(tmp_path, blocks):
    """Three matrices of different formats."""
    folder = tmp_path / "sets"
    folder.mkdir()
    rng = np.random.default_rng(0)
    np.save(folder / "dense_one.npy", rng.random((16, 6)).astype(np.float32))
    mmwrite(folder / "holes.mtx", coo_array(blocks * (blocks > 1)))
    np.savetxt(folder / "table.csv", rng.random((12, 5)), delimiter=",")
    return folder


def results(folder):
    rows = json.loads((folder / "quality.json").read_text())["rows"]
    return [row for row in rows if row["benchmark"] == "quality"]


def test_a_folder_gives_a_table_that_fits_a_terminal(run, folder, tmp_path):
    known = tmp_path / "known.json"
    known.write_text('{"dense-one": {"samples": {"2": 0.9}}, "table": {"samples": {"2": 0.01}}}')
    done = run("bench", "quality", "sets", "-k", "2", "--seeds", "3", "-o", "out",
               "--orthogonal", "samples", "--best-known", "known.json")  # fmt: skip
    assert done.code == 0, done.err
    assert max(map(len, done.out.splitlines())) <= 80
    assert "seeds: 3. Every program has one thread" in " ".join(done.out.split())
    rows = results(tmp_path / "out")
    assert [row["case"] for row in rows] == [
        f"{name} samples k=2" for name in ("dense_one", "holes", "table")
    ]
    first, last = rows[0]["figures"], rows[-1]["figures"]
    assert first["is_new_best"]
    ours = first["programs"]["orthonmf"]
    assert ours["median_gap"] == pytest.approx(ours["median_error"] / 0.9 - 1)
    assert "new best" in done.out
    assert last["best"] == 0.01
    assert last["programs"]["orthonmf"]["n_above"] == 1
    assert [row["figures"]["best_is_known"] for row in rows].count(True) == 2
    assert done.out.count("best here") == 1
    assert done.err.splitlines()[-1].startswith("6 of 6 runs")
    text = (tmp_path / "out" / "quality.md").read_text()
    assert "## quality by setting\n" in text


def test_a_row_where_three_lines_win_is_marked(run, folder, tmp_path):
    """The journal is edited: honest fits of three lines on such matrices never win."""
    arguments = ("bench", "quality", "sets/table.csv", "--orthogonal", "samples", "-k", "2",
                 "--seeds", "0", "-o", "out")  # fmt: skip
    assert "better" not in run(*arguments).out.partition("Gap:")[0]
    path = tmp_path / "out" / "fits.jsonl"
    lines = path.read_text().splitlines()
    lines[-1] = json.dumps({**json.loads(lines[-1]), "error": 1e-3})
    path.write_text("\n".join(lines) + "\n")
    done = run(*arguments)
    marked = [one for one in done.out.splitlines() if "three lines" in one and "better" in one]
    assert len(marked) == 1
    assert marked[0].split()[-1] == "better"


def test_files_that_cannot_be_read_are_named_at_the_end(run, folder, tmp_path):
    (folder / "broken.csv").write_text("a,b\n1,2\n3,x\n")
    np.save(folder / "negative.npy", -np.ones((3, 2)))
    (folder / "notes.md").write_text("no matrix")
    done = run("bench", "quality", "sets", "--orthogonal", "samples", "-k", "2", "--seeds", "0")
    assert done.code == 2
    *_, first, second = done.err.splitlines()
    assert first.startswith("orthonmf: error: skipped: sets/broken.csv: line 3: column 2")
    assert second.startswith("orthonmf: error: skipped: sets/negative.npy: Negative values")
    assert "notes.md" not in done.err
    states = [row["verdict"] for row in results(tmp_path / "orthonmf-quality")]
    assert states.count("skipped") == 2
    assert len(states) == 5


def test_the_best_values_are_written_and_none_is_lost(run, folder, tmp_path):
    path = tmp_path / "best.json"
    path.write_text('{"other": {"both": {"9": 0.5}}, "table": {"samples": {"2": 1e-5, "3": 1}}}')
    arguments = ("bench", "quality", "sets", "--sets", "table", "--orthogonal", "samples")
    done = run(*arguments, "-k", "2,3", "--seeds", "0", "--best-known", "best.json",
               "--write-best", "best.json")  # fmt: skip
    assert done.code == 0, done.err
    assert "wrote best.json: 3 values" in done.out
    held = json.loads(path.read_text())
    (_, row) = results(tmp_path / "orthonmf-quality")
    assert held == {
        "other": {"both": {"9": 0.5}},
        "table": {"samples": {"2": 1e-5, "3": row["figures"]["best_found"]}},
    }


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (["nowhere"], "nowhere: there is no such folder"),
        (["sets", "--sets", "iris"], "no set is called like 'iris'; there are dense_one"),
        (["sets", "-k", "0"], "--components: '0' must name"),
        (["sets", "--seeds", "x"], "--seeds: 'x' is no range"),
        (["sets", "--orthogonal", "rows"], "--orthogonal must be one of"),
        (["sets", "--ten", "-1"], "--ten"),
        (["sets", "--best-known", "sets/table.csv"], "sets/table.csv: line 1: this is no JSON"),
        (["sets", "--write-best", "nowhere/b.json"], "the folder of nowhere/b.json is not there"),
        (["--transpose"], "no FOLDER"),
    ],
)
def test_bad_options_are_refused_before_anything_is_fitted(arguments, why, run, folder, tmp_path):
    done = run("bench", "quality", *arguments)
    assert done.code == 2
    assert why in done.err
    assert len(done.err.splitlines()) == 1
    assert not (tmp_path / "orthonmf-quality").exists()


def test_a_file_of_best_values_that_is_not_there_is_named(run, folder):
    done = run("bench", "quality", "sets", "--best-known", "no.json")
    assert done.code == 1
    assert "no.json: No such file" in done.err


def test_wrong_usage_names_the_help_of_this_command(run):
    done = run("bench", "quality", "--no-such-option")
    assert done.code == 2
    assert "bench quality --help" in done.err


@pytest.mark.slow
def test_an_interrupt_says_how_to_go_on(folder, tmp_path):
    command = [*COMMAND, "bench", "quality", "sets", "-k", "2", "--seeds", "0:999"]
    process = subprocess.Popen(
        command, cwd=tmp_path, env=ENVIRONMENT, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        text=True,
    )  # fmt: skip
    process.stderr.readline()  # the first fit has begun
    process.send_signal(signal.SIGINT)
    _, said = process.communicate()
    assert process.returncode == 130
    assert (
        "fits are safe in orthonmf-quality/fits.jsonl; go on with: orthonmf bench quality" in said
    )
    assert (tmp_path / "orthonmf-quality" / "fits.jsonl").exists()
