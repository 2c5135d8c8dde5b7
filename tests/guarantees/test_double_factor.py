"""Theorem 8, and Theorem 9 through the front door, against all partitions and column maps."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array

import orthonmf
from orthonmf.certificate import Promise
from orthonmf.onmf.double_factor import separate_centers
from orthonmf.onmf.promises import double_from_lines
from orthonmf.vectors import unit_lengths
from tests.guarantees.small_matrices import tiny_matrix
from tests.oracles.double_factor import best_double_factor_error
from tests.oracles.weighted_kmeans import exact_kmeans

ROUNDING = 1e-9
pytestmark = pytest.mark.filterwarnings("ignore::orthonmf.FewerComponentsWarning")


class Exact:
    """Optimal labels with the ratio 1 that they have."""

    def __init__(self, points, weights, k, rng):
        self.labels, self.ratio = exact_kmeans(np.asarray(points), weights, k), 1.0


@pytest.mark.slow
def test_exact_kmeans_keeps_the_promise_of_theorem_8():
    worst, claimed = 0.0, 0
    for seed in range(120):
        X = tiny_matrix(seed, (4, 4))
        found = orthonmf.factorize(
            X, 2, orthogonal="both", algorithm="paper", kmeans=Exact, certificate=None
        )
        optimum = best_double_factor_error(X, 2)
        ratio = 2 + 8 * (8 + 4 * np.sqrt(3))
        if found.certificate.a_priori_ratio is not None:
            claimed += 1
            assert found.certificate.a_priori_ratio == pytest.approx(ratio, rel=1e-5)
            assert found.certificate.a_priori_kind == "always"
        assert found.error**2 <= ratio * optimum + ROUNDING, seed
        worst = max(worst, found.error**2 / max(optimum, 1e-12))
    assert claimed > 95
    print(f"worst ratio of Theorem 8 with exact k-means: {worst:.2f}")


@pytest.mark.slow
def test_any_lines_keep_the_promise_of_theorem_21():
    worst = 0.0
    for seed in range(100):
        rng = np.random.default_rng(seed)
        X, k = tiny_matrix(seed, (4, 4)), 1 + seed % 3
        optimum = best_double_factor_error(X, k)
        directions = X[rng.choice(len(X), size=k, replace=False)] + 0.3 * rng.random((k, 4))
        directions /= np.linalg.norm(directions, axis=1, keepdims=True)
        products = X @ directions.T
        labels = products.argmax(axis=1)
        first = np.sum(X**2) - np.square(products.max(axis=1)).sum()
        energies = np.bincount(labels, np.square(X).sum(axis=1), minlength=k)
        separate = unit_lengths(separate_centers(directions, energies).directions)
        error = np.sum(X**2) - np.square((X @ separate.T).max(axis=1, initial=0.0)).sum()
        if optimum > 1e-6 * np.sum(X**2):
            promised = double_from_lines(Promise(first / optimum, "always"))
            assert error <= promised.ratio * optimum, seed
            worst = max(worst, error / optimum / promised.ratio)
    print(f"at most {worst:.2f} of what Theorem 21 allows")
    assert worst > 0.01


@pytest.mark.slow
@pytest.mark.parametrize("shape", [(3, 5), (5, 3), (4, 4)])
@pytest.mark.parametrize("store", [np.asarray, csr_array])
def test_as_many_components_as_the_smaller_side_keep_the_promise_of_theorem_9(shape, store):
    claimed = proven = 0
    for seed in range(24):
        X = tiny_matrix(seed, shape)
        found = orthonmf.factorize(
            store(X), 3 + seed % 3 if min(shape) == 3 else 4, orthogonal="both", algorithm="paper"
        )
        optimum = best_double_factor_error(X, min(shape))
        assert found.error**2 <= 14.9283 * optimum + ROUNDING, seed
        if found.certificate.a_priori_ratio is not None:
            claimed += 1
            assert found.certificate.a_priori_ratio == pytest.approx(14.9282, rel=1e-4)
            assert found.certificate.a_priori_kind == "always"
        if found.certificate.lower_bound is not None:
            proven += 1
            assert found.certificate.lower_bound * np.sum(X**2) <= optimum + ROUNDING, seed
    assert claimed > 18
    assert proven > 18


@st.composite
def matrices_that_cancel(draw):
    """Two directions in the plane 37 to 53 degrees apart, each with rows of the same energy.

    Multiples of Pythagorean triples, so weights are integers and cancel exactly.
    """
    near, far = draw(st.sampled_from([((5, 0), (3, 4)), ((5, 0), (4, 3)), ((0, 5), (3, 4))]))
    multiples = draw(st.lists(st.integers(1, 4), min_size=1, max_size=3))
    rows = [np.multiply(times, vector) for times in multiples for vector in (near, far)]
    places = draw(st.permutations(range(3)))
    X = np.zeros((len(rows), 3))
    X[:, places[:2]] = rows
    return X[draw(st.permutations(range(len(rows))))]


@pytest.mark.parametrize("kmeans", [Exact, "k-means++"])
@settings(max_examples=25)
@given(X=matrices_that_cancel(), algorithm=st.sampled_from(["paper", "best"]))
def test_the_promise_holds_where_weight_reduction_leaves_nothing(kmeans, X, algorithm):
    # With two rows no clustering is needed (Theorem 9), and none may be named.
    subroutine = {"kmeans": kmeans} if algorithm == "paper" and len(X) > 2 else {}
    found = orthonmf.factorize(
        X, 2, orthogonal="both", algorithm=algorithm, random_state=0, **subroutine
    )
    optimum = best_double_factor_error(X, 2)
    assert found.n_components_found >= 1
    assert optimum - ROUNDING <= found.error**2
    assert found.error**2 <= found.certificate.a_priori_ratio * optimum + ROUNDING
    assert found.certificate.lower_bound * np.sum(X**2) <= optimum + ROUNDING
    assert np.all(np.count_nonzero(found.components, axis=0) <= 1)
    assert np.all(np.diff(found.history) <= 0)


@pytest.mark.slow
@pytest.mark.parametrize("algorithm", ["paper", "best"])
@pytest.mark.parametrize("orthogonal", ["samples", "features", "both"])
@pytest.mark.parametrize("store", [np.asarray, csr_array])
def test_shuffled_blocks_without_noise_are_recovered_exactly(algorithm, orthogonal, store):
    rng = np.random.default_rng(0)
    X = np.zeros((33, 22))
    rows, columns = rng.integers(4, size=33), rng.integers(4, size=22)
    for block in range(4):
        inside = np.ix_(rows == block, columns == block)
        X[inside] = np.outer(
            rng.exponential(size=np.sum(rows == block)),
            rng.exponential(size=np.sum(columns == block)),
        )
    X[[3, 8]] = 0.0
    X[:, [1, 20]] = 0.0
    blocks = len(set(rows[X.any(axis=1)]) & set(columns[X.any(axis=0)]))
    found = orthonmf.factorize(
        store(X), blocks, orthogonal=orthogonal, algorithm=algorithm, n_init=5, random_state=0
    )
    assert found.relative_squared_error < 1e-24
    assert found.n_components_found == blocks
    if found.labels is not None:
        np.testing.assert_array_equal(found.labels == -1, ~X.any(axis=1))
        used = found.labels >= 0
        assert len({(a, b) for a, b in zip(found.labels[used], rows[used], strict=True)}) == blocks
    if found.feature_labels is not None:
        np.testing.assert_array_equal(found.feature_labels == -1, ~X.any(axis=0))
