"""Missing values: monotone, as good as brute force, close to the complete fit, never claimed."""

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array

import orthonmf
from orthonmf.datasets import make_planted
from orthonmf.errors import InvalidInputError
from tests.oracles.masked import best_masked_error
from tests.same_bits import assert_same_bits

SETTINGS = ["samples", "features"]


def with_holes(X, share, seed=0):
    holes = np.random.default_rng(seed).random(X.shape) < share
    return np.where(holes, np.nan, X), holes


def fit(X, k, **options):
    options = {"missing_values": np.nan, "random_state": 0, "n_jobs": 1, **options}
    return orthonmf.factorize(X, k, **options)


def approximation(result):
    return np.asarray(result.loadings @ result.components)


@pytest.mark.slow
@pytest.mark.parametrize("orthogonal", SETTINGS)
@pytest.mark.parametrize("seed", range(2))
def test_no_partition_with_any_rank_one_fits_is_better(orthogonal, seed):
    rng = np.random.default_rng(seed)
    X, _ = with_holes(rng.exponential(size=(6, 5)), 0.25, seed)
    result = fit(X, 2, orthogonal=orthogonal, n_init=60, max_iter=500, tol=1e-10)
    best = best_masked_error(X if orthogonal == "samples" else X.T, 2, rng)
    assert result.error**2 <= best * (1 + 1e-4) + 1e-9


@pytest.mark.slow
@pytest.mark.parametrize("orthogonal", SETTINGS)
def test_held_out_entries_are_predicted_nearly_as_well_as_by_the_complete_fit(orthogonal):
    shape = (1000, 100) if orthogonal == "samples" else (100, 1000)
    X = make_planted(*shape, 10, 0.1, orthogonal=orthogonal, random_state=0).X
    gappy, holes = with_holes(X, 0.3)
    masked = fit(gappy, 10, orthogonal=orthogonal, n_init=4)
    complete = orthonmf.factorize(
        X, 10, orthogonal=orthogonal, n_init=4, random_state=0, certificate=None
    )
    errors = [
        np.sum((X - approximation(result))[holes] ** 2) / np.sum(X[holes] ** 2)
        for result in (masked, complete)
    ]
    assert errors[0] <= 1.1 * errors[1]


@pytest.mark.slow
@settings(max_examples=30)
@given(
    seed=st.integers(0, 10**6),
    share=st.sampled_from([0.1, 0.5, 0.9]),
    k=st.integers(1, 4),
    orthogonal=st.sampled_from(SETTINGS),
    sparse=st.booleans(),
    weighted=st.booleans(),
)
def test_the_error_over_observed_entries_never_rises(seed, share, k, orthogonal, sparse, weighted):
    rng = np.random.default_rng(seed)
    X = rng.exponential(size=(12, 9)) * (rng.random((12, 9)) < 0.8)
    X, holes = with_holes(X, share, seed)
    weights = (rng.exponential(size=12), rng.exponential(size=9)) if weighted else (None, None)
    options = {"n_init": 2, "max_iter": 100, "tol": 1e-6, "orthogonal": orthogonal}
    options |= {"sample_weight": weights[0], "feature_weight": weights[1]}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", orthonmf.FewerComponentsWarning)
        result = fit(csr_array(X) if sparse else X, k, **options)
    assert np.all(np.diff(result.history) <= 1e-12)
    assert np.all(np.isfinite(result.components))
    assert np.all(result.components >= 0)
    row_weights, column_weights = (np.ones(12), np.ones(9)) if not weighted else weights
    importance = np.where(holes, 0.0, np.outer(row_weights, column_weights))
    observed = np.where(holes, 0.0, X)
    error = np.sum(importance * (observed - approximation(result)) ** 2)
    np.testing.assert_allclose(result.error**2, error, rtol=1e-9, atol=1e-12)
    used = result.loadings if orthogonal == "samples" else csr_array(result.components.T)
    assert np.all(np.diff(used.indptr) <= 1)


@pytest.mark.parametrize("orthogonal", SETTINGS)
def test_sparse_input_with_stored_nan_gives_the_same_answer(orthogonal):
    X = make_planted(80, 30, 4, 0.1, orthogonal=orthogonal, random_state=1).X
    X, _ = with_holes(np.where(X < 0.2, 0.0, X), 0.2)
    stored = csr_array(X)
    before = stored.data.copy(), stored.indices.copy(), stored.indptr.copy()
    dense, sparse = fit(X, 4, orthogonal=orthogonal), fit(stored, 4, orthogonal=orthogonal)
    np.testing.assert_allclose(dense.components, sparse.components, atol=1e-9)
    np.testing.assert_allclose(approximation(dense), approximation(sparse), atol=1e-9)
    for part, old in zip((stored.data, stored.indices, stored.indptr), before, strict=True):
        np.testing.assert_array_equal(part, old)


