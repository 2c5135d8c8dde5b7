"""Rows go to the direction that leaves the smallest error, found by trying every one."""

import numpy as np
import pytest
from scipy.sparse import csr_array

from orthonmf.engine import disjoint_capture
from orthonmf.engine.disjoint_capture import capture_rows

FORMS = [np.asarray, csr_array]


def disjoint_directions(rng, k, m):
    owner = rng.integers(k, size=m)
    directions = np.where(np.arange(k)[:, None] == owner, rng.exponential(size=m), 0.0)
    directions[k // 2] = 0.0
    return directions


def by_trying(x, directions):
    """The label, the scale and the error of one row; label -1 where all errors are that of 0."""
    best = (-1, 0.0, x @ x)
    for label, a in enumerate(directions):
        if a.any():
            scale = (x @ a) / (a @ a)
            error = np.sum((x - scale * a) ** 2)
            if error < best[2] * (1 - 1e-12):
                best = (label, scale, error)
    return best


@pytest.mark.parametrize("of_rows", FORMS)
@pytest.mark.parametrize("of_directions", FORMS)
@pytest.mark.parametrize("block", [1, 1 << 22])
def test_no_other_label_and_scale_leave_a_smaller_error(of_rows, of_directions, block, monkeypatch):
    monkeypatch.setattr(disjoint_capture, "ENTRIES_PER_BLOCK", block)
    rng = np.random.default_rng(0)
    X = rng.exponential(size=(30, 12)) * (rng.random((30, 12)) < 0.3)
    X[4] = 0.0
    directions = disjoint_directions(rng, 5, 12)
    X[6] = np.where(directions.any(axis=0), 0.0, 1.0)  # meets no direction
    labels, scales = capture_rows(of_rows(X), of_directions(directions))
    for row, x in enumerate(X):
        label, scale, _ = by_trying(x, directions)
        assert labels[row] == label
        assert scales[row] == pytest.approx(scale, rel=1e-13)


@pytest.mark.parametrize("form", FORMS)
def test_of_equals_the_lowest_wins_whatever_the_lengths(form):
    directions = np.array([[0.0, 0.0, 2.0], [0.0, 8.0, 0.0], [4.0, 0.0, 0.0]])
    labels, scales = capture_rows(form(np.array([[1.0, 1.0, 1.0], [1.0, 1.0, 0.0]])), directions)
    assert labels.tolist() == [0, 1]
    assert scales.tolist() == [1 / 2, 1 / 8]
    assert capture_rows(form(np.ones((1, 3))), directions[::-1])[0].tolist() == [0]


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("k", [0, 2])
def test_without_directions_no_row_has_a_label(form, k):
    labels, scales = capture_rows(form(np.ones((3, 4))), np.zeros((k, 4)))
    assert labels.tolist() == [-1, -1, -1]
    assert scales.tolist() == [0.0, 0.0, 0.0]
    assert len(capture_rows(form(np.ones((1, 4))[:0]), np.eye(4))[0]) == 0
