"""Files of a command are written whole or not at all, and those of others stay."""

import os
import stat
import subprocess
import sys

import pytest

from tests.cli.running import ENVIRONMENT


@pytest.mark.slow
def test_a_full_disk_leaves_the_old_folder_whole(table, tmp_path, run):
    run("fit", table, "-k", 3, "-o", "out", "--report", "--seed", 0)
    before = {path.name: path.read_bytes() for path in (tmp_path / "out").iterdir()}
    script = (
        "import resource, signal, sys\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (20000, 20000))\n"
        "from orthonmf.cli.main import main; main()\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, "fit", table, "-k", "2", "-o", "out", "--report"],
        cwd=tmp_path, capture_output=True, text=True, env=ENVIRONMENT,
    )  # fmt: skip
    assert done.returncode == 1
    assert done.stderr.startswith("orthonmf: error: out: ")
    assert {path.name: path.read_bytes() for path in (tmp_path / "out").iterdir()} == before


def test_files_of_others_are_not_replaced(table, tmp_path, run):
    table.rename(tmp_path / "features.csv")
    before = (tmp_path / "features.csv").read_bytes()
    done = run("fit", "features.csv", "-k", 3, "-o", ".")
    assert (done.code, done.out) == (2, "")
    assert "a features.csv that orthonmf did not write" in done.err
    assert [path.name for path in tmp_path.iterdir()] == ["features.csv"]
    assert (tmp_path / "features.csv").read_bytes() == before


def test_files_are_readable_by_others_as_usual(table, tmp_path, run):
    run("fit", table, "-k", 3, "-o", "out")
    mask = os.umask(0)
    os.umask(mask)
    for path in (tmp_path / "out").iterdir():
        assert stat.S_IMODE(path.stat().st_mode) == 0o666 & ~mask
