"""First directions: every planted component is found, and the last sweep is what is published."""

import numpy as np
import pytest
from scipy.sparse import csr_array

import orthonmf
from orthonmf.datasets import make_planted
from orthonmf.engine.points import Samples, columns_of
from orthonmf.inputs.data import as_matrix
from orthonmf.kmeans.seeding import seeding_promise
from orthonmf.onmf.search.one_side import search_one_side
from tests.onmf.small_points import some_options


@pytest.mark.parametrize("store", [np.asarray, csr_array])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_settled_fit_is_published_as_it_was_swept_last(store, dtype):
    X = make_planted(3000, 40, 12, 0.5, random_state=0).X.astype(dtype)
    X[5] = 0.0
    found = orthonmf.factorize(store(X), 12, random_state=0, certificate=None)
    assert found.n_sweeps == len(found.history)
    assert found.history[-1] == found.relative_squared_error
    again = found.transform(store(X))
    np.testing.assert_array_equal(again.toarray(), found.loadings.toarray())
    energies = np.square(found.loadings.toarray().astype(float)).sum(axis=0)
    assert np.all(np.diff(energies) <= 0)
    assert found.labels[5] == -1
    # One that is cut short is assigned by its last step.
    short = orthonmf.factorize(X, 12, max_iter=1, tol=0.0, random_state=0, certificate=None)
    assert short.relative_squared_error == short.history[-1] < short.history[0]


def same_bits(found, X):
    return np.array_equal(found.transform(X).toarray(), found.loadings.toarray())


def test_feature_weights_do_not_reach_the_scales_of_one_column_components():
    X = np.zeros((2000, 20))
    X[np.arange(2000), np.random.default_rng(0).integers(5, size=2000)] = 1.0
    weights = np.ones(20)
    weights[0] = 0.3
    found = orthonmf.factorize(X, 5, feature_weight=weights, random_state=0, certificate=None)
    assert found.error == pytest.approx(0.0, abs=1e-6)
    assert same_bits(found, X)


def test_a_negative_zero_in_given_directions_changes_no_label():
    rng = np.random.default_rng(0)
    X = np.zeros((2001, 10))
    X[:1000, 1], X[1000:2000, 9] = rng.random(1000) + 0.5, rng.random(1000) + 0.5
    X[:2000, 4] = 0.1 * rng.random(2000)
    X[2000, [1, 9]] = 1.0  # captured equally well by both
    given = np.zeros((2, 10))
    given[0, 1], given[1, 9], given[1, 0] = 1.0, 1.0, -0.0
    weights = np.ones(2001)
    weights[2000] = 0.0
    found = orthonmf.factorize(X, 2, sample_weight=weights, init=given, tol=0.9, certificate=None)
    assert same_bits(found, X)


@pytest.mark.parametrize("spread", [1e-6, 1e-4])
def test_directions_that_hardly_differ_are_all_used(spread):
    X = 1.0 + spread * np.random.default_rng(0).random((5000, 20))
    found = orthonmf.factorize(X, 5, random_state=0, certificate=None)
    assert found.n_components_found == 5


@pytest.mark.slow
def test_a_few_heavy_rows_do_not_hide_the_others():
    X = np.random.default_rng(0).random((1000, 20))
    X[:10] *= 1e4
    found = orthonmf.factorize(X, 20, random_state=0, certificate=None)
    assert found.n_components_found == 20


@pytest.mark.parametrize(
    ("dtype", "light"), [(np.float32, [1e-42, 1e-40]), (np.float64, [1e-158, 1e-161])]
)
def test_rows_of_hardly_any_length_do_not_disturb_the_choice(dtype, light):
    # Warnings are errors here.
    X = np.random.default_rng(0).random((300, 80)).astype(dtype)
    alone = orthonmf.factorize(X, 4, random_state=0, certificate=None)
    X[5:7] = np.array(light)[:, None]
    found = orthonmf.factorize(X, 4, random_state=0, certificate=None)
    assert found.error == pytest.approx(alone.error, rel=0.02)
    assert same_bits(found, X)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_perfect_fit_settles_and_its_history_is_not_negative(dtype):
    X = np.random.default_rng(0).random((20_000, 1)).astype(dtype)
    for weight in (1.0, 2.0, 3.0):
        found = orthonmf.factorize(X, 1, feature_weight=[weight], random_state=0, certificate=None)
        assert found.n_sweeps <= 5
        assert min(found.history) >= 0.0


