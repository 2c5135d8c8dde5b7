"""A result is what its parts say: factors, core and new rows, against the plainest formula."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.sparse import csr_array, issparse

from orthonmf.datasets import make_planted
from orthonmf.engine.losses import group_lengths
from orthonmf.factorization import Factorization
from tests.arrays import to_array
from tests.published_fits import fit, quiet_fit

SETTINGS = ["samples", "features"]
# Three groups of rows, two of columns; one row and one column in none.
LABELS, SCALES = np.array([1, 0, -1, 1, 2]), np.array([3.0, 2.0, 0.0, 4.0, 1.0])
FEATURE_LABELS, FEATURE_SCALES = np.array([0, 1, 0, -1]), np.array([0.6, 1.0, 0.8, 0.0])
MADE_OF = np.array([[0.0, 1.0], [0.6, 0.8], [1.0, 0.0]])  # of which groups every component is
GROUPS = np.array([[0.6, 0.0, 0.8, 0.0], [0.0, 1.0, 0.0, 0.0]])


def with_core(scale=1.0):
    """A result over both with a full core, whose groups and components have unit length."""
    loadings = np.zeros((5, 3))
    loadings[LABELS >= 0, LABELS[LABELS >= 0]] = scale * SCALES[LABELS >= 0]
    return Factorization(
        "both",
        (3, 2),
        MADE_OF @ GROUPS,
        csr_array(loadings),
        LABELS,
        scale * SCALES,
        FEATURE_LABELS,
        FEATURE_SCALES,
        error=0.0,
        relative_squared_error=0.0,
    )


@pytest.mark.parametrize("scale", [1.0, 2.0**900, 2.0**-900])
def test_groups_of_rows_times_the_core_times_groups_of_columns_is_the_approximation(scale):
    result = with_core(scale)
    rows = np.zeros((5, 3))
    for group in range(3):
        members = group == LABELS
        rows[members, group] = SCALES[members] / np.linalg.norm(SCALES[members])
    np.testing.assert_allclose(rows @ (result.core / scale) @ GROUPS * scale, result.reconstruct())
    np.testing.assert_allclose(result.core / scale, np.array([[2.0], [5.0], [1.0]]) * MADE_OF)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_lengths_of_groups_do_not_overflow_and_empty_groups_have_none(dtype):
    for power in (0, 100, -100) if dtype == np.float32 else (0, 1000, -1000):
        scales = np.ldexp(np.array([3.0, 7.0, 4.0, 2.0]), power).astype(dtype)
        result = group_lengths(np.array([0, -1, 0, 2]), scales, 4)
        np.testing.assert_allclose(np.ldexp(result, -power), [5.0, 0.0, 2.0, 0.0], rtol=1e-15)
    assert group_lengths(np.zeros(0, int), np.zeros(0), 0).shape == (0,)
    assert group_lengths(np.array([0, 1]), np.array([0.0, 3.0]), 2).tolist() == [0.0, 3.0]


def test_the_factors_of_the_paper_are_sparse_where_they_are_orthogonal():
    result = with_core()
    assert not issparse(result.A)
    assert issparse(result.W)
    blocks = replace(result, n_components=3, components=np.eye(4)[:3])
    assert issparse(blocks.A)
    for factorized in (result, blocks):
        built = (factorized.A @ factorized.W.toarray()).T
        np.testing.assert_allclose(built, factorized.reconstruct())
        assert factorized.n_components_found == 3


def test_a_result_without_components_approximates_by_zeros():
    X = np.zeros((3, 4))
    for orthogonal in ("samples", "features", "both"):
        result = quiet_fit(X, 2, orthogonal=orthogonal)
        assert result.n_components_found == 0
        np.testing.assert_array_equal(result.reconstruct(), X)
        assert result.transform(np.ones((2, 4))).shape == (2, 0)
        assert result.A.shape == (4, 0)


@pytest.mark.parametrize("orthogonal", [*SETTINGS, "both"])
def test_new_rows_get_the_loadings_that_leave_the_smallest_error(orthogonal):
    X = make_planted(40, 8, 3, 0.4, random_state=1).X
    weights = np.array([1.0, 0.0, 2.0, 1.0, 0.5, 3.0, 1.0, 1.0])
    result = quiet_fit(X, 3, orthogonal=orthogonal, feature_weight=weights)
    new = np.random.default_rng(2).random((6, 8))
    new[4] = 0.0
    all_loadings = np.asarray(result.transform(new) @ np.eye(result.n_components_found))
    for x, loadings in zip(new, all_loadings, strict=True):
        fits = []
        for component in result.components:
            scale = (weights * x) @ component / ((weights * component) @ component)
            fits.append((scale, weights @ (x - scale * component) ** 2))
        if orthogonal == "features":
            np.testing.assert_allclose(loadings, [scale for scale, _ in fits], rtol=1e-12)
            continue
        error = weights @ (x - loadings @ result.components) ** 2
        assert np.count_nonzero(loadings) == (1 if x.any() else 0)
        assert error == pytest.approx(min(error for _, error in fits), rel=1e-12)


def test_the_attributes_have_the_documented_shapes():
    X = make_planted(40, 15, 3, 0.3, random_state=2).X
    over_samples = fit(X)
    assert over_samples.components.shape == (3, 15)
    assert issparse(over_samples.loadings)
    assert over_samples.loadings.shape == (40, 3)
    assert over_samples.W.shape == (3, 40)
    assert over_samples.A.shape == (15, 3)
    assert over_samples.labels.shape == over_samples.scales.shape == (40,)
    assert over_samples.feature_labels is None
    assert over_samples.feature_scales is None
    over_features = fit(X, orthogonal="features")
    assert isinstance(over_features.loadings, np.ndarray)
    assert over_features.loadings.shape == (40, 3)
    assert issparse(over_features.A)
    assert over_features.labels is None
    assert over_features.scales is None
    assert over_features.feature_labels.shape == over_features.feature_scales.shape == (15,)
    for result in (over_samples, over_features):
        assert result.n_sweeps >= len(result.history) > 0
        assert result.steps_run == ("weighted k-means", "final assignment")
        assert result.seconds > 0
        assert "relative_squared_error" in repr(result)
        energies = np.linalg.norm(to_array(result.loadings), axis=0)
        assert np.all(np.diff(energies) <= 0)


@pytest.mark.parametrize(("orthogonal", "k"), [("samples", 4), ("features", 4), ("both", (4, 5))])
@pytest.mark.parametrize("store", [np.asarray, csr_array])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_transforming_the_same_data_gives_the_same_bits(orthogonal, k, store, dtype):
    X = store(make_planted(300, 30, 4, 0.5, random_state=3).X.astype(dtype))
    result = fit(X, k, orthogonal=orthogonal, algorithm="best" if orthogonal == "both" else "paper")
    np.testing.assert_array_equal(to_array(result.transform(X)), to_array(result.loadings))


@pytest.mark.parametrize("orthogonal", ["samples", "features", "both"])
def test_expressing_a_row_does_not_depend_on_the_other_rows(orthogonal):
    X = np.random.default_rng(0).random((30, 4))
    X[0] *= 1e60
    X[1] *= 1e-60
    result = quiet_fit(X, 2, orthogonal=orthogonal, algorithm="best")
    together, alone = to_array(result.transform(X)), to_array(result.transform(X[1:2]))
    np.testing.assert_allclose(together[1], alone[0], rtol=1e-12)
    assert together[1].any()
    with pytest.raises(ValueError, match="3 features, but the components have 4"):
        result.transform(np.ones((2, 3)))


def test_feature_weights_do_not_change_the_bits_of_transform():
    rng = np.random.default_rng(0)
    X = rng.random((40, 8)).astype(np.float32)
    X[:10, 3:] = 0.0
    weights = np.ones(8)
    weights[:3] = 1e-38
    for orthogonal in ("samples", "both"):
        result = quiet_fit(X, 3, orthogonal=orthogonal, algorithm="best", feature_weight=weights)
        np.testing.assert_array_equal(result.transform(X).toarray(), result.loadings.toarray())
