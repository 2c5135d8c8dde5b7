"""Weights are the metric: whatever has weight 0 is as if it were not there, at any scale."""

import numpy as np
import pytest
from scipy.sparse import csr_array

import orthonmf
from tests.arrays import to_array
from tests.engine.stores import Slices
from tests.oracles.double_factor import best_double_factor_error
from tests.oracles.single_factor import best_single_factor_error
from tests.quick_cases import mostly_slow

pytestmark = pytest.mark.filterwarnings("ignore::orthonmf.FewerComponentsWarning")

SETTINGS = ["samples", "features", "both"]
STORES = [np.asarray, csr_array]
LARGE = {np.float64: 1e200, np.float32: 2e38}


def fit(X, setting, **options):
    return orthonmf.factorize(X, 2, orthogonal=setting, n_init=4, random_state=0, **options)


def weighted_error(X, result, row_weights, column_weights):
    difference = np.square(X - to_array(result.loadings) @ result.components)
    return float(row_weights @ difference @ column_weights)


def smallest_error(X, setting, row_weights, column_weights):
    Y = np.sqrt(row_weights)[:, None] * X * np.sqrt(column_weights)
    if setting == "both":
        return best_double_factor_error(Y.T, 2)
    return best_single_factor_error(Y if setting == "samples" else Y.T, 2)


@pytest.mark.slow
@pytest.mark.parametrize("setting", SETTINGS)
@pytest.mark.parametrize("store", STORES)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_a_row_of_weight_zero_changes_nothing_however_large_it_is(setting, store, dtype):
    X = np.random.default_rng(0).exponential(size=(9, 5)).astype(dtype)
    huge = np.zeros((1, 5), dtype=dtype)
    huge[0, 2] = LARGE[dtype]
    alone = fit(store(X), setting)
    beside = fit(store(np.vstack([huge, X])), setting, sample_weight=[0.0, *np.ones(9)])
    np.testing.assert_allclose(
        beside.relative_squared_error, alone.relative_squared_error, rtol=1e-5
    )
    np.testing.assert_allclose(beside.components, alone.components, atol=1e-3)
    np.testing.assert_allclose(
        beside.certificate.lower_bound, alone.certificate.lower_bound, rtol=1e-6
    )
    if beside.scales is not None:
        own = beside.components[beside.labels[0], 2]
        np.testing.assert_allclose(beside.scales[0], own * LARGE[dtype], rtol=1e-5)


@pytest.mark.parametrize("setting", SETTINGS)
@pytest.mark.parametrize("store", STORES)
def test_a_column_of_weight_zero_is_as_if_it_were_not_there(setting, store):
    X = np.random.default_rng(1).exponential(size=(9, 5)).astype(np.float32)
    fill = np.full((9, 1), 9.97e36, dtype=np.float32)
    alone = fit(store(X), setting)
    weights = np.array([1.0, 1.0, 0.0, 1.0, 1.0, 1.0])
    beside = fit(store(np.hstack([X[:, :2], fill, X[:, 2:]])), setting, feature_weight=weights)
    assert not beside.components[:, 2].any()
    if beside.feature_labels is not None:
        assert beside.feature_labels[2] == -1
    np.testing.assert_allclose(
        beside.relative_squared_error, alone.relative_squared_error, rtol=1e-5
    )
    np.testing.assert_allclose(np.delete(beside.components, 2, axis=1), alone.components, atol=1e-3)


@pytest.mark.parametrize("setting", SETTINGS)
@pytest.mark.parametrize("power", mostly_slow([40, 190], quick=1))
def test_scales_that_weights_take_back_change_nothing(setting, power):
    """A row times s with weight 1 / s^2, and the same for a column, is the same matrix."""
    X = np.random.default_rng(2).exponential(size=(9, 5))
    plain = fit(X, setting)
    scaled, row_weights, column_weights = X.copy(), np.ones(9), np.ones(5)
    scaled[3] *= 2.0**power
    row_weights[3] = 2.0 ** (-2 * power)
    scaled[:, 1] *= 2.0**power
    column_weights[1] = 2.0 ** (-2 * power)
    result = fit(scaled, setting, sample_weight=row_weights, feature_weight=column_weights)
    assert result.relative_squared_error == pytest.approx(plain.relative_squared_error, rel=1e-9)
    assert result.error == pytest.approx(plain.error, rel=1e-9)
    lower = plain.certificate.lower_bound
    assert result.certificate.lower_bound == pytest.approx(lower, rel=1e-6)


def test_feature_weights_are_used_by_loadings_too():
    X = np.array([[100.0, 1, 1], [1, 1, 1], [1, 1, 1], [1, 1, 1]])
    result = orthonmf.factorize(X, 1, feature_weight=[1e-4, 1, 1], random_state=0)
    assert result.relative_squared_error == pytest.approx(0.0788054609, rel=1e-8)
    assert result.certificate.ratio < 1.0001


