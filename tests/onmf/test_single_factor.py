"""Theorem 3 step by step: lengths for weights, means for directions, best scales at last."""

from itertools import pairwise

import numpy as np
import pytest

import orthonmf
from orthonmf.certificate import Promise
from orthonmf.engine.points import Samples
from orthonmf.inputs.data import as_matrix
from orthonmf.onmf.promises import single_from_means
from orthonmf.onmf.single_factor import (
    cluster,
    factorize_single,
)
from tests.onmf.small_points import some_options

pytestmark = pytest.mark.filterwarnings("ignore::orthonmf.FewerComponentsWarning")


def by_hand(X, labels):
    """Theorem 3 with given labels: normalized means, and the best scale on the own one."""
    lengths = np.linalg.norm(X, axis=1)
    weights, unit = lengths**2, X / np.where(lengths > 0, lengths, 1)[:, None]
    squared = 0.0
    for s in np.unique(labels):
        inside = labels == s
        center = weights[inside] @ unit[inside] / weights[inside].sum()
        scales = X[inside] @ center / (center @ center)
        squared += np.square(X[inside] - np.outer(scales, center)).sum()
    return squared / weights.sum()


@pytest.mark.parametrize("orthogonal", ["samples", "features"])
def test_the_published_error_of_one_factor_is_that_of_the_labels_of_k_means(orthogonal):
    lowered = 0
    for seed in range(40):
        X = np.random.default_rng(seed).exponential(size=(20, 12)) ** 2

        def kmeans(points, weights, k, rng, seed=seed):
            return np.random.default_rng(seed + 1).integers(k, size=len(weights))

        found = orthonmf.factorize(X, 3, orthogonal=orthogonal, algorithm="paper", kmeans=kmeans)
        side = X if orthogonal == "samples" else X.T
        labels = np.random.default_rng(seed + 1).integers(3, size=len(side))
        assert found.history[-2] == pytest.approx(by_hand(side, labels), rel=1e-12)
        lowered += found.relative_squared_error < found.history[-2] * (1 - 1e-9)
    assert lowered == 40


def test_theorem_9_ends_with_the_assignment_itself():
    X = np.random.default_rng(0).exponential(size=(4, 6))
    found = orthonmf.factorize(X, 4, orthogonal="both", algorithm="paper", random_state=0)
    assert len(found.history) == 1


def test_a_ratio_of_the_clustering_is_doubled_and_of_no_ratio_the_reason_stays():
    assert single_from_means(Promise(9.0, "expected")) == Promise(18.0, "expected")
    nothing = Promise(reason="why")
    assert single_from_means(nothing) is nothing


@pytest.mark.parametrize("orthogonal", ["samples", "features"])
def test_the_history_ends_with_the_error_of_the_last_labels_which_costs_no_more(orthogonal):
    X = np.random.default_rng(0).exponential(size=(14, 9)) ** 2
    options = some_options(3, orthogonal=orthogonal, max_iter=4, tol=0.0)
    found = factorize_single(as_matrix(X), options)
    assert all(after <= before + 1e-12 for before, after in pairwise(found.history))
    assert len(found.history) == found.n_sweeps
    assert found.components.shape == (3, 9)
    assert found.steps == ("weighted k-means",)
    again = cluster(Samples(as_matrix(X)), some_options(3, max_iter=4, tol=0.0))
    if orthogonal == "samples":
        np.testing.assert_array_equal(found.directions, again.centers)
        costs = np.array(again.history[:-1]) / np.sum(X**2)
        np.testing.assert_allclose(found.history[:-1], costs)
        assert found.promise.ratio == 2 * again.promise.ratio
