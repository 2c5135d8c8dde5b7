"""``orthonmf reproduce``: from the command to the page, and what an interrupt leaves."""

import signal
import subprocess
import time

import pytest

from orthonmf.reproduction.rows import read_rows
from tests.cli.running import COMMAND, ENVIRONMENT


@pytest.mark.slow
def test_an_experiment_ends_with_rows_figures_and_a_page(tmp_path, run):
    done = run("reproduce", "experiment-2", "--quick")
    assert done.code == 0, done.err
    folder = tmp_path / "reproduction-quick"
    rows = read_rows(folder / "results.csv")
    assert len(rows) == 3 * 4 * 3  # noises, methods, seeds
    assert {row.method for row in rows} == {"onmf-apx", "onmf-apx-10", "best", "onmfs"}
    assert all(row.non_orthogonality == 0 for row in rows)
    assert "36 of 36 runs are in reproduction-quick/results.csv" in done.out
    assert {"environment.json", "index.html", "experiment-2.svg"} <= {
        path.name for path in folder.iterdir()
    }
    assert "0 of 36 runs" in done.err
    assert "36 of 36 runs" in done.err
    before = (folder / "results.csv").read_bytes()
    (folder / "index.html").unlink()
    again = run("reproduce", "experiment-2", "--quick", "--page-only")
    assert again.code == 0, again.err
    assert (folder / "index.html").exists()
    assert (folder / "results.csv").read_bytes() == before


@pytest.mark.slow
def test_an_interrupt_says_what_is_safe_and_how_to_go_on(tmp_path):
    process = subprocess.Popen(
        [*COMMAND, "reproduce", "experiment-2", "--quick", "-o", "my rows"],
        cwd=tmp_path, stderr=subprocess.PIPE, text=True, env=ENVIRONMENT,
    )  # fmt: skip
    path = tmp_path / "my rows" / "results.csv"
    while not path.exists() or path.read_bytes().count(b"\n") < 4:
        assert process.poll() is None, process.communicate()
        time.sleep(0.005)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate()
    assert process.returncode == 130, err
    n_rows = len(read_rows(path))
    assert 3 <= n_rows < 36
    assert f"interrupted; {n_rows} of 36 rows are safe in my rows/results.csv" in err
    assert "go on with: orthonmf reproduce experiment-2 --quick -o 'my rows'" in err
    assert "Traceback" not in err


def test_wrong_use_is_told_in_one_line(tmp_path, run):
    unknown = run("reproduce", "experiment-9")
    assert unknown.code == 2
    assert "experiment-9" in unknown.err
    (tmp_path / "results.csv").write_text("a,b\n")
    foreign = run("reproduce", "experiment-2", "--quick", "-o", ".")
    assert foreign.code == 2
    assert "results.csv: line 1 is not the header of a results file" in foreign.err
    assert (tmp_path / "results.csv").read_text() == "a,b\n"
    nothing = run("reproduce", "all", "--page-only", "-o", "empty")
    assert nothing.code == 1
    assert "results.csv" in nothing.err
