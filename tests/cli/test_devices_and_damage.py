"""Devices, pipes, full disks, interrupts and damaged files of our own: one line, nothing lost."""

import csv
import json
import os
import stat
import threading

import numpy as np
import pytest

from tests.cli.running import check_refused, run_fresh

pytestmark = pytest.mark.skipif(os.name != "posix", reason="devices and pipes of POSIX")


@pytest.mark.parametrize("format", ["npy", "mtx", "h5", None])
def test_an_endless_device_is_refused(format, run):
    chosen = () if format is None else ("--format", format)
    check_refused(run("fit", "/dev/zero", *chosen), "/dev/zero: it is a device")


@pytest.mark.slow
def test_a_pipe_ends_at_the_limit(tmp_path):
    done = run_fresh("fit", "-", "--max-bytes", "1M", cwd=tmp_path, stdin=b"1,2,3\n" * 500_000)
    check_refused(done, "<stdin>: more than the 1,000,000 bytes allowed")


def test_endless_names_and_models_are_refused(tmp_path, run, table):
    check_refused(run("fit", table, "--row-names", "/dev/zero"), "/dev/zero: it is a device")
    check_refused(run("transform", "/dev/zero", table), "device or a pipe")
    os.mkfifo(tmp_path / "pipe")
    check_refused(run("transform", "pipe", table), "pipe is a device or a pipe")
    (tmp_path / "d").mkdir()
    os.mkfifo(tmp_path / "d" / "summary.json")
    check_refused(run("report", "d"), "it is no regular file")


def test_a_pipe_is_read_once(tmp_path, run, table):
    os.mkfifo(tmp_path / "pipe.csv")
    content = (tmp_path / table).read_bytes()
    writer = threading.Thread(target=(tmp_path / "pipe.csv").write_bytes, args=(content,))
    writer.start()
    done = run("fit", "pipe.csv", "-k", 3, "--json", "--seed", 0)
    writer.join()
    assert done.code == 0, done.err
    assert json.loads(done.out)["input"]["row_names"]


@pytest.mark.slow
@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="there is no /dev/full")
def test_a_full_device_is_told_and_stays_what_it_is(tmp_path, run, table):
    before = os.stat("/dev/full")
    done = run("fit", table, "-k", 2, "--checkpoint", "/dev/full")
    check_refused(done, "the checkpoint /dev/full is a device or a pipe; name a file")
    assert run("fit", table, "-k", 2, "-o", "d").code == 0
    check_refused(
        run("transform", "d", table, "-o", "/dev/full"), "/dev/full: No space left", code=1
    )
    assert stat.S_ISCHR(os.stat("/dev/full").st_mode)
    assert os.stat("/dev/full").st_ino == before.st_ino


def test_hdf5_that_links_to_itself_is_read_once(tmp_path, run):
    h5py = pytest.importorskip("h5py")
    with h5py.File(tmp_path / "hard.h5", "w") as file:
        file["x"] = np.ones((3, 2))
        for name in ("a", "b", "c"):
            file[name] = file["/"]
        file.create_group("g")["up"] = file["/"]
    with h5py.File(tmp_path / "soft.h5", "w") as file:
        file["x"], file["me"] = np.ones((3, 2)), h5py.SoftLink("/me")
    done = run("fit", "hard.h5", "-k", 1, "--json")
    assert json.loads(done.out)["input"]["shape"] == [3, 2]
    check_refused(run("fit", "soft.h5", "-k", 1), "'me' is a link")


@pytest.mark.parametrize("shape", [[np.inf, 2], [-3, 2], [3, 2, 1], 3.5])
def test_hdf5_shapes_that_make_no_sense_are_refused(shape, tmp_path, run):
    h5py = pytest.importorskip("h5py")
    with h5py.File(tmp_path / "x.h5", "w") as file:
        group = file.create_group("X")
        group.attrs["shape"] = np.array(shape)
        group["data"], group["indices"], group["indptr"] = [1.0], [0], [0, 1, 1, 1]
    check_refused(run("fit", "x.h5"), "x.h5: ")