@pytest.mark.parametrize("orthogonal", SETTINGS)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_transform_gives_the_same_bits_and_takes_new_rows_with_holes(orthogonal, dtype):
    X = make_planted(70, 40, 3, 0.1, orthogonal=orthogonal, random_state=2).X.astype(dtype)
    X, _ = with_holes(X, 0.3)
    X[5] = np.nan
    result = fit(X, 3, orthogonal=orthogonal, n_init=3)
    assert result.components.dtype == result.loadings.dtype == dtype
    again = result.transform(X, missing_values=np.nan)
    np.testing.assert_array_equal(csr_array(again).toarray(), csr_array(result.loadings).toarray())
    assert not csr_array(again)[[5]].toarray().any()
    whole = result.transform(np.where(np.isnan(X), 0, X)[:3])
    assert whole.shape == (3, result.n_components_found)
    with pytest.raises(InvalidInputError, match=r"missing_values=numpy\.nan"):
        result.transform(X)


@pytest.mark.parametrize("orthogonal", SETTINGS)
@pytest.mark.parametrize("power", [900, -900])
def test_a_power_of_two_changes_no_bit_of_the_components(orthogonal, power):
    X, _ = with_holes(make_planted(40, 15, 3, 0.3, random_state=0).X, 0.2)
    plain = fit(X, 3, orthogonal=orthogonal)
    scaled = fit(np.ldexp(X, power), 3, orthogonal=orthogonal)
    np.testing.assert_array_equal(plain.components, scaled.components)
    np.testing.assert_allclose(scaled.error, np.ldexp(plain.error, power), rtol=1e-12)


def test_without_a_hole_the_answer_is_the_ordinary_one_with_its_claim():
    X = make_planted(60, 20, 3, 0.2, random_state=0).X
    allowed, plain = fit(X, 3), orthonmf.factorize(X, 3, random_state=0, n_jobs=1)
    np.testing.assert_array_equal(allowed.components, plain.components)
    assert allowed.certificate.ratio == plain.certificate.ratio


def test_nothing_is_claimed_and_the_reason_is_given():
    X, _ = with_holes(make_planted(60, 20, 3, 0.2, random_state=0).X, 0.2)
    certificate = fit(X, 3).certificate
    assert certificate.ratio is None
    assert certificate.lower_bound is None
    assert certificate.a_priori_ratio is None
    assert str(certificate).startswith("nothing is proven: entries are missing")


def test_other_faults_are_still_found_between_holes():
    for bad, message in ((-1.0, r"X\[3, 0\] = -1"), (np.inf, r"infinity.*X\[3, 0\]")):
        X = np.ones((4, 3))
        X[2, 1], X[3, 0] = np.nan, bad
        with pytest.raises(InvalidInputError, match=message):
            fit(X, 2)


def test_both_sides_refuse_with_a_reason():
    X, _ = with_holes(np.ones((5, 4)), 0.3)
    with pytest.raises(InvalidInputError, match=r"no closed form.*'samples' or.*'features'"):
        fit(X, 2, orthogonal="both")


@pytest.mark.parametrize("orthogonal", SETTINGS)
def test_rows_and_columns_of_which_nothing_is_observed_are_left_out(orthogonal):
    X, _ = with_holes(np.random.default_rng(4).exponential(size=(6, 5)), 0.25, 4)
    X[2], X[:, 3] = np.nan, np.nan
    seen = np.delete(np.delete(X, 2, axis=0), 3, axis=1)
    found, without = (fit(data, 2, orthogonal=orthogonal, n_init=6) for data in (X, seen))
    assert found.error == pytest.approx(without.error, rel=1e-3)
    assert not approximation(found)[2].any()
    assert not found.components[:, 3].any()


@pytest.mark.parametrize("orthogonal", SETTINGS)
def test_nothing_observed_gives_no_components(orthogonal):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", orthonmf.FewerComponentsWarning)
        for X in (np.full((4, 3), np.nan), np.where(np.eye(4, 3), np.nan, 0.0)):
            result = fit(X, 2, orthogonal=orthogonal)
            assert result.n_components_found == 0
            assert result.error == 0


@pytest.mark.slow
@pytest.mark.parametrize("orthogonal", SETTINGS)
def test_threads_do_not_change_a_bit(orthogonal):
    X, _ = with_holes(np.random.default_rng(0).exponential(size=(1500, 200)), 0.3)
    alone, threaded = (fit(X, 3, orthogonal=orthogonal, n_jobs=n, max_iter=3) for n in (1, 3))
    assert_same_bits(threaded, alone)