# A promise is made with the draw that earns it, and outlives whatever is written about the fit.
X = np.random.default_rng(0).exponential(size=(60, 8))


def searched(X, init, k=3, orthogonal="samples", n_init=1):
    options = some_options(k, orthogonal=orthogonal, init=init, n_init=n_init, max_iter=5, tol=1e-4)
    matrix = as_matrix(X)
    points = Samples(matrix) if orthogonal == "samples" else columns_of(matrix)
    return search_one_side(points, options)


@pytest.mark.parametrize("orthogonal", ["samples", "features"])
@pytest.mark.parametrize(("init", "factor"), [("lines", 1.0), ("k-means||", None)])
def test_every_start_brings_the_promise_of_its_own_draws(orthogonal, init, factor):
    promise = searched(X, init, orthogonal=orthogonal, n_init=3).promise
    expected = None if factor is None else factor * seeding_promise(3).ratio
    assert promise.ratio == expected
    assert promise.kind == (None if factor is None else "expected")
    assert bool(promise.reason) == (factor is None)


def test_a_tournament_of_a_sample_keeps_the_promise_of_draws_from_all_points():
    sparse = csr_array(np.random.default_rng(0).poisson(0.03, (3000, 1500)).astype(float))
    found = searched(sparse, "auto")
    assert "tournament of a sample" in found.steps
    assert found.promise.ratio == seeding_promise(3).ratio


@pytest.mark.filterwarnings("ignore::orthonmf.FewerComponentsWarning")
@pytest.mark.parametrize(
    ("init", "orthogonal"),
    [("auto", "both"), *((s, "samples") for s in ("auto", "lines", "k-means||"))],
)
def test_a_fit_that_goes_on_from_a_checkpoint_promises_the_same(tmp_path, init, orthogonal):
    path = tmp_path / "fit.checkpoint"
    fits = [
        orthonmf.factorize(
            X, 3, orthogonal=orthogonal, init=init, checkpoint=path, random_state=0
        ).certificate
        for _ in range(2)
    ]
    assert fits[0].a_priori_ratio == fits[1].a_priori_ratio
    assert fits[0].a_priori_kind == fits[1].a_priori_kind
    assert fits[0].reason == fits[1].reason


@pytest.mark.parametrize("orthogonal", ["samples", "features"])
def test_given_directions_that_capture_nothing_are_refused(orthogonal):
    seen = X.copy()
    weight = None if orthogonal == "features" else [0.0, *np.ones(7)]
    if orthogonal == "features":
        seen[:, 0] = 0.0
    options = {"init": np.eye(1, 8), "orthogonal": orthogonal, "feature_weight": weight}
    with pytest.raises(orthonmf.OrthoNMFError, match="init captures nothing"):
        orthonmf.factorize(seen, 1, **options)


@pytest.mark.filterwarnings("ignore::orthonmf.FewerComponentsWarning")
@pytest.mark.parametrize("k", [7, 8, 9])
def test_streamed_columns_along_fewer_directions_than_components_are_fitted_exactly(k, tmp_path):
    rng = np.random.default_rng(k)
    X = rng.exponential(size=(43, 6))[:, rng.integers(6, size=30)] * rng.exponential(size=30)
    np.save(tmp_path / "X.npy", X)
    mapped = np.load(tmp_path / "X.npy", mmap_mode="r")
    found = orthonmf.factorize(mapped, k, orthogonal="features", random_state=0)
    assert found.relative_squared_error < 1e-12


def test_streamed_float32_columns_in_fewer_dimensions_than_candidates_are_fitted(tmp_path):
    """Products in float32 are no products of any vectors, to rounding, where vectors are many."""
    X = np.random.default_rng(0).random((8, 60)).astype(np.float32)
    np.save(tmp_path / "X.npy", X)
    options = {"orthogonal": "features", "random_state": 0, "certificate": None}
    mapped = orthonmf.factorize(np.load(tmp_path / "X.npy", mmap_mode="r"), 3, **options)
    error = orthonmf.factorize(X, 3, **options).relative_squared_error
    assert mapped.relative_squared_error <= 1.1 * error
