"""Fits of tiny and huge numbers, in both precisions, are those of ordinary ones."""

import numpy as np
import pytest
from scipy.sparse import csr_array

import orthonmf
from orthonmf.datasets import make_planted
from tests.arrays import to_array
from tests.published_fits import fit, quiet_fit

SETTINGS = ["samples", "features"]


@pytest.mark.parametrize("orthogonal", SETTINGS)
@pytest.mark.parametrize("power", [900, -900, 30, -30])
def test_a_power_of_two_changes_no_label_and_no_bit_of_the_components(orthogonal, power):
    X = make_planted(60, 15, 3, 0.3, random_state=0).X
    X[4] = 0.0
    plain, scaled = fit(X, orthogonal=orthogonal), fit(np.ldexp(X, power), orthogonal=orthogonal)
    np.testing.assert_array_equal(plain.components, scaled.components)
    assert plain.relative_squared_error == scaled.relative_squared_error
    assert scaled.error == np.ldexp(plain.error, power)
    if orthogonal == "samples":
        np.testing.assert_array_equal(plain.labels, scaled.labels)
        np.testing.assert_array_equal(np.ldexp(plain.scales, power), scaled.scales)
    else:
        np.testing.assert_array_equal(plain.feature_labels, scaled.feature_labels)
        np.testing.assert_array_equal(np.ldexp(plain.loadings, power), scaled.loadings)


@pytest.mark.parametrize("orthogonal", SETTINGS)
@pytest.mark.parametrize("store", [np.asarray, csr_array])
@pytest.mark.parametrize("factor", [1e-310, 1e-200, 1e300])
def test_tiny_and_huge_data_get_the_same_labels(orthogonal, store, factor):
    X = make_planted(60, 15, 3, 0.3, random_state=0).X
    plain, scaled = (fit(store(data), orthogonal=orthogonal) for data in (X, X * factor))
    for name in ("labels", "feature_labels"):
        np.testing.assert_array_equal(getattr(plain, name), getattr(scaled, name))
    np.testing.assert_allclose(plain.components, scaled.components, rtol=1e-9, atol=1e-12)


def test_float32_far_from_one_agrees_with_float64():
    X = make_planted(60, 15, 3, 0.3, random_state=0).X
    wide = fit(X)
    for factor in (1e30, 1e-30):
        narrow = fit((X * factor).astype(np.float32))
        np.testing.assert_array_equal(narrow.labels, wide.labels)
        assert narrow.relative_squared_error == pytest.approx(wide.relative_squared_error, rel=1e-5)
        assert narrow.components.dtype == np.float32
        assert narrow.scales.dtype == np.float32


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_rows_of_many_magnitudes_are_labelled(dtype):
    rng = np.random.default_rng(0)
    directions = np.eye(3) + 0.01
    labels = rng.integers(3, size=60)
    most = 30 if dtype == np.float32 else 75
    X = directions[labels] * 10.0 ** rng.uniform(-most, most, size=60)[:, None]
    X[:3] = directions * 10.0**most
    X = X.astype(dtype)
    result = quiet_fit(X, n_init=10)
    assert np.all(result.labels >= 0)
    assert np.all(np.isfinite(result.scales))
    assert np.all(result.scales > 0)
    with np.errstate(all="raise"):
        back = result.scales[:, None] * result.components[result.labels]
    np.testing.assert_allclose(back, X, rtol=0.05)


@pytest.mark.parametrize("orthogonal", ["samples", "features", "both"])
def test_rows_that_underflow_next_to_the_largest_entry_count_as_zero(orthogonal):
    X = make_planted(60, 15, 3, 0.3, random_state=0).X * 1e150
    zeros = X.copy()
    X[[7, 20]] *= 1e-320
    zeros[[7, 20]] = 0.0
    result, expected = (quiet_fit(data, orthogonal=orthogonal) for data in (X, zeros))
    np.testing.assert_array_equal(result.components, expected.components)
    loadings = to_array(result.loadings)
    assert not loadings[[7, 20]].any()
    assert result.cautions[0].startswith(
        "The squares of 2 of the rows (the first: 7) are so small next to the largest"
    )
    assert not any("underflow" in caution for caution in expected.cautions)
    assert result.certificate.lower_bound == pytest.approx(expected.certificate.lower_bound)
    if orthogonal != "features":
        np.testing.assert_array_equal(result.labels, expected.labels)
        assert (result.labels[[7, 20]] == -1).all()


def test_rows_that_float32_cannot_multiply_are_labelled_by_their_own_scale():
    X = np.array([[1e30, 1e28], [1e28, 1e30], [1e-30, 1e-32], [1e-32, 1e-30]], dtype=np.float32)
    result = fit(X, 2)
    np.testing.assert_array_equal(result.labels[:2], result.labels[2:])
    assert np.all(result.scales > 0)


def test_a_scale_that_does_not_fit_its_dtype_names_the_row():
    X = np.full((3, 5), 1.0)
    X[1] = np.finfo(float).max
    with pytest.raises(OverflowError, match="row 1") as caught:
        fit(X, 1)
    assert isinstance(caught.value, orthonmf.OrthoNMFError)
    assert "NaN" not in str(caught.value)


def test_weights_of_any_size_only_matter_relative_to_each_other():
    X = make_planted(40, 12, 3, 0.4, random_state=4).X
    weights = np.random.default_rng(0).exponential(size=40)
    plain = fit(X, sample_weight=weights)
    for power in (900, -900):
        scaled = fit(X, sample_weight=np.ldexp(weights, power))
        np.testing.assert_array_equal(plain.components, scaled.components)
        assert scaled.error == pytest.approx(np.ldexp(plain.error, power // 2), rel=1e-12)


def test_large_weights_on_float32_data_do_not_overflow():
    X = (np.random.default_rng(0).random((200, 10)) * 1e11).astype(np.float32)
    for weight in (1e18, 1e-19):
        weighted = fit(X, 4, sample_weight=np.full(200, weight))
        assert weighted.n_components_found == 4
        assert weighted.relative_squared_error == pytest.approx(
            fit(X, 4).relative_squared_error, rel=1e-3
        )


def test_an_error_that_no_float_holds_is_refused_with_the_remedy():
    X = np.diag(np.full(3, np.finfo(float).max))
    with pytest.raises(orthonmf.OrthoNMFError, match=r"error is too large .* by a power of two"):
        fit(X, 1)