DAMAGES = {
    "summary.json": [
        b"{", b"[]", b"\xff", b'{"input": 3}', b"[" * 100_000, b'{"options": []}',
        lambda s: s.update(options="no"), lambda s: s["input"].update(file="a\0b"),
        lambda s: s["input"]["reading"].update(key=3), lambda s: s.update(captured="all"),
    ],
    "selection.json": [
        b"{}", lambda s: s.pop("reason"), lambda s: s.update(suggestion=[2]),
        lambda s: s["candidates"][0].update(adjusted_rand="high"),
    ],
}  # fmt: skip


@pytest.fixture
def filled(run, table, tmp_path):
    """A folder that fit and select-k wrote."""
    assert run("fit", table, "-k", 3, "-o", "d", "--report", "--seed", 0).code == 0
    done = run("select-k", table, "--k", "2,3", "-o", "d", "--seed", 0, "--repetitions", 1)
    assert done.code == 0
    return tmp_path / "d"


@pytest.mark.slow
def test_damaged_summaries_and_selections_are_told_in_one_line(filled, run):
    assert run("report", "d").code == 0
    page = (filled / "report.html").read_bytes()
    for name, damages in DAMAGES.items():
        honest = (filled / name).read_bytes()
        for damage in damages:
            content = damage
            if callable(damage):
                damaged = json.loads(honest)
                damage(damaged)
                content = json.dumps(damaged).encode()
            (filled / name).write_bytes(content)
            check_refused(run("report", "d"))
            assert (filled / name).read_bytes() == content
            assert (filled / "report.html").read_bytes() == page
        (filled / name).write_bytes(honest)
    assert run("report", "d").code == 0


FORMULAS = ["=1+1", "+x", "-x", "@x", "'=1", "''@x", "=cmd|' /C calc'!A0", "a\rb", "plain", "-5"]


def test_names_never_become_formulas_and_come_back(tmp_path, run, blocks):
    names = FORMULAS + [f"r{number}" for number in range(len(blocks) - len(FORMULAS))]
    features = [*FORMULAS[:7], "c7", "c8", "c9", "c10", "c11"]
    with open(tmp_path / "x.csv", "w", newline="") as file:
        writer = csv.writer(file, quoting=csv.QUOTE_ALL)
        shield = lambda name: f"'{name}" if name.lstrip("'")[0] in "=+-@" and name != "-5" else name  # noqa: E731
        writer.writerow(["", *map(shield, features)])
        writer.writerows(
            [shield(name), *row] for name, row in zip(names, blocks.tolist(), strict=True)
        )
    assert run("fit", "x.csv", "-k", 3, "-o", "d", "--seed", 0).code == 0
    top = json.loads((tmp_path / "d" / "summary.json").read_text())["components"]
    assert {name for part in top for name in part["top_features"]} <= set(features)
    for name, column in (("assignments", 0), ("features", 0), ("components", 1)):
        with open(tmp_path / "d" / f"{name}.csv", newline="") as file:
            cells = [row[column] for row in csv.reader(file)]
        assert not [cell for cell in cells if cell[0] in "=+-@\t\r" and cell != "-5"]
    from orthonmf.files.readers import read_matrix

    back = read_matrix(
        tmp_path / "d" / "assignments.csv", index=True, header=True, allow_missing=True
    )
    assert list(back.row_names) == names
    assert run("transform", "d", "x.csv").code == 0  # the names of features agree


@pytest.mark.parametrize("name", ["=a", "-a", "\ta", "'=a", "''", "'a", "-", "-1", "a", ""])
def test_every_name_comes_back(name):
    from orthonmf.files.readers.text import shield, unshield

    assert unshield(shield(name)) == name
    assert shield(name)[:1] not in tuple("=+@\t\r")


INTERRUPT = """
import os, signal, sys
class Finder:
    def find_spec(self, name, path=None, target=None):
        if name == {module!r}:
            os.kill(os.getpid(), signal.SIGINT)
sys.meta_path.insert(0, Finder())
"""


@pytest.mark.slow
@pytest.mark.parametrize("module", ["numpy", "orthonmf.cli.fit"])
def test_an_interrupt_while_modules_are_imported_is_one_line(module, tmp_path):
    done = run_fresh("fit", "x.csv", cwd=tmp_path, before=INTERRUPT.format(module=module))
    assert (done.code, done.out) == (130, "")
    assert done.err == "orthonmf: note: interrupted; nothing was half written\n"
