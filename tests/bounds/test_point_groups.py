"""Groups of points: disjoint, of length 1, and made of points that lie close to one ray."""

from fractions import Fraction

import numpy as np
import pytest
from scipy.sparse import csr_array

from orthonmf.bounds.point_groups import (
    DIRECTIONS,
    group_points,
    leading_directions,
    length_error,
)


@pytest.mark.parametrize("m", [6, DIRECTIONS + 10])
def test_directions_are_the_leading_singular_ones(m):
    rng = np.random.default_rng(m)
    X = rng.exponential(size=(80, m)) * np.linspace(3.0, 0.1, m)
    found = leading_directions(X.T @ X)
    _, values, right = np.linalg.svd(X)
    count = min(m, DIRECTIONS)
    assert found.right.shape == (m, count)
    np.testing.assert_allclose(found.values[:5], values[:5], rtol=1e-9)
    cosines = np.abs(np.sum(found.right[:, :5].T * right[:5], axis=1))
    np.testing.assert_allclose(cosines, 1.0, rtol=1e-6)


def test_directions_of_nothing_are_left_out():
    X = np.random.default_rng(0).random((20, 2)) @ np.random.default_rng(1).random((2, 7))
    assert len(leading_directions(X.T @ X).values) == 2


@pytest.mark.parametrize("store", [np.asarray, csr_array])
def test_groups_are_non_negative_disjoint_and_of_length_one(store):
    X = np.random.default_rng(0).random((300, 10))
    X[5] = 0.0
    groups = group_points(store(X), leading_directions(X.T @ X), 40)
    assert 30 <= groups.shape[1] <= 40
    assert (groups >= 0.0).all()
    assert (np.count_nonzero(groups, axis=1) <= 1).all()
    assert not groups[5].any()
    assert length_error(groups) < 1e-12
    np.testing.assert_allclose(np.linalg.norm(groups, axis=0), 1.0)


def test_points_of_one_ray_are_in_one_group_by_their_lengths():
    rng = np.random.default_rng(2)
    rays, kinds, lengths = np.eye(4) + 0.01, rng.integers(4, size=60), rng.uniform(0.5, 2.0, 60)
    X = rays[kinds] * lengths[:, None]
    groups = group_points(X, leading_directions(X.T @ X), 20)
    for shares in groups.T:
        mine = shares > 0.0
        assert len(set(kinds[mine])) == 1
        expected = lengths[mine] / np.linalg.norm(lengths[mine])
        np.testing.assert_allclose(shares[mine], expected, rtol=1e-9)


def test_where_points_are_no_more_than_groups_every_point_is_one():
    X = np.random.default_rng(0).random((7, 3))
    np.testing.assert_array_equal(group_points(X, leading_directions(X.T @ X), 7), np.eye(7))


def test_the_same_points_have_the_same_groups():
    X = np.random.default_rng(3).random((90, 5))
    first, second = (group_points(X, leading_directions(X.T @ X), 12) for _ in range(2))
    np.testing.assert_array_equal(first, second)


@pytest.mark.parametrize("seed", range(5))
def test_the_error_of_lengths_covers_the_exact_one(seed):
    rng = np.random.default_rng(seed)
    groups = np.zeros((50, 6))
    groups[np.arange(50), rng.integers(6, size=50)] = rng.random(50)
    groups /= np.linalg.norm(groups, axis=0) * (1.0 + rng.choice([0.0, 1e-6]) * rng.random(6))
    exact = [sum(Fraction(float(x)) ** 2 for x in column) for column in groups.T]
    # |sqrt(s) - 1| <= |s - 1|
    worst = max(abs(square - 1) for square in exact)
    assert worst <= Fraction(length_error(groups)) <= worst + Fraction(1, 10**13)
