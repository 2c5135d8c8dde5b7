"""What a factorization holds, and what must not change it: scale, order, copies, weights."""

import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy.sparse import csr_array
from sklearn.cluster import KMeans

import orthonmf
from orthonmf.datasets import make_planted
from orthonmf.errors import InvalidInputError
from orthonmf.factorization import FitOptions
from tests.arrays import to_array
from tests.published_fits import fit, quiet_fit

SETTINGS = ["samples", "features"]


def approximation(result):
    return to_array(result.loadings) @ result.components


# Everything from the smallest subnormal to the largest float, zeros in plenty.
magnitudes = st.one_of(
    st.just(0.0),
    st.floats(min_value=0.0, max_value=np.finfo(float).max / 1e4, allow_subnormal=True),
    st.floats(min_value=5e-324, max_value=1e-300, allow_subnormal=True),
    st.floats(min_value=0.1, max_value=10.0),
)
matrices = hnp.arrays(
    np.float64, hnp.array_shapes(min_dims=2, max_dims=2, max_side=7), elements=magnitudes
)


@given(
    X=matrices,
    k=st.integers(1, 5),
    orthogonal=st.sampled_from([*SETTINGS, "both"]),
    sparse=st.booleans(),
    algorithm=st.sampled_from(["paper", "best"]),
)
@settings(max_examples=120)
def test_orthogonality_is_exact_and_nothing_is_nan_whatever_the_data(
    X, k, orthogonal, sparse, algorithm
):
    given_matrix = csr_array(X) if sparse else X
    result = quiet_fit(given_matrix, k, orthogonal=orthogonal, algorithm=algorithm)
    for factor in [result.W] * (orthogonal != "features") + [result.A.T] * (
        orthogonal != "samples"
    ):
        dense = factor.toarray()
        assert np.all(np.count_nonzero(dense, axis=0) <= 1)
        gram = dense @ np.where(dense > 0, 1.0, 0.0).T  # positive exactly where supports meet
        assert np.all(gram[~np.eye(len(gram), dtype=bool)] == 0.0)
    assert np.all(np.isfinite(result.components))
    assert np.all(result.components >= 0)
    assert np.isfinite(result.error)
    assert 0 <= result.relative_squared_error <= 1 + 1e-12
    if orthogonal != "features":
        np.testing.assert_array_equal(result.labels == -1, result.scales == 0)
    if orthogonal != "samples":
        np.testing.assert_array_equal(result.feature_labels == -1, result.feature_scales == 0)
    np.testing.assert_allclose(np.linalg.norm(result.components, axis=1), 1.0, rtol=1e-12)
    assert result.certificate.ratio is None or result.certificate.ratio >= 1.0


@pytest.mark.parametrize("orthogonal", SETTINGS)
def test_more_components_than_directions_warn_and_fit_exactly(orthogonal):
    X = np.outer(np.arange(1.0, 9.0), [1.0, 2.0, 0.0])
    X[3:] = np.outer(np.arange(1.0, 6.0), [0.0, 0.0, 2.0])
    with pytest.warns(orthonmf.FewerComponentsWarning, match="2 of the 3"):
        result = fit(X, 3, orthogonal=orthogonal)
    assert result.n_components == 3
    assert result.n_components_found == 2
    assert result.relative_squared_error <= 1e-28


@pytest.mark.parametrize("orthogonal", SETTINGS)
@pytest.mark.parametrize("store", [np.asarray, csr_array])
@pytest.mark.parametrize("weighting", [(), ("sample_weight",), ("sample_weight", "feature_weight")])
def test_the_error_is_that_of_the_factors(orthogonal, store, weighting):
    rng = np.random.default_rng(5)
    X = rng.exponential(size=(40, 12)) * (rng.random((40, 12)) < 0.7)
    rows, columns = rng.exponential(size=40), rng.exponential(size=12)
    weights = {"sample_weight": rows, "feature_weight": columns}
    given = {name: weights[name] for name in weighting}
    result = fit(store(X), orthogonal=orthogonal, **given)
    rows = given.get("sample_weight", np.ones(40))[:, None]
    columns = given.get("feature_weight", np.ones(12))
    squares = rows * columns * (X - approximation(result)) ** 2
    assert result.error**2 == pytest.approx(squares.sum(), rel=1e-10)
    total = (rows * columns * X**2).sum()
    assert result.relative_squared_error == pytest.approx(squares.sum() / total, rel=1e-10)


@pytest.mark.parametrize("store", [np.asarray, csr_array])
@pytest.mark.parametrize("noise", [0.0, 1e-9, 1e-6])
def test_a_nearly_perfect_fit_has_an_error_without_cancellation(store, noise):
    rng = np.random.default_rng(0)
    X = make_planted(50, 20, 3, 0.0, random_state=0).X
    X = X * (1 + noise * rng.random(X.shape))
    result = fit(store(X), n_init=10)
    exact = np.linalg.norm(X.astype(np.longdouble) - approximation(result).astype(np.longdouble))
    assert result.error == pytest.approx(float(exact), rel=1e-6, abs=1e-13 * np.linalg.norm(X))
    assert result.relative_squared_error <= max(noise, 1e-15) ** 2


