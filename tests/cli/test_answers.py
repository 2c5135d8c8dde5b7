"""What commands say of an answer: its cautions first, its seed last; and where it can be said."""

import json
import os
import subprocess

import numpy as np
import pytest

from tests.cli.running import COMMAND, ENVIRONMENT


def write(path, X, names):
    lines = [",".join(names), *(",".join(map(repr, row)) for row in np.asarray(X).tolist())]
    path.write_text("\n".join(lines) + "\n")


def in_one_line(text):
    return " ".join(text.split())


@pytest.fixture
def numbered(blocks, tmp_path):
    """A table whose first column counts the rows."""
    names = ["ID", *(f"f{j}" for j in range(12))]
    write(tmp_path / "numbered.csv", np.column_stack([np.arange(1, 31), blocks]), names)


def test_a_fit_without_a_seed_can_be_made_again(run, table):
    first, second = table.parent / "first", table.parent / "second"
    seed = json.loads(run("fit", table, "-k", 3, "-o", "first", "--json").out)["seed"]
    run("fit", table, "-k", 3, "-o", "second", "--seed", seed)
    for name in ("assignments.csv", "components.csv", "features.csv"):
        assert (first / name).read_bytes() == (second / name).read_bytes()
    assert json.loads((second / "summary.json").read_text())["seed"] == seed


@pytest.mark.parametrize("command", ["fit", "select-k", "bicluster"])
def test_a_seed_that_was_drawn_is_printed(run, table, blocks, command, tmp_path):
    write(tmp_path / "graph.csv", (blocks > 1).astype(int), [f"f{j}" for j in range(12)])
    arguments = {"fit": (table,), "select-k": (table, "--k", "2,3"), "bicluster": ("graph.csv",)}
    drawn = run(command, *arguments[command])
    told = [line for line in drawn.out.splitlines() if line.startswith("seed ")]
    seed = told[0].split(";")[0].removeprefix("seed ")
    assert told == [f"seed {seed}; the same command with --seed {seed} gives the same answer"]
    given = run(command, *arguments[command], "--seed", seed)
    kept = [line for line in drawn.out.splitlines() if not line.startswith(("seed ", "the fit"))]
    assert kept == [line for line in given.out.splitlines() if not line.startswith("the fit")]


def test_cautions_come_first_and_are_kept(run, numbered, tmp_path):
    done = run("fit", "numbered.csv", "-k", 3, "-o", "out", "--report")
    assert done.out.startswith("caution: Column ID counts by ones")
    assert "--drop ID" in done.out
    (told,) = json.loads((tmp_path / "out" / "summary.json").read_text())["cautions"]
    assert told.startswith("Column ID counts by ones")
    dropped = run("fit", "numbered.csv", "-k", 3, "-o", "out", "--drop", "ID", "--report")
    assert "caution: " not in dropped.out


def test_columns_brought_to_one_scale_are_no_caution(run, blocks, tmp_path):
    blocks[:, 0] = 1000 * (blocks[:, 0] + 1)
    write(tmp_path / "units.csv", blocks, [f"f{j}" for j in range(12)])
    assert "Column f0 holds" in run("fit", "units.csv", "-k", 3).out
    scaled = run("fit", "units.csv", "-k", 3, "--normalize", "columns")
    assert "caution: " not in scaled.out


def test_noise_is_hardly_more_than_chance(run, tmp_path):
    noise = np.random.default_rng(0).random((80, 12)).round(3)
    write(tmp_path / "noise.csv", noise, [f"f{j}" for j in range(12)])
    done = run("fit", "noise.csv", "-k", 3, "--report", "--seed", 0)
    assert "hardly more than chance" in in_one_line(done.out)
    assert "caution: " not in run("fit", "noise.csv", "-k", 3, "--seed", 0, "-o", "quick").out


def test_another_k_than_the_suggested_one_is_a_caution(run, table):
    run("select-k", table, "--k", "2:4", "-o", "out", "--seed", 0)
    other = in_one_line(run("fit", table, "-k", 2, "-o", "out", "--seed", 0).out)
    assert "caution: select-k suggested 3 components for these data, not 2" in other
    assert "caution: " not in run("fit", table, "-k", 3, "-o", "out", "--seed", 0).out


def test_a_column_of_ids_is_told_before_a_number_is_suggested(tmp_path, run, blocks):
    lines = ["id,a,b,c", *(f"{1000 + i},{x},{y},{z}" for i, (x, y, z) in enumerate(blocks[:, :3]))]
    (tmp_path / "x.csv").write_text("\n".join(lines))
    done = run("select-k", "x.csv", "--k", "2:3", "--no-index", "--repetitions", 1, "--seed", 0)
    assert done.out.startswith("caution: Column id counts by ones")


def in_shell(line, cwd):
    return subprocess.run(
        ["sh", "-c", f'exec "$@" {line}', "sh", *COMMAND],
        cwd=cwd, capture_output=True, env=ENVIRONMENT, text=True,
    )  # fmt: skip


def test_a_closed_stdout_is_told_in_one_line(table):
    done = in_shell("fit table.csv >&-", table.parent)
    assert done.returncode == 1
    assert done.stderr == (
        "orthonmf: error: stdout is closed; point it somewhere, such as >/dev/null\n"
    )


def test_a_closed_stderr_is_no_reason_to_do_nothing(table):
    done = in_shell("fit table.csv -k 3 -o out 2>&-", table.parent)
    assert done.returncode == 0
    assert (table.parent / "out" / "summary.json").exists()
    assert "relative squared error" in done.stdout


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs /dev/full")
@pytest.mark.parametrize(
    ("command", "place"), [("fit table.csv -o out -q", "<stdout>: "), ("--version", "")]
)
def test_a_full_stdout_is_blamed_itself(command, place, table):
    done = in_shell(f"{command} > /dev/full", table.parent)
    assert done.returncode == 1
    assert done.stderr == f"orthonmf: error: {place}No space left on device\n"
