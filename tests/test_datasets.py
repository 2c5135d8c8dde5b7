"""Planted data are those of the paper's experiments."""

import numpy as np
import pytest

from orthonmf import factorize
from orthonmf.datasets import make_planted
from orthonmf.errors import InvalidInputError


def test_the_noise_has_the_mean_and_deviation_the_paper_states():
    n, m, noise, repeats = 40, 25, 0.3, 600
    squares = np.array(
        [
            np.sum((data.M - data.M_truth) ** 2)
            for data in (make_planted(n, m, 3, noise, random_state=seed) for seed in range(repeats))
        ]
    )
    mean, deviation = 2 * m * n * noise**2, np.sqrt(20 * m * n) * noise**2
    assert abs(squares.mean() - mean) < 4 * deviation / np.sqrt(repeats)
    assert abs(squares.std() - deviation) < 0.15 * deviation


@pytest.mark.parametrize("orthogonal", ["samples", "features", "both"])
def test_factors_multiply_to_the_truth_and_are_orthogonal_where_asked(orthogonal):
    data = make_planted(30, 20, 4, 0.0, orthogonal=orthogonal, random_state=0)
    np.testing.assert_allclose(data.A_truth @ data.W_truth, data.M_truth)
    np.testing.assert_array_equal(data.X, data.X_truth)
    np.testing.assert_array_equal(data.M, data.X.T)
    one_per_sample = np.count_nonzero(data.W_truth, axis=0)
    one_per_feature = np.count_nonzero(data.A_truth, axis=1)
    assert np.all(one_per_sample == (1 if orthogonal != "features" else 4))
    assert np.all(one_per_feature == (1 if orthogonal != "samples" else 4))
    assert (data.labels is None) == (orthogonal == "features")
    assert (data.feature_labels is None) == (orthogonal == "samples")
    if data.labels is not None:
        np.testing.assert_array_equal(data.W_truth.argmax(axis=0), data.labels)
    if data.feature_labels is not None:
        np.testing.assert_array_equal(data.A_truth.argmax(axis=1), data.feature_labels)


def test_entries_are_exponential_with_mean_one_and_places_uniform():
    data = make_planted(20_000, 50, 5, 0.0, random_state=1)
    entries = data.W_truth[data.W_truth > 0]
    assert abs(entries.mean() - 1) < 0.03
    assert abs(entries.std() - 1) < 0.05
    np.testing.assert_allclose(np.bincount(data.labels) / 20_000, 0.2, atol=0.015)


@pytest.mark.parametrize(
    "arguments",
    [{"n_samples": 0}, {"noise": -1.0}, {"noise": np.nan}, {"orthogonal": "rows"}],
    ids=str,
)
def test_bad_arguments_are_named(arguments):
    good = {"n_samples": 5, "n_features": 4, "n_components": 2, "noise": 0.1}
    with pytest.raises(ValueError, match=next(iter(arguments))):
        make_planted(**{**good, **arguments})


def test_a_core_is_planted_between_groups_of_both_sides():
    data = make_planted(60, 40, (3, 4), 0.0, orthogonal="both", random_state=0)
    assert data.core_truth.shape == (3, 4)
    np.testing.assert_allclose(data.A_truth @ data.W_truth, data.M_truth)
    assert np.all(np.count_nonzero(data.W_truth, axis=0) == 1)
    result = factorize(data.X, (3, 4), orthogonal="both", random_state=0)
    assert result.relative_squared_error < 1e-25
    assert make_planted(9, 9, 2, 0.1, orthogonal="both", random_state=0).core_truth is None
    with pytest.raises(InvalidInputError, match="needs orthogonal='both'"):
        make_planted(9, 9, (2, 2), 0.1)