@pytest.mark.slow
@pytest.mark.parametrize("setting", SETTINGS)
@pytest.mark.parametrize("seed", range(3))
def test_the_weighted_optimum_is_found_and_never_beaten_by_its_bound(setting, seed):
    rng = np.random.default_rng(seed)
    X = rng.exponential(size=(6, 4))
    row_weights = rng.choice([0.0, 0.3, 1.0, 7.0], size=6)
    column_weights = rng.choice([0.0, 1e-3, 1.0, 5.0], size=4)
    row_weights[0] = column_weights[0] = 1.0
    result = fit(X, setting, sample_weight=row_weights, feature_weight=column_weights)
    total = float(row_weights @ np.square(X) @ column_weights)
    smallest = smallest_error(X, setting, row_weights, column_weights)
    error = weighted_error(X, result, row_weights, column_weights)
    assert result.error**2 == pytest.approx(error, rel=1e-9, abs=1e-12 * total)
    assert error == pytest.approx(smallest, rel=1e-6, abs=1e-12 * total)
    assert (result.certificate.lower_bound or 0.0) * total <= smallest + 1e-14 * total


@pytest.mark.parametrize("setting", SETTINGS)
@pytest.mark.parametrize("store", STORES)
def test_transform_predict_and_a_loaded_model_keep_the_metric_bit_for_bit(setting, store, tmp_path):
    rng = np.random.default_rng(5)
    X = rng.exponential(size=(30, 6)) * 2.0**200
    weights = rng.choice([0.0, 1e-3, 1.0, 5.0], size=6)
    weights[0] = 1.0
    rows = rng.choice([0.0, 1e-100, 1.0], size=30)
    rows[0] = 1.0
    result = fit(store(X), setting, feature_weight=weights, sample_weight=rows)

    np.testing.assert_array_equal(to_array(result.transform(store(X))), to_array(result.loadings))
    orthonmf.save(result, tmp_path / "result.npz")
    again = orthonmf.load(tmp_path / "result.npz")
    np.testing.assert_array_equal(again.feature_weight, weights)
    np.testing.assert_array_equal(to_array(again.transform(store(X))), to_array(result.loadings))

    model = orthonmf.OrthogonalNMF(2, orthogonal=setting, random_state=0)
    loadings = model.fit_transform(store(X), feature_weight=weights)
    np.testing.assert_array_equal(to_array(model.transform(store(X))), to_array(loadings))
    assert model.score(store(X)) == pytest.approx(1 - model.relative_squared_error_, rel=1e-12)
    orthonmf.save(model, tmp_path / "model.npz")
    kept = orthonmf.load(tmp_path / "model.npz")
    np.testing.assert_array_equal(to_array(kept.transform(store(X))), to_array(loadings))


@pytest.mark.parametrize("setting", ["samples", "features"])
def test_missing_values_and_feature_weights_share_the_metric(setting):
    rng = np.random.default_rng(3)
    X = rng.exponential(size=(12, 6))
    X[rng.random(X.shape) < 0.15] = np.nan
    weights = np.array([1.0, 0.0, 1e-4, 2.0, 1.0, 1.0])
    result = fit(X, setting, feature_weight=weights, missing_values=np.nan)
    dropped = fit(
        X[:, weights > 0], setting, feature_weight=weights[weights > 0], missing_values=np.nan
    )
    assert not result.components[:, 1].any()
    assert result.relative_squared_error == pytest.approx(dropped.relative_squared_error, rel=0.05)
    loadings = to_array(result.loadings)
    difference = np.square(np.nan_to_num(X - loadings @ result.components)) @ weights
    total = (np.square(np.nan_to_num(X)) @ weights).sum()
    assert result.relative_squared_error == pytest.approx(difference.sum() / total, rel=1e-9)
    again = to_array(result.transform(X, missing_values=np.nan))
    np.testing.assert_array_equal(again, loadings)


@pytest.mark.parametrize("setting", SETTINGS)
def test_the_example_whose_components_overlapped_is_disjoint_and_can_be_loaded(setting, tmp_path):
    X = np.array([[4, 1, 1, 3], [4, 1, 1, 4], [0, 0, 2, 4], [0, 0, 0, 1], [0, 4, 2, 0]])
    result = fit(X, setting)
    if setting != "samples":
        assert (np.count_nonzero(result.components, axis=0) <= 1).all()
    orthonmf.save(result, tmp_path / "model.npz")
    np.testing.assert_array_equal(
        orthonmf.load(tmp_path / "model.npz").components, result.components
    )


@pytest.mark.parametrize("weights", [[1, 2.0**-390], [1, 1e-110], [2.0**200, 2.0**-190]])
def test_a_row_that_observes_only_light_columns_is_fitted_by_them(weights):
    X = np.array([[1.0, 1.0], [np.nan, 1.0], [2.0, 2.0]])
    result = orthonmf.factorize(X, 1, feature_weight=weights, missing_values=np.nan, random_state=0)
    np.testing.assert_allclose(result.scales[1], 1 / result.components[0, 1], rtol=1e-12)


def test_missing_values_elsewhere_do_not_hide_a_small_row():
    X = np.array([[1e70, 1e70, np.nan], [1e-70, 1e-70, 1e-70]])
    result = orthonmf.factorize(X, 1, missing_values=np.nan, random_state=0)
    np.testing.assert_array_equal(result.labels, [0, 0])
    fitted, observed = np.outer(result.scales, result.components[0]), ~np.isnan(X)
    np.testing.assert_allclose(fitted[observed], X[observed], rtol=1e-9)


def test_no_number_on_the_way_is_invalid_when_light_columns_are_drawn_in_rounds():
    X = np.array([[3.0, 3.0], [1.0, 0.0]], dtype=np.float32)
    result = orthonmf.factorize(
        Slices(X), 1, orthogonal="features", feature_weight=[2.0**-360, 1e10], random_state=0
    )
    assert result.relative_squared_error < 1e-12
