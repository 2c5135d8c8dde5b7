"""A coreset holds few rows, and its weighted sums are right on average."""

import numpy as np
import pytest
from scipy.sparse import csr_array

from orthonmf.datasets import make_planted
from orthonmf.engine.samples import Samples
from orthonmf.engine.vectors import draw_evenly
from orthonmf.inputs.data import as_matrix
from orthonmf.onmf.coreset import (
    Coreset,
    find_chances,
    find_sensitivities,
)


def planted(n=200, m=12, k=3):
    return make_planted(n, m, k, 0.3, random_state=0).X


def dense(rows):
    return rows if isinstance(rows, np.ndarray) else rows.toarray()


def everything(X, seed=0, weights=None):
    batch = as_matrix(X, sample_weight=weights, n_jobs=1)
    weights = np.ones(X.shape[0]) if weights is None else weights
    return Coreset.begin(batch, np.random.default_rng(seed)).merge(batch, weights)


@pytest.mark.parametrize(
    ("sensitivity", "size", "chances"),
    [
        ([1, 1, 1, 1], 2, [0.5, 0.5, 0.5, 0.5]),
        ([1, 2, 1], 2, [0.5, 1.0, 0.5]),
        ([1, 10, 1], 2, [0.5, 1.0, 0.5]),
        ([8, 4, 1, 1], 3, [1.0, 1.0, 0.5, 0.5]),
        ([100, 4, 2, 2], 2, [1.0, 0.5, 0.25, 0.25]),
        ([3, 0, 0, 1], 3, [1.0, 0.0, 0.0, 1.0]),
    ],
)
def test_chances_are_proportional_below_one(sensitivity, size, chances):
    found = find_chances(np.array(sensitivity, dtype=float), size)
    np.testing.assert_allclose(found, chances, rtol=1e-12)


def test_draws_hit_every_row_as_often_as_its_chance_says():
    rng = np.random.default_rng(0)
    chances = find_chances(rng.exponential(size=30) ** 2, 12)
    assert (chances == 1).any()
    hits = np.zeros(30)
    for _ in range(4000):
        drawn = np.unique(draw_evenly(chances, 12, rng))
        assert len(drawn) == 12
        assert np.all(np.diff(drawn) > 0)
        hits[drawn] += 1
    np.testing.assert_allclose(hits / 4000, chances, atol=0.04)  # five standard deviations
    assert np.all(hits[chances == 1] == 4000)


def test_sensitivity_is_the_share_of_the_error_and_of_the_cluster():
    # Two exact lines: nothing is missed, so only shares of the clusters are left.
    X = np.array([[3.0, 0], [1, 0], [0, 2], [0, 0]])
    points = Samples(as_matrix(X, n_jobs=1))
    found = find_sensitivities(points, 2, np.random.default_rng(0))
    np.testing.assert_allclose(found, [0.9, 0.1, 1.0, 0.0], rtol=1e-12)
    # One direction of (2, 1) and (1, 2): by symmetry half of everything each, missed and held.
    X = np.array([[2.0, 1], [1, 2]])
    points = Samples(as_matrix(np.tile(X, (50, 1)), n_jobs=1))
    found = find_sensitivities(points, 1, np.random.default_rng(0))
    np.testing.assert_allclose(found, 0.02, rtol=0.05)


@pytest.mark.slow
@pytest.mark.parametrize("form", [np.asarray, csr_array])
def test_energy_and_weighted_sums_are_right_on_average(form):
    X = planted()
    X[7] *= 20  # a row that no coreset may lose
    weights = np.random.default_rng(1).exponential(size=200)
    weights[3] = 0
    X[5] = 0
    products = np.zeros((12, 12))
    for seed in range(400):
        kept = everything(form(X), seed, weights).reduce(40, 3, n_jobs=1)
        rows = dense(kept.rows)
        assert len(rows) == len(kept.weights) <= 40
        assert (kept.n_seen, kept.n_reductions) == (200, 1)
        at = np.flatnonzero((rows == X[7]).all(axis=1))
        assert kept.weights[at] == pytest.approx(weights[7], rel=1e-12)
        products += (kept.weights[:, None] * rows).T @ rows / 400
    wanted = (weights[:, None] * X).T @ X
    np.testing.assert_allclose(products, wanted, rtol=0.03)
    assert np.trace(products) == pytest.approx(np.trace(wanted), rel=0.01)


def test_many_small_reductions_keep_the_energy():
    X = planted(2000)
    kept = everything(X[:100])
    for start in range(100, 2000, 20):
        batch = as_matrix(X[start : start + 20], n_jobs=1)
        kept = kept.merge(batch, np.ones(20)).reduce(200, 3, n_jobs=1)
        assert len(kept.weights) <= 200
    assert kept.n_seen == 2000
    assert kept.n_reductions == 90
    energy = kept.weights @ np.square(kept.rows).sum(axis=1)
    assert energy == pytest.approx(np.square(X).sum(), rel=0.1)


def test_rows_are_kept_in_order_without_zero_ones_and_as_copies():
    X = planted(50)
    X[[4, 9]] = 0
    kept = everything(X)
    np.testing.assert_array_equal(kept.rows, np.delete(X, [4, 9], axis=0))
    X[0] = 77
    assert kept.rows.max() < 77
    assert kept.reduce(48, 3) is kept
    assert np.array_equal(kept.reduce(20, 3).weights, kept.reduce(20, 3).weights)


def test_nothing_but_zero_rows_is_one_zero_row_until_others_come():
    zero = as_matrix(np.zeros((3, 2)), n_jobs=1)
    kept = everything(np.zeros((3, 2))).merge(zero, np.ones(3))
    np.testing.assert_array_equal(kept.rows, np.zeros((1, 2)))
    assert kept.n_seen == 6
    kept = kept.merge(as_matrix(np.eye(2), n_jobs=1), np.ones(2)).merge(zero, np.ones(3))
    np.testing.assert_array_equal(kept.rows, np.eye(2))
    assert kept.n_seen == 11


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_batches_take_the_container_of_the_first(dtype):
    X = planted(30).astype(dtype)
    for first, other in ((np.asarray, csr_array), (csr_array, np.asarray)):
        kept = everything(first(X)).merge(as_matrix(other(X)), np.ones(30))
        assert isinstance(kept.rows, csr_array) == (first is csr_array)
        assert kept.rows.dtype == dtype
        np.testing.assert_array_equal(dense(kept.rows), np.concatenate([X, X]))
