"""Theorem 8 step by step: centers lose weight, join, and share no coordinate at last."""

import numpy as np
import pytest

import orthonmf
from orthonmf.inputs.data import as_matrix
from orthonmf.onmf.double_factor import factorize_double, separate_centers
from tests.onmf.small_points import some_options

pytestmark = pytest.mark.filterwarnings("ignore::orthonmf.FewerComponentsWarning")


def at_degrees(*angles):
    """Centers in the first quarter of the plane."""
    radians = np.radians(angles)
    return np.stack([np.cos(radians), np.sin(radians)], axis=1)


@pytest.mark.parametrize(
    ("angles", "weights", "groups"),
    [
        ((0, 90), (1, 2), [0, 1]),  # far apart: both stay
        ((0, 20), (1, 2), [0, 0]),  # close: one group
        ((0, 45), (1, 2), [-1, 0]),  # between: the lighter goes
        ((0, 45), (1, 1), [0, 1]),  # of equal weight both would go: then nothing is decided
        ((0, 45, 90), (3, 1, 1), [0, -1, 1]),
        ((0, 45, 45), (5, 2, 2), [0, -1, -1]),  # what is given up adds up
        ((0, 90), (0, 1), [-1, 0]),  # an empty cluster has no group
        ((10, 55, 30), (2, 2, 1), [-1, -1, 0]),  # pairs in order: the first two cancel
    ],
)
def test_centers_keep_cancel_or_join_by_their_angle(angles, weights, groups):
    separate = separate_centers(at_degrees(*angles), np.array(weights, dtype=float))
    assert separate.groups.tolist() == groups
    assert separate.directions.shape == (max(groups) + 1, 2)
    assert np.all(np.count_nonzero(separate.directions, axis=0) <= 1)


def test_rows_whose_center_lost_its_weight_are_all_error_until_the_last_assignment():
    # Clusters at 0, 45 and 90 degrees: the one between gives up its weight.
    X = np.concatenate([4 * at_degrees(0), at_degrees(45), 4 * at_degrees(90), np.zeros((1, 2))])

    def kmeans(points, weights, k, rng):
        return np.array([0, 1, 2])

    solution = factorize_double(as_matrix(X), some_options(3, orthogonal="both", kmeans=kmeans))
    assert solution.history == pytest.approx((1 / 33,))
    assert solution.directions.shape == (2, 2)
    assert solution.promise.ratio is None
    published = orthonmf.factorize(X, 3, orthogonal="both", algorithm="paper", random_state=0)
    assert published.relative_squared_error < 1 / 33
