"""Escapes propose as many directions as before, and the right ones where these are known."""

import numpy as np
import pytest

from orthonmf.engine.samples import Samples
from orthonmf.inputs.data import as_matrix
from orthonmf.onmf.search.descent import descend
from orthonmf.onmf.search.escapes import breathe, line_escapes, prune, recombine
from orthonmf.onmf.solution import Solution
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


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_every_direction_that_goes_is_the_one_whose_loss_is_least(dtype):
    for seed in range(8):
        rng = np.random.default_rng(seed)
        X, weights = rng.exponential(size=(15, 6)).astype(dtype), rng.integers(0, 4, 15)
        X[3] = 0.0
        points = Samples(as_matrix(X, sample_weight=weights))
        Y = X * np.sqrt(weights)[:, None]
        left = rng.exponential(size=(6, 6))
        wanted = left
        while len(wanted) > 2:
            others = [np.delete(wanted, one, axis=0) for one in range(len(wanted))]
            wanted = max(others, key=lambda kept: captured_by(Y, kept))
        np.testing.assert_array_equal(prune(points, left, 2), wanted)


def test_nothing_is_removed_from_as_many_directions_as_wanted():
    _, points = some_points(0)
    form = drawn(points, 3, 0)
    np.testing.assert_array_equal(prune(points, form, 3), form)
    np.testing.assert_array_equal(prune(points, form, 5), form)


def test_recombining_an_answer_with_itself_loses_nothing():
    X, points = some_points(3)
    form = descend(points, drawn(points, 3, 0), max_iter=20, tol=0.0).directions
    again = recombine(points, form, 2.0 * form, 3)
    assert captured_by(X, again) == pytest.approx(captured_by(X, form), rel=1e-12)


def test_breathing_finds_points_that_no_direction_sees_and_stays_where_all_are_captured():
    X = np.kron(np.eye(3), np.ones((4, 2)))
    points = Samples(as_matrix(X))
    twice = X[[0, 4, 4]]
    found = breathe(points, twice, 1, np.random.default_rng(0))
    assert captured_by(X, found) == pytest.approx(np.sum(X**2))
    axes = np.eye(3)  # cosines of 1 without rounding: nothing is left to draw from
    exact = Samples(as_matrix(np.repeat(axes, 4, axis=0)))
    np.testing.assert_array_equal(breathe(exact, axes, 2, None), axes)


@pytest.mark.parametrize(("n_init", "recombinations"), [(1, 0), (2, 1), (4, 3), (9, 3)])
def test_there_are_as_many_breaths_as_starts_and_few_recombinations(n_init, recombinations):
    _, points = some_points(0)
    escapes = line_escapes(points, 3, n_init, np.random.default_rng(0))
    steps = [escape.step for escape in escapes]
    assert steps == ["recombination"] * recombinations + ["breathing"] * n_init
    found = [Solution(drawn(points, 3, seed)) for seed in range(n_init)]
    for escape in escapes:
        assert escape.propose(found[0], found).shape == found[0].directions.shape
