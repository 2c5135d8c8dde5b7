"""Theorem 3 and every ratio the code claims, against all partitions."""

import numpy as np
import pytest

import orthonmf
from tests.guarantees.small_matrices import tiny_matrix
from tests.oracles.single_factor import best_single_factor_error
from tests.oracles.weighted_kmeans import exact_kmeans, kmeans_cost

ROUNDING = 1e-9


def oriented(X, orthogonal):
    """The matrix whose rows are the points of the setting."""
    return X if orthogonal == "samples" else X.T


@pytest.mark.slow
@pytest.mark.parametrize("orthogonal", ["samples", "features"])
@pytest.mark.filterwarnings("ignore::orthonmf.FewerComponentsWarning")
def test_exact_kmeans_gives_at_most_twice_the_optimum(orthogonal):  # Theorem 3 with r = 1
    for seed in range(60):
        points = tiny_matrix(seed)
        k = 2 + seed % 2
        X = oriented(points, orthogonal)
        found = orthonmf.factorize(
            X, k, orthogonal=orthogonal, algorithm="paper", kmeans=exact_kmeans
        )
        optimum = best_single_factor_error(points, k)
        assert found.error**2 <= 2 * optimum + ROUNDING, seed


@pytest.mark.slow
@pytest.mark.parametrize("orthogonal", ["samples", "features"])
@pytest.mark.filterwarnings("ignore::orthonmf.FewerComponentsWarning")
def test_local_search_keeps_its_promise_every_time(orthogonal):
    claimed = 0
    for seed in range(60):
        points = tiny_matrix(seed, (7, 3))
        X = oriented(points, orthogonal)
        found = orthonmf.factorize(
            X, 2, orthogonal=orthogonal, algorithm="paper", kmeans="local-search", random_state=seed
        )
        ratio = found.certificate.a_priori_ratio
        if ratio is None:
            continue
        claimed += 1
        assert found.certificate.a_priori_kind == "always"
        assert 53.2 < ratio < 53.5
        assert found.error**2 <= ratio * best_single_factor_error(points, 2) + ROUNDING, seed
    assert claimed > 50


@pytest.mark.slow
@pytest.mark.parametrize("kmeans", ["k-means++", "ls++"])
@pytest.mark.parametrize("k", [2, 3])
@pytest.mark.filterwarnings("ignore::orthonmf.FewerComponentsWarning")
def test_the_expected_ratio_holds_on_average(kmeans, k):
    for seed in range(5):
        X = tiny_matrix(seed, (7, 3))
        fits = [
            orthonmf.factorize(X, k, algorithm="paper", kmeans=kmeans, random_state=start)
            for start in range(20)
        ]
        certificate = fits[0].certificate
        assert certificate.a_priori_kind == "expected"
        assert certificate.a_priori_ratio == pytest.approx(
            2 * 5 * (1 + sum(1 / j for j in range(1, k))), rel=3e-3
        )
        mean = np.mean([fit.error**2 for fit in fits])
        optimum = best_single_factor_error(X, k)
        assert mean <= certificate.a_priori_ratio * optimum + ROUNDING, seed


def test_one_component_is_within_twice_always_and_in_fact_close():
    X = tiny_matrix(5)
    found = orthonmf.factorize(X, 1, algorithm="paper", random_state=0)
    assert found.certificate.a_priori_ratio == pytest.approx(2.0, rel=1e-9)
    assert found.certificate.a_priori_kind == "always"
    assert found.error**2 <= 2 * best_single_factor_error(X, 1) + ROUNDING


def test_the_kmeans_cost_bounds_the_error_of_its_own_partition():
    # The inequality behind Theorem 3: with scales |x| the error is the k-means cost.
    for seed in range(30):
        X = tiny_matrix(seed)
        X = X[X.any(axis=1)]
        lengths = np.linalg.norm(X, axis=1)
        labels = exact_kmeans(X / lengths[:, None], lengths**2, 2)
        found = orthonmf.factorize(X, 2, algorithm="paper", kmeans=lambda p, w, k, rng, a=labels: a)
        cost = kmeans_cost(X / lengths[:, None], lengths**2, labels)
        assert found.error**2 <= cost + ROUNDING
