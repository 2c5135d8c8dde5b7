"""What a partition costs in divergence, by pooled sums and by entries."""

import numpy as np
import pytest
from scipy.sparse import csr_array
from scipy.special import kl_div

from orthonmf.engine.counts import read_counts
from orthonmf.engine.profiles import express_by_profiles, measure_divergence, sweep_profiles
from orthonmf.inputs.data import as_matrix


def table(seed, shape=(9, 7)):
    rng = np.random.default_rng(seed)
    X = rng.poisson(rng.exponential(2.0, shape)).astype(float)
    X[1] = 0
    X[:, 2] = 0
    return X, rng.random(shape[0]) + 0.1, rng.random(shape[1]) + 0.1


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("make", [np.asarray, csr_array])
def test_pooled_sums_tell_the_divergence_of_the_best_factors(seed, make):
    X, w, v = table(seed)
    matrix = as_matrix(make(X), sample_weight=w, feature_weight=v)
    counts = read_counts(matrix)
    labels = np.arange(len(X)) % 3
    pooled = counts.pooled(labels, 3)
    weighted = w[:, None] * X * v
    fitted = np.zeros_like(X)
    for part in range(3):
        rows = labels == part
        S = weighted[rows].sum(axis=0)
        fitted[rows] = np.outer(weighted[rows].sum(axis=1), S / S.sum())
    assert matrix.amount(counts.cost(pooled)) == pytest.approx(kl_div(weighted, fitted).sum())
    outer = np.outer(weighted.sum(axis=1), weighted.sum(axis=0)) / weighted.sum()
    assert matrix.amount(counts.information) == pytest.approx(kl_div(weighted, outer).sum())


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("orthogonal", ["samples", "features"])
def test_the_divergence_by_entries_is_that_of_the_stored_factors(seed, orthogonal):
    X, w, v = table(seed)
    matrix = as_matrix(X * 1e-200, sample_weight=w, feature_weight=v)
    components = np.random.default_rng(seed).random((2, X.shape[1]))
    if orthogonal == "features":
        labels = np.arange(X.shape[1]) % 2
        components = np.where(labels == np.arange(2)[:, None], components, 0.0)
    found = express_by_profiles(matrix, components, orthogonal)
    fitted = np.asarray(found.loadings @ components)
    lost = measure_divergence(matrix, found, components, orthogonal)
    expected = (w[:, None] * kl_div(X, fitted * 1e200) * v).sum()
    assert matrix.amount(lost.divergence) == pytest.approx(1e-200 * expected)


def test_rows_go_to_the_nearest_profile_and_their_scale_is_the_best_one():
    X, _, v = table(5)
    matrix = as_matrix(X, feature_weight=v)
    U = np.random.default_rng(0).random((3, X.shape[1]))
    found = express_by_profiles(matrix, U, "samples")
    assert found.labels[1] == -1
    for i in np.flatnonzero(X.any(axis=1)):
        best = [(v * kl_div(X[i], (v @ X[i]) / (v @ u) * u)).sum() for u in U]
        assert found.labels[i] == np.argmin(best)
        assert found.scales[i] == pytest.approx((v @ X[i]) / (v @ U[found.labels[i]]))


def test_a_row_without_a_word_that_any_profile_holds_has_no_label():
    matrix = as_matrix(np.array([[0.0, 2.0, 0.0], [1.0, 0.0, 3.0]]))
    swept = sweep_profiles(matrix, np.array([[0.5, 0.0, 0.5]]))
    assert swept.labels.tolist() == [-1, 0]
    assert swept.pooled.tolist() == [[1.0, 0.0, 3.0]]
