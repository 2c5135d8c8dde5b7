"""Rows of the relaxation: of a matrix that is a partition they are that partition."""

import numpy as np
import pytest
from scipy.sparse import csr_array

from orthonmf.bounds import primal
from orthonmf.bounds.primal import relaxed_rows
from orthonmf.engine.points import Samples
from orthonmf.inputs.data import as_matrix


def parts(n=24, m=9, k=3):
    """Rows of k kinds that share no column, one of them zero, and the kind of every row."""
    rng = np.random.default_rng(0)
    kinds = rng.integers(k, size=n)
    X = rng.uniform(0.5, 1.5, (n, m)) * (np.arange(m) % k == kinds[:, None])
    X[4] = 0.0
    return X, kinds


def rows_of(X, k=3, seconds=10.0, **weights):
    return relaxed_rows(Samples(as_matrix(X, **weights)), k, seconds)


def of_partition(X, kinds):
    """Z of the best fit of every kind: the sum of u u^T, u the leading left singular vectors."""
    Z = np.zeros((len(X), len(X)))
    for kind in np.unique(kinds):
        left = np.linalg.svd(X * (kinds == kind)[:, None])[0][:, 0]
        Z += np.outer(left, left)
    return Z


@pytest.mark.parametrize("store", [np.asarray, csr_array])
def test_disjoint_parts_give_their_own_matrix(store):
    X, kinds = parts()
    W = rows_of(store(X))
    assert W.dtype == np.float64
    assert not W[4].any()
    np.testing.assert_allclose(W @ W.T, of_partition(X, kinds), atol=0.02)


def test_rows_of_weight_zero_take_no_part():
    X, _ = parts()
    weights = np.ones(len(X))
    weights[:3] = 0.0
    W = rows_of(X, sample_weight=weights)
    assert not W[:3].any()
    assert W[5:].any(axis=1).all()


def test_where_all_pairs_are_too_many_points_have_the_rows_of_their_groups(monkeypatch):
    monkeypatch.setattr(primal, "N_GROUPS", 12)
    X, kinds = parts(200)
    # So many seconds are enough for matrices of side 100.
    W = rows_of(X, seconds=primal.ITERATIONS * primal.PER_ENTRY * 100**2)
    assert W.shape[0] == 200
    assert np.linalg.matrix_rank(W, tol=1e-6) <= 12
    rest = np.delete(np.arange(200), 4)
    unit = W[rest] / np.linalg.norm(W[rest], axis=1, keepdims=True)
    np.testing.assert_allclose(unit @ unit.T, kinds[rest][:, None] == kinds[rest], atol=0.05)


@pytest.mark.parametrize(("k", "seconds"), [(1, 10.0), (23, 10.0), (3, 1e-9)])
def test_where_there_is_nothing_to_solve_or_no_time_there_is_none(k, seconds):
    assert rows_of(parts()[0], k, seconds) is None
