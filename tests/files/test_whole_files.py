"""A file is whole or not there, whatever happens while it is written."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from orthonmf.files import whole_files
from orthonmf.files.whole_files import TEMPORARY, is_special, remove_leftovers, replacing

posix = pytest.mark.skipif(os.name != "posix", reason="needs pipes and process numbers")


def test_the_new_file_takes_the_place_only_when_the_block_has_ended_well(tmp_path):
    path = tmp_path / "x.txt"
    path.write_text("old")
    with replacing(path, encoding="utf-8") as file:
        file.write("näw")
        assert path.read_text() == "old"
        assert len(list(tmp_path.iterdir())) == 2
    assert path.read_text(encoding="utf-8") == "näw"
    with replacing(path, "xb") as file:
        file.write(b"\x00\xff")
    assert path.read_bytes() == b"\x00\xff"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("kind", [ValueError, KeyboardInterrupt])
@pytest.mark.parametrize("before", [None, "old"])
def test_whatever_is_raised_inside_leaves_what_was_there(tmp_path, kind, before):
    path = tmp_path / "x.txt"
    if before is not None:
        path.write_text(before)

    def fail():
        with replacing(path) as file:
            file.write("half of")
            raise kind("stop")

    with pytest.raises(kind, match="stop"):
        fail()
    left = [entry.read_text() for entry in tmp_path.iterdir()]
    assert left == ([] if before is None else [before])


def test_a_link_is_followed_and_stays_a_link(tmp_path):
    (tmp_path / "folder").mkdir()
    target, link = tmp_path / "folder" / "target", tmp_path / "link"
    link.symlink_to(target)
    with replacing(link) as file:
        file.write("new")
        assert [path.name for path in tmp_path.iterdir() if path.name.endswith(TEMPORARY)] == []
    assert link.is_symlink()
    assert target.read_text() == "new"


@posix
def test_a_pipe_is_written_to_and_stays_a_pipe(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    assert is_special(pipe)
    reader = subprocess.Popen(
        [sys.executable, "-c", f"print(open({str(pipe)!r}).read())"], stdout=subprocess.PIPE
    )
    with replacing(pipe) as file:
        file.write("through")
    assert reader.communicate()[0] == b"through\n"
    assert is_special(pipe)
    with replacing(Path(os.devnull), "xb") as file:
        file.write(b"nothing")
    assert is_special(Path(os.devnull))


def ended_process():
    """The number of a process that has just ended."""
    done = subprocess.Popen([sys.executable, "-S", "-c", ""])
    done.wait()
    return done.pid


@posix
def test_only_what_killed_writers_of_this_machine_left_is_removed(tmp_path):
    here, gone = whole_files.gethostname(), ended_process()
    removed = f".x.npz.{here}.{gone}.00ff{TEMPORARY}"
    kept = [
        f".x.npz.{here}.{os.getpid()}.00ff{TEMPORARY}",  # its writer is at work
        f".x.npz.{here}.{10**30}.00ff{TEMPORARY}",  # no number of a process: nobody can tell
        f".x.npz.another-{here}-machine.{gone}.00ff{TEMPORARY}",
        f".x.npz.{here}.{gone}.00ff{TEMPORARY}.txt",
        f"x.npz.{here}.{gone}.00ff{TEMPORARY}",
        f".x.npz.{here}.{gone}.not-ours{TEMPORARY}",
    ]
    for name in [removed, *kept]:
        (tmp_path / name).touch()
    with replacing(tmp_path / "other") as file:
        file.write("new")
    assert {path.name for path in tmp_path.iterdir()} == {"other", *kept}
    remove_leftovers(tmp_path / "absent")
