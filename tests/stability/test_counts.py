"""Refits under the Kullback-Leibler divergence: columns times their weight, not its root."""

import numpy as np
import pytest
from scipy.sparse import csr_array

import orthonmf
from benchmarks.planted_groups import counts, in_place
from orthonmf.errors import SourceChangedError
from tests.stability.test_refits import counts_of

LOSS = {"beta_loss": "kullback-leibler"}
SETTINGS = [("samples", 4), ("features", 3), ("both", (4, 3))]


def clear_counts():
    """Four groups of rows that use three groups of columns, each in its own way."""
    core = 4 * np.array([[9.0, 1, 1], [1, 9, 1], [1, 1, 9], [5, 5, 1]])
    rng = np.random.default_rng(0)
    rows, columns = rng.integers(4, size=60), rng.integers(3, size=30)
    return rng.poisson(core[rows][:, columns]).astype(float)


@pytest.mark.parametrize(("orthogonal", "k"), SETTINGS)
def test_every_setting_has_refits_with_the_same_bits_for_any_number_of_threads(orthogonal, k):
    X = csr_array(clear_counts())
    result = orthonmf.factorize(X, k, orthogonal=orthogonal, random_state=0, **LOSS)
    one, two = (result.refit(X, 3, random_state=1, n_jobs=n_jobs) for n_jobs in (1, 2))
    for first, second in zip(counts_of(one), counts_of(two), strict=True):
        np.testing.assert_array_equal(first, second)
    assert 0 < one.agreement <= 1


def test_weights_of_the_fit_are_multiplied():
    X = clear_counts()
    columns = np.random.default_rng(5).choice([0.1, 1.0, 10.0], 30)
    result = orthonmf.factorize(X, 4, feature_weight=columns, random_state=0, **LOSS)
    plain = orthonmf.factorize(X * columns, 4, random_state=0, **LOSS)
    wanted = plain.refit(X * columns, 6, random_state=1).certainty
    assert np.mean(result.refit(X, 6, random_state=1).certainty == wanted) > 0.97


def test_other_data_and_forgotten_weights_are_refused():
    X = clear_counts()
    result = orthonmf.factorize(X, 4, sample_weight=np.arange(60.0), random_state=0, **LOSS)
    with pytest.raises(SourceChangedError, match="sample_weight"):
        result.refit(X)
    with pytest.raises(SourceChangedError, match="share of the information lost"):
        result.refit(X[:, ::-1], sample_weight=np.arange(60.0))


@pytest.mark.slow
def test_kept_rows_are_right_and_noise_is_not_kept():
    certainty, right = [], []
    for seed in (301, 302):
        X, planted, k = counts(seed, n=200, m=80, k=4, length=15, spread=1.0)
        result = orthonmf.factorize(X, k, random_state=seed, **LOSS)
        certainty.append(result.refit(X, 10, random_state=seed).certainty)
        right.append(in_place(planted, result.labels, k))
    sure, in_group = np.concatenate(certainty), np.concatenate(right)
    assert in_group[sure >= 0.9].mean() > 0.95
    assert in_group[sure < 0.6].mean() < 0.8
    noise = np.random.default_rng(0).poisson(0.2, (200, 150)) + 0.0
    result = orthonmf.factorize(noise, 4, random_state=0, **LOSS)
    stability = result.refit(noise, 10, random_state=0)
    assert np.mean(stability.kept() >= 0) < 0.1
    assert stability.agreement < 0.2
