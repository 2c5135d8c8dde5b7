"""Files of a command are written whole or not at all, and those of others stay."""

import os
import stat

import pytest

from tests.cli.running import check_refused, run_fresh


@pytest.mark.slow
def test_a_full_disk_leaves_the_old_folder_whole(table, tmp_path, run):
    run("fit", table, "-k", 3, "-o", "out", "--report", "--seed", 0)
    before = {path.name: path.read_bytes() for path in (tmp_path / "out").iterdir()}
    full = (
        "import resource, signal\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (20000, 20000))\n"
    )
    done = run_fresh("fit", table, "-k", 2, "-o", "out", "--report", cwd=tmp_path, before=full)
    check_refused(done, "error: out: ", code=1)
    assert {path.name: path.read_bytes() for path in (tmp_path / "out").iterdir()} == before


def test_files_of_others_are_not_replaced(table, tmp_path, run):
    table.rename(tmp_path / "features.csv")
    before = (tmp_path / "features.csv").read_bytes()
    done = run("fit", "features.csv", "-k", 3, "-o", ".")
    check_refused(done, "a features.csv that orthonmf did not write")
    assert [path.name for path in tmp_path.iterdir()] == ["features.csv"]
    assert (tmp_path / "features.csv").read_bytes() == before


def test_files_are_readable_by_others_as_usual(table, tmp_path, run):
    run("fit", table, "-k", 3, "-o", "out")
    mask = os.umask(0)
    os.umask(mask)
    for path in (tmp_path / "out").iterdir():
        assert stat.S_IMODE(path.stat().st_mode) == 0o666 & ~mask
