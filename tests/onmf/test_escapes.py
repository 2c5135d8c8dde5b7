"""Escapes propose as many directions as before, and the right ones where these are known."""

import numpy as np
import pytest

from orthonmf.engine.points import Samples
from orthonmf.inputs.data import as_matrix
from orthonmf.onmf.search.descent import descend
from orthonmf.onmf.search.escapes import breathe, prune, recombine
from tests.onmf.small_points import drawn, some_points


def test_pruning_keeps_the_directions_that_are_missed_most():
    X = np.vstack([np.eye(4)[[0, 0, 1, 1, 2, 3]] * np.array([[5], [5], [4], [4], [3], [0.1]])])
    points = Samples(as_matrix(X))
    kept = prune(points, np.eye(4), 3)
    np.testing.assert_array_equal(kept, np.eye(4)[:3])


def test_recombining_two_halves_gives_the_whole():
    X = np.kron(np.eye(4), np.ones((5, 3))) + 1e-3
    points = Samples(as_matrix(X))
    rows = points.at(np.array([0, 5, 10, 15]))
    one, other = rows[[0, 1, 0, 1]], rows[[2, 3, 2, 3]]
    found = descend(points, recombine(points, one, other, 4), max_iter=5, tol=0.0)
    assert found.captured > 0.999 * points.weights.sum()


def test_breathing_gives_back_as_many_directions():
    _, points = some_points(1)
    form = drawn(points, 3, 0)
    assert breathe(points, form, 2, np.random.default_rng(0)).shape == form.shape


def captured_by(Y, directions):
    """The energy of all rows along the best of some directions, in the plainest way."""
    units = directions / np.linalg.norm(directions, axis=1)[:, None]
    return np.square(Y @ units.T).max(axis=1).sum()


def test_breathing_finds_points_that_no_direction_sees_and_stays_where_all_are_captured():
    X = np.kron(np.eye(3), np.ones((4, 2)))
    points = Samples(as_matrix(X))
    twice = X[[0, 4, 4]]
    found = breathe(points, twice, 1, np.random.default_rng(0))
    assert captured_by(X, found) == pytest.approx(np.sum(X**2))
    axes = np.eye(3)  # cosines of 1 without rounding: nothing is left to draw from
    exact = Samples(as_matrix(np.repeat(axes, 4, axis=0)))
    np.testing.assert_array_equal(breathe(exact, axes, 2, None), axes)
