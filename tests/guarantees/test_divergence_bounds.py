"""Bounds on the Kullback-Leibler divergence are never above the optimum, and say something."""

import numpy as np
import pytest
from scipy.sparse import csr_array

from orthonmf.bounds.divergence import captured_from_above, divergence_from_below
from orthonmf.bounds.reweighting import Contingency
from orthonmf.bounds.table import Case, find_bounds
from orthonmf.cost import information_between, weights_may_change
from orthonmf.engine.counts import Counts
from tests.oracles.divergence import least_divergence, least_divergence_with_core

pytestmark = pytest.mark.usefixtures("one_blas_thread")


def counts_of(X):
    rows = csr_array(np.asarray(X, dtype=np.float64))
    rows.eliminate_zeros()
    return Counts(rows)


def bounds_of(counts, rows, columns, sizes, method, cost=np.inf, **more):
    """Those of every side that has labels."""
    setting = "features" if rows is None else "samples" if columns is None else "both"
    asked = {"samples": sizes[0], "features": sizes[1], "both": sizes}[setting]
    more |= {"counts": counts, "labels": (rows, columns)}
    case = Case(None, setting, asked, cost, **more)
    return find_bounds(case, method)


def draw_table(rng, n, m):
    """A table of one of many kinds: sparse, heavy-tailed, with zeros, copies, wide scales."""
    kind = rng.integers(8)
    X = rng.poisson(rng.gamma(0.7, 2.0, (n, m))).astype(float)
    if kind == 1:
        X = rng.exponential(size=(n, m))
    elif kind == 2:
        X[rng.integers(n)] = X[0] * rng.integers(1, 9)
        X[:, rng.integers(m)] = X[:, 0]
    elif kind == 3:
        X = X * 10.0 ** rng.uniform(-6, 6, n)[:, None]
    elif kind == 4:
        X = X * 10.0 ** rng.uniform(-6, 6, m)
    elif kind == 5:
        X = np.outer(rng.integers(1, 9, n), rng.integers(1, 9, m)).astype(float)
        X[rng.integers(n), rng.integers(m)] += rng.integers(2)
    elif kind == 6:
        profiles = rng.integers(0, 20, (2, m)).astype(float)
        X = profiles[rng.integers(2, size=n)] * rng.integers(1, 9, n)[:, None]
    elif kind == 7:
        X = (rng.random((n, m)) < 0.3).astype(float)
    X[0, 0] += 1.0
    return X * 2.0 ** rng.choice([0, 0, -200, 200])


def check_bounds(rng):
    """All bounds of one table against brute force, for labels that are as good as random."""
    n, m = rng.integers(2, 8), rng.integers(2, 7)
    X = draw_table(rng, n, m)
    w, v = rng.integers(0, 4, n) / 3.0, rng.random(m) + 0.1
    weighted = bool(rng.integers(2)) and (X * w[:, None]).sum() > 0
    exact = np.asarray(X, dtype=np.longdouble)
    if weighted:
        exact, X = exact * w[:, None] * v, X * w[:, None] * v
    counts, total = counts_of(X), float(X.sum())
    unsure = weights_may_change(counts) if weighted else 0.0
    k, n_columns = int(rng.integers(1, 4)), int(rng.integers(1, 4))
    labels, feature_labels = rng.integers(-1, 3, n), rng.integers(-1, 3, m)
    least = {
        "samples": least_divergence(exact, k),
        "features": least_divergence(exact.T, n_columns),
    }
    if n * m <= 25:
        least["both"] = least_divergence_with_core(exact, k, n_columns)
    told = {}
    for setting, optimum in least.items():
        rows = None if setting == "features" else labels
        columns = None if setting == "samples" else feature_labels
        for method in ("svd", "tight"):
            bounds = bounds_of(counts, rows, columns, (k, n_columns), method, unsure=unsure)
            for bound in bounds:
                # What is left for the oracle's own rounding is far below that of float64.
                assert bound.value <= optimum + 1e-17 * total, (setting, method, k, n_columns, X)
            told[setting, method] = max(bound.value for bound in bounds), float(optimum)
    return told


@pytest.mark.parametrize("seed", range(12))
def test_no_bound_is_above_the_least_divergence(seed):
    check_bounds(np.random.default_rng(seed))


@pytest.mark.slow
def test_no_bound_is_above_the_least_divergence_of_many_tables():
    shares = []
    for seed in range(1000, 1025):
        told = check_bounds(np.random.default_rng(seed))
        shares += [value / least for value, least in told.values() if least > 1e-9]
    print("bound / least:", np.quantile(shares, [0.0, 0.1, 0.25, 0.5, 0.9, 1.0]))
    assert np.median(shares) > 0.9


@pytest.mark.parametrize("seed", range(20))
def test_any_matrix_proves_a_bound(seed):
    rng = np.random.default_rng(seed)
    X = draw_table(rng, 6, 5)
    table = Contingency(counts_of(X[X.any(axis=1)]))
    Y = table.matrix(np.zeros(len(table.rows)))
    Y.data[:] = rng.exponential(size=len(Y.data)) + 1e-3
    for k in (1, 2, 3):
        value = divergence_from_below(table, Y.data, captured_from_above(Y, table.roots, k))
        assert value <= least_divergence(X, k) + 1e-17 * X.sum()


def test_one_group_loses_all_information():
    X = draw_table(np.random.default_rng(1), 7, 6)
    counts = counts_of(X)
    bound = bounds_of(counts, np.zeros(7, int), None, (1, 1), "svd")[0]
    low, high = information_between(counts)
    assert low <= least_divergence(X, 1) <= high
    assert high - low < 1e-10 * X.sum()
    assert bound.value == pytest.approx(float(least_divergence(X, 1)), rel=1e-10)


def test_nothing_is_proven_where_nothing_is_lost():
    independent = np.outer([1.0, 2.0, 3.0, 5.0], [1.0, 7.0, 4.0])
    for X, k in ((independent, 2), (independent, 1), (np.diag([1.0, 2.0, 3.0]), 3)):
        labels = np.zeros(len(X), int)
        for method in ("svd", "tight"):
            assert bounds_of(counts_of(X), labels, None, (k, k), method)[0].value == 0.0


def test_the_tight_bound_is_at_least_the_other_and_near_the_divergence_of_planted_groups():
    rng = np.random.default_rng(0)
    labels = rng.integers(3, size=60)
    X = rng.poisson(40 * rng.dirichlet(np.full(30, 0.3), 3)[labels]).astype(float)
    counts = counts_of(X)
    cost = counts.cost(counts.pooled(labels, 3))
    svd, tight = (
        bounds_of(counts, labels, None, (3, 3), method, cost=cost)[0].value
        for method in ("svd", "tight")
    )
    assert svd <= tight <= cost
    assert cost < 1.02 * tight
