"""Lines of progress in Python."""

import re

import numpy as np

import orthant


def test_verbose_prints_plain_lines(capsys):
    X = np.random.default_rng(0).random((60, 10))
    orthant.factorize(X, 3, random_state=0, verbose=1)
    lines = capsys.readouterr().err.splitlines()
    assert lines
    plain = re.compile(r"orthant: [a-z -]+ \d+(, relative squared error [\d.e-]+)?")
    assert all(plain.fullmatch(line) for line in lines), lines
    orthant.factorize(X, 3, random_state=0)
    assert capsys.readouterr().err == ""
