"""A journal holds whole lines whatever ended its writer, and never changes what is not its own."""

import os

import pytest

from orthonmf.errors import InvalidInputError
from orthonmf.files.journal import Journal


def journal(path):
    return Journal(path, "title", "not ours")


@pytest.mark.parametrize("torn", [b"t", b"title and more", b"\xc3"])
def test_a_torn_line_is_ignored_and_gives_way_to_the_next(torn, tmp_path):
    path = tmp_path / "lines"
    path.write_bytes(b"title 1\n" + torn)
    opened = journal(path)
    assert opened.lines == ["title 1"]
    assert path.read_bytes() == b"title 1\n" + torn
    opened.append("next")
    opened.append("last")
    assert path.read_bytes() == b"title 1\nnext\nlast\n"


@pytest.mark.parametrize("begun", ["", "ti", "title", "title 1 to"])
def test_a_torn_first_line_is_ours_and_written_again(begun, tmp_path):
    path = tmp_path / "lines"
    path.write_text(begun)
    journal(path).append("title 1")
    assert path.read_text() == "title 1\n"


def test_a_line_of_somebody_else_and_a_pipe_are_refused_and_left_alone(tmp_path):
    path = tmp_path / "lines"
    path.write_text("letter")
    with pytest.raises(InvalidInputError, match="not ours"):
        journal(path)
    assert path.read_text() == "letter"
    if hasattr(os, "mkfifo"):
        os.mkfifo(tmp_path / "pipe")
        with pytest.raises(InvalidInputError, match="a device or a pipe"):
            journal(tmp_path / "pipe")
