"""What goes wrong is told in one line, with an exit code, and leaves older files whole."""

import contextlib
import os
import signal
import subprocess
import time

import numpy as np
import pytest

from tests.cli.running import COMMAND, ENVIRONMENT, check_refused, run_fresh


def test_control_characters_in_names_do_not_reach_the_terminal(tmp_path, run):
    (tmp_path / "x.csv").write_text(",a\x1b[31m,b\nr,1,0\ns,0,2\n")
    done = run("fit", "x.csv", "-k", 2, code=0)
    assert "\x1b" not in done.out + done.err


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (["fit"], "Missing argument"),
        (["fit", "x.csv", "-k", "0"], "-k"),
        (["select-k", "x.csv", "-k", "0:3"], "--k: "),
        (["fit", "x.csv", "--orthogonal", "rows"], "rows"),
        (["fit", "x.csv", "--orthogonal", "sample"], "did you mean samples?"),
        (["fit", "x.csv", "--color"], "--color"),
        (["nothing"], "nothing"),
        (["fit", "x.csv", "--max-bytes", "lots"], "--max-bytes"),
        (["fit", "x.csv", "--image-shape", "9x9"], "81 pixels"),
        (["fit", "x.csv", "--init", "nowhere"], "init"),
        (["fit", "x.csv", "--format", "xls"], "format"),
        *[
            (["select-k", "x.csv", "--k", text], "--k: ")
            for text in ("2-5", "0:3", "5:2", "1:9999", "1:100,1:100")
        ],
        (["fit", "x.csv", "--drop", "a,,b"], "--drop: 'a,,b' holds an empty name"),
        (["fit", "x.csv", "--feature-names", "x.csv"], "names for 2 columns"),
    ],
)
def test_wrong_usage_is_told_in_one_line_with_code_2(arguments, why, tmp_path, run):
    (tmp_path / "x.csv").write_text("1,2\n3,4\n5,6\n7,8\n9,1\n")
    check_refused(run(*arguments), why)


def test_files_that_cannot_be_read_or_written_give_code_1(table, tmp_path, run):
    (tmp_path / "file").write_text("in the way")
    (tmp_path / "folder.npy").mkdir()
    for arguments in (
        ["fit", "nowhere.npy"],
        ["fit", "folder.npy"],
        ["fit", table, "-o", "file/deeper"],
        ["transform", "nowhere.npz", table],
        ["report", "nowhere"],
        ["fit", table, "--feature-names", "nowhere.txt"],
    ):
        check_refused(run(*arguments), code=1)
    assert (tmp_path / "file").read_text() == "in the way"
    run("fit", table, "-k", 3, "-o", "out")
    run("transform", "out", table, "-o", ".", code=1)


@pytest.mark.slow
def test_a_missing_extra_is_named(tmp_path):
    (tmp_path / "x.h5").write_bytes(b"anything")
    done = run_fresh("fit", "x.h5", cwd=tmp_path, before="import sys; sys.modules['h5py'] = None")
    why = "x.h5: this needs h5py, which is not installed: pip install h5py; the extra 'files' of"
    check_refused(done, why, code=1)


def test_a_traceback_is_shown_only_with_debug(tmp_path, run):
    (tmp_path / "x.csv").write_text("1,-2\n")
    assert "Traceback" not in run("fit", "x.csv").err
    assert "Traceback" in run("fit", "x.csv", "--debug").err
    assert "Traceback" in run("--debug", "fit", "x.csv").err


@pytest.mark.slow
def test_a_closed_pipe_is_no_error(table, tmp_path, run):
    run("fit", table, "-k", 3, "-o", "out")
    big = tmp_path / "big.npy"
    np.save(big, np.random.default_rng(0).random((20_000, 12)))
    reader, writer = os.pipe()
    os.close(reader)
    for arguments in (["transform", "out", str(big)], ["fit", str(table), "-o", "out"]):
        done = subprocess.run(
            [*COMMAND, *arguments], cwd=tmp_path, stdout=writer, stderr=subprocess.PIPE,
            text=True, env=ENVIRONMENT,
        )  # fmt: skip
        assert (done.returncode, done.stderr) == (141, "")
    os.close(writer)


@pytest.mark.slow
@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_an_interrupt_ends_cleanly(number, code, tmp_path):
    fifo = tmp_path / "x.csv"
    os.mkfifo(fifo)  # the command waits here for ever
    process = subprocess.Popen(
        [*COMMAND, "fit", "x.csv", "-o", "out"], cwd=tmp_path, stderr=subprocess.PIPE,
        text=True, env=ENVIRONMENT,
    )  # fmt: skip
    writer = None
    while writer is None:  # until the command has opened it to read
        assert process.poll() is None, process.communicate()
        time.sleep(0.1)
        with contextlib.suppress(OSError):
            writer = os.open(fifo, os.O_WRONLY | os.O_NONBLOCK)
    process.send_signal(number)
    os.close(writer)
    _, err = process.communicate()
    assert process.returncode == code
    told = {130: "orthonmf: note: interrupted; nothing was half written\n", 143: ""}
    assert err == told[code]
    assert not (tmp_path / "out").exists()


@pytest.mark.slow
def test_a_terminal_that_knows_no_umlauts_is_no_error(tmp_path):
    (tmp_path / "x.csv").write_text("ä,ö\n1,0\n0,2\n", encoding="utf-8")
    done = run_fresh("fit", "x.csv", "-k", 2, cwd=tmp_path, PYTHONIOENCODING="ascii")
    assert done.code == 0, done.err
    assert "\\xe4" in done.out
