"""What a k-means subroutine may claim, and that the claim is about the clustering returned."""

from types import SimpleNamespace

import numpy as np
import pytest

import orthant
from orthant.engine.samples import Samples
from orthant.errors import InvalidInputError
from orthant.kmeans.local_search import Exchange, stability_promise
from orthant.kmeans.solve import weighted_kmeans
from orthant.validation.data import as_matrix

X = np.random.default_rng(0).exponential(size=(12, 4))


def claiming(ratio, **more):
    def kmeans(points, weights, k, rng):
        return SimpleNamespace(labels=np.arange(len(weights)) % k, ratio=ratio, **more)

    return kmeans


@pytest.mark.parametrize(
    "ratio", [np.nan, np.inf, -np.inf, -3.0, 0.0, 0.999, "2", 2 + 0j, True, [2.0], np.array([2.0])]
)
@pytest.mark.parametrize("orthogonal", ["samples", "features", "both"])
def test_a_claimed_ratio_that_cannot_be_one_is_refused(ratio, orthogonal):
    with pytest.raises(InvalidInputError, match="the ratio that kmeans claims is"):
        orthant.factorize(X, 2, orthogonal=orthogonal, algorithm="paper", kmeans=claiming(ratio))


@pytest.mark.parametrize("kind", ["sometimes", None, 1])
def test_a_claim_of_an_unknown_kind_is_refused(kind):
    with pytest.raises(InvalidInputError, match="the kind of the ratio"):
        orthant.factorize(X, 2, algorithm="paper", kmeans=claiming(2.0, kind=kind))


@pytest.mark.parametrize("ratio", [1, 1.0, np.float32(1.5), np.float64(7.0), np.int64(3)])
@pytest.mark.parametrize("kind", ["always", "expected"])
def test_a_proper_claim_is_taken_as_it_is(ratio, kind):
    found = orthant.factorize(
        X, 2, algorithm="paper", kmeans=claiming(ratio, kind=kind), certificate=None
    )
    assert found.certificate.a_priori_ratio == pytest.approx(2 * float(ratio), rel=1e-6)
    assert found.certificate.a_priori_kind == kind


def test_a_function_may_state_its_ratio_itself():
    def kmeans(points, weights, k, rng):
        return np.arange(len(weights)) % k

    points = Samples(as_matrix(np.eye(4) + 1))
    rng = np.random.default_rng(0)
    assert weighted_kmeans(points, 2, rng=rng, subroutine=kmeans).promise.ratio is None
    kmeans.ratio, kmeans.kind = 6.36, "expected"
    promise = weighted_kmeans(points, 2, rng=rng, subroutine=kmeans).promise
    assert (promise.ratio, promise.kind) == (6.36, "expected")
    for ratio, kind in ((0.5, "always"), (np.inf, "always"), (2.0, "usually")):
        kmeans.ratio, kmeans.kind = ratio, kind
        with pytest.raises(InvalidInputError, match="that kmeans claims is"):
            weighted_kmeans(points, 2, rng=rng, subroutine=kmeans)


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


def test_labels_of_a_stopped_lloyd_do_not_take_the_ratio_of_better_centers(monkeypatch):
    """The cost that stability was tested at bounds the cost of the clustering with its means."""
    tested = []

    def noted(exchange, gain_left):
        tested.append(exchange.cost)
        return stability_promise(exchange, gain_left)

    monkeypatch.setattr("orthant.kmeans.solve.stability_promise", noted)
    for seed in range(60):
        rng = np.random.default_rng(seed)
        points = Samples(as_matrix(rng.exponential(size=(30, 5)) ** 2))
        found = weighted_kmeans(points, 4, rng=rng, subroutine="local-search", max_iter=1, tol=1e-4)
        assert exact_cost(points, found.labels, 4) <= tested[-1] * (1 + 1e-9), seed
