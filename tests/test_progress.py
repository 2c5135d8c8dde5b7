"""Lines of progress in Python: what they say, how many there are, and who hears them."""

import io
import re
import sys
import threading

import numpy as np

import orthonmf
from orthonmf.progress import announce, count_progress, follow, listening, silence


def test_verbose_prints_plain_lines(capsys):
    X = np.random.default_rng(0).random((60, 10))
    orthonmf.factorize(X, 3, random_state=0, verbose=1)
    out, err = capsys.readouterr()
    lines = err.splitlines()
    assert lines
    assert out == ""
    plain = re.compile(r"orthonmf: [a-z -]+ \d+(, relative error [\d.e-]+)?")
    assert all(plain.fullmatch(line) for line in lines), lines
    orthonmf.factorize(X, 3, random_state=0)
    assert capsys.readouterr().err == ""


def test_steps_are_counted_by_their_name_and_have_the_error_where_it_is_known():
    lines = []
    with follow("select", lines.append):
        announce("sweep", 0.123456789)
        announce("seeding")
        announce("sweep", 0.0)
        announce("sweep", 1e-20)
    announce("sweep", 0.5)
    assert lines == [
        "select: sweep 1, relative error 0.123457",
        "select: seeding 1",
        "select: sweep 2, relative error 0",
        "select: sweep 3, relative error 1e-20",
    ]


class Terminal(io.StringIO):
    """A stream that says it is a terminal."""

    def isatty(self):
        return True


def test_on_a_terminal_a_bar_shows_what_is_done_of_the_total(monkeypatch):
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "100")
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    with count_progress("trying", 7, 1) as show:
        show(3)
    shown = re.sub(r"\x1b\[[\d;?]*[a-zA-Z]", "", terminal.getvalue())
    assert re.search(r"trying .*3/7", shown)


def test_listeners_hear_the_inner_ones_and_none_hears_what_is_silenced():
    outer, inner = [], []
    with listening(lambda *given: outer.append(given)):
        with listening(lambda *given: inner.append(given)):
            announce("a", 0.5)
            with silence():
                announce("b")
        announce("c")
    announce("d")
    assert inner == [("a", 0.5)]
    assert outer == [("a", 0.5), ("c", None)]


def test_two_threads_do_not_hear_each_other():
    heard = []
    thread = threading.Thread(target=announce, args=("there",))
    with listening(lambda *given: heard.append(given)):
        thread.start()
        thread.join()
        announce("here")
    assert heard == [("here", None)]
