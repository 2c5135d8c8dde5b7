"""Lloyd never raises the cost, and what is claimed is about the clustering returned."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from orthonmf.engine.points import Samples, StreamedColumns
from orthonmf.inputs.data import as_matrix
from orthonmf.kmeans.exchanges import Exchange
from orthonmf.kmeans.lloyd import lloyd
from orthonmf.kmeans.subroutines import weighted_kmeans
from tests.oracles.weighted_kmeans import exact_kmeans, kmeans_cost


def exact_cost(points, labels, k):
    """The cost of the labels with their own means, in plain float64."""
    rows = np.asarray(points.coordinates())
    cost = 0.0
    for s in range(k):
        inside, weights = rows[labels == s], points.weights[labels == s]
        if len(inside):
            mean = weights @ inside / weights.sum()
            cost += float(weights @ np.square(inside - mean).sum(axis=1))
    return cost


@pytest.mark.parametrize(("max_iter", "tol"), [(1, 1e-4), (300, 0.5), (2, 0.0), (300, 0.0)])
def test_the_ratio_of_stable_centers_is_that_of_the_labels_returned(max_iter, tol):
    for seed in range(30):
        rng = np.random.default_rng(seed)
        points = Samples(as_matrix(rng.exponential(size=(25, 4)) ** 2))
        found = weighted_kmeans(
            points, 3, rng=rng, subroutine="local-search", max_iter=max_iter, tol=tol
        )
        means = np.stack(
            [
                points.weights[found.labels == s]
                @ points.coordinates()[found.labels == s]
                / found.weights[s]
                for s in range(3)
            ]
        )
        np.testing.assert_allclose(found.centers, means, rtol=1e-12, atol=1e-15)
        # The least that the ratio may be compared with: centers which no exchange improves and
        # which cost at least as much as the clustering that carries their ratio.
        exchange = Exchange(points, found.centers)
        assert exchange.cost <= exact_cost(points, found.labels, 3) * (1 + 1e-12)
        assert exact_cost(points, found.labels, 3) <= found.cost * (1 + 1e-9)
        assert found.promise.ratio is not None


@given(
    seed=st.integers(0, 10_000),
    k=st.integers(1, 6),
    side=st.sampled_from([Samples, StreamedColumns]),
)
def test_the_cost_never_rises(seed, k, side):
    rng = np.random.default_rng(seed)
    points = side(as_matrix(rng.exponential(size=(20, 12)) ** 3))
    start = points.at(rng.choice(len(points.weights), size=k, replace=False))
    history = lloyd(points, start, max_iter=50, tol=0.0).history
    assert all(b <= a * (1 + 1e-12) + 1e-12 for a, b in itertools.pairwise(history))


def test_empty_clusters_are_put_to_use():
    rng = np.random.default_rng(1)
    X = rng.exponential(size=(30, 5))
    points = Samples(as_matrix(X))
    same = points.at(np.array([4, 4, 4, 4]))
    found = lloyd(points, same, max_iter=100, tol=0.0)
    assert np.all(found.weights > 0)
    assert len(np.unique(found.labels)) == 4


@pytest.mark.parametrize("subroutine", ["k-means++", "ls++", "local-search"])
def test_every_subroutine_reaches_the_optimum_of_a_small_case_with_restarts(subroutine):
    X = np.random.default_rng(3).exponential(size=(8, 3))
    lengths = np.linalg.norm(X, axis=1)
    unit, weights = X / lengths[:, None], lengths**2
    optimum = kmeans_cost(unit, weights, exact_kmeans(unit, weights, 3))
    found = weighted_kmeans(
        Samples(as_matrix(X)), 3, rng=np.random.default_rng(0), subroutine=subroutine, n_init=20
    )
    assert kmeans_cost(unit, weights, found.labels) == pytest.approx(optimum, rel=1e-9)