@pytest.mark.parametrize("store", [np.asarray, csr_array])
@pytest.mark.parametrize("orthogonal", SETTINGS)
def test_an_integer_weight_equals_repetition(store, orthogonal):
    X = make_planted(40, 12, 3, 0.4, random_state=4).X
    counts = np.random.default_rng(0).integers(1, 4, size=40)
    repeated = np.repeat(X, counts, axis=0)
    weights, labels = {"sample_weight": counts}, "labels"
    if orthogonal == "features":
        X, repeated, weights, labels = X.T, repeated.T, {"feature_weight": counts}, "feature_labels"
    weighted = fit(store(X), orthogonal=orthogonal, **weights)
    longer = fit(store(repeated), orthogonal=orthogonal)
    np.testing.assert_array_equal(
        np.repeat(getattr(weighted, labels), counts), getattr(longer, labels)
    )
    assert weighted.error == pytest.approx(longer.error, rel=1e-10)
    if orthogonal == "samples":
        np.testing.assert_allclose(weighted.components, longer.components, rtol=1e-9, atol=1e-12)


def test_scikit_learns_kmeans_is_a_subroutine():
    X = make_planted(300, 20, 4, 0.3, random_state=7).X

    def kmeans(points, weights, k, rng):
        model = KMeans(k, n_init=3, random_state=int(rng.integers(2**31)))
        return model.fit(points, sample_weight=weights)

    for store in (np.asarray, csr_array):
        for orthogonal in SETTINGS:
            result = fit(store(X), 4, orthogonal=orthogonal, kmeans=kmeans)
            ours = fit(X, 4, orthogonal=orthogonal, n_init=5)
            assert result.error == pytest.approx(ours.error, rel=0.02)


def test_local_search_ends_on_data_with_fewer_directions_than_asked_for():
    rng = np.random.default_rng(0)
    for X in (np.outer(rng.random(20), rng.random(6)), np.tile(rng.random((3, 5)), (10, 1))):
        result = quiet_fit(X, 3, kmeans="local-search")
        assert result.relative_squared_error < 1e-25
        assert result.certificate.a_priori_ratio is None


@pytest.mark.parametrize("seed", range(2))
def test_local_search_ends_in_float32_at_the_level_of_its_rounding(seed):
    rng = np.random.default_rng(seed)
    centers = rng.random((5, 20))
    X = centers[rng.integers(5, size=150)] * np.abs(1 + 5e-4 * rng.standard_normal((150, 20)))
    assert quiet_fit(X.astype(np.float32), 20, kmeans="local-search").relative_squared_error < 1e-6


def test_a_matrix_of_mostly_empty_rows_is_projected_without_making_them_dense():
    X = csr_array(([1.0, 2.0], ([5, 20_000], [3, 2_900])), shape=(30_000, 3_000))
    result = fit(X, 2, algorithm="best")
    assert list(np.flatnonzero(result.labels >= 0)) == [5, 20_000]


def test_seconds_that_would_be_ignored_are_refused():
    X = np.random.default_rng(0).random((12, 5))
    with pytest.raises(InvalidInputError, match="certificate_seconds=5 would be ignored with"):
        orthonmf.factorize(X, 2, certificate_seconds=5)
    result = orthonmf.factorize(X, 2, certificate="tight", certificate_seconds=0, random_state=0)
    assert result.certificate.ratio >= 1.0
    with pytest.raises(InvalidInputError, match="seconds=5 would be ignored with method='svd'"):
        result.certify(X, seconds=5)
    assert result.certify(X, "tight", seconds=5).ratio <= result.certify(X, "svd").ratio


def test_a_result_keeps_the_options_that_another_fit_repeats():
    X = make_planted(30, 12, 3, noise=0.1, random_state=0).X
    result = orthonmf.factorize(X, 3, init="lines", n_init=2, max_iter=50, tol=1e-4, random_state=0)
    assert result.fit_options == FitOptions(init="lines", n_init=2, max_iter=50, tol=1e-4)
    given = orthonmf.factorize(X, 3, init=result.components, random_state=0)
    assert given.fit_options == FitOptions()  # components say where an answer is


def test_a_function_of_the_user_is_not_kept_so_that_results_can_be_pickled():
    X = make_planted(30, 12, 3, noise=0.1, random_state=0).X
    result = orthonmf.factorize(
        X, 3, algorithm="paper", kmeans=lambda X, w, k, rng: np.arange(30) % k
    )
    assert result.fit_options is None
    assert pickle.loads(pickle.dumps(result)).error == result.error
