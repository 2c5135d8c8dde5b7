"""Theorem 3 step by step: lengths for weights, means for directions, best scales at last."""

import numpy as np
import pytest

import orthonmf

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
    for seed in range(10):
        X = np.random.default_rng(seed).exponential(size=(20, 12)) ** 2

        def kmeans(points, weights, k, rng, seed=seed):
            return np.random.default_rng(seed + 1).integers(k, size=len(weights))

        result = orthonmf.factorize(X, 3, orthogonal=orthogonal, algorithm="paper", kmeans=kmeans)
        side = X if orthogonal == "samples" else X.T
        labels = np.random.default_rng(seed + 1).integers(3, size=len(side))
        assert result.history[-2] == pytest.approx(by_hand(side, labels), rel=1e-12)
        lowered += result.relative_squared_error < result.history[-2] * (1 - 1e-9)
    assert lowered == 10


def test_theorem_9_ends_with_the_assignment_itself():
    X = np.random.default_rng(0).exponential(size=(4, 6))
    result = orthonmf.factorize(X, 4, orthogonal="both", algorithm="paper", random_state=0)
    assert len(result.history) == 1
